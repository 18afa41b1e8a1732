# SPDX-License-Identifier: GPL-2.0
# What the completions of lab(8) and sim(8) share. "make install" puts it before each.

_testbed_words()
{
	local IFS=$' \t\n'
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

# Names of our scenarios, beside the command, and files
_testbed_scenarios()
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
