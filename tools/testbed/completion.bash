# SPDX-License-Identifier: GPL-2.0
# What the completions of lab(8) and sim(8) share. "make install" puts it before each.

# Those that begin like the current word. compgen -W would execute $(...) in them.
_testbed_words() # WORDS
{
	local words word

	COMPREPLY=()
	read -rd '' -a words <<<"$1"
	for word in "${words[@]}"; do
		[[ $word != "${COMP_WORDS[COMP_CWORD]}"* ]] || COMPREPLY+=("$word")
	done
}

# Names of our scenarios, beside the command, and files
_testbed_scenarios()
{
	local dir f names=""

	dir=$(dirname "$(readlink -f "$(type -P "${COMP_WORDS[0]}")")")
	for f in "$dir"/scenarios/*.toml; do
		f=${f##*/}
		names+=" $(printf %q "${f%.toml}")"
	done
	_testbed_words "$names"
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(
		compgen -f -X '!*.toml' -- "${COMP_WORDS[COMP_CWORD]}")
}
