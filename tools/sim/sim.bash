# SPDX-License-Identifier: GPL-2.0
# bash completion of sim(8), after testbed/completion.bash

_sim()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		_testbed_words "run model list build kernel --version --help"
		return
	fi
	case $prev in
	--out)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	--only|--jobs|--seed|--seconds)
		return ;;
	esac
	case ${COMP_WORDS[1]}:$cur in
	run:-*)	_testbed_words "--only --out --jobs --twice --resume --seconds --seed --builtin --load --part --json --help" ;;
	run:*)	_testbed_scenarios ;;
	model:-*)	_testbed_words "--remove --load --json --out --help" ;;
	model:*)	mapfile -t COMPREPLY < <(compgen -f -X '!*.toml' -- "$cur") ;;
	build:*)	_testbed_words "--out --builtin --help" ;;
	list:*)	_testbed_words "--json --help" ;;
	kernel:*)	_testbed_words "--kdir --debug --update --help" ;;
	esac
}

complete -F _sim sim
