# SPDX-License-Identifier: GPL-2.0
# bash completion of sim(8)

_sim_words()
{
	local IFS=$' \t\n'
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

# Names of our scenarios, beside the command, and files
_sim_scenarios()
{
	local dir f names=""

	dir=$(dirname "$(readlink -f "$(type -P "${COMP_WORDS[0]}")")")
	for f in "$dir"/scenarios/*.toml; do
		f=${f##*/}
		names+=" ${f%.toml}"
	done
	mapfile -t COMPREPLY < <(compgen -W "$names" -- "${COMP_WORDS[COMP_CWORD]}"
		compgen -f -X '!*.toml' -- "${COMP_WORDS[COMP_CWORD]}")
}

_sim()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		_sim_words "run model list kernel --version --help"
		return
	fi
	case $prev in
	--out)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	--only|--jobs)
		return ;;
	esac
	case ${COMP_WORDS[1]}:$cur in
	run:-*)	_sim_words "--only --out --jobs --twice --builtin --json --help" ;;
	run:*)	_sim_scenarios ;;
	model:-*)	_sim_words "--remove --json --out --help" ;;
	model:*)	mapfile -t COMPREPLY < <(compgen -f -X '!*.toml' -- "$cur") ;;
	list:*)	_sim_words "--json --help" ;;
	kernel:*)	_sim_words "--kdir --debug --help" ;;
	esac
}

complete -F _sim sim
