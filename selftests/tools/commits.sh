#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whether each commit that upstream lacks has a body, and a subject of the form "area: verb object"
# with at most 72 characters. Later nobody can change them. Says what is wrong.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

wrong_commits() # DIRECTORY RANGE
{
	local commit subject

	for commit in $(git -C "$1" rev-list --no-merges "$2"); do
		subject=$(git -C "$1" log -1 --format=%s "$commit")
		[ ${#subject} -le 72 ] ||
			echo "# ${commit::8}: the subject has ${#subject} characters, more than 72"
		[[ $subject == *": "* ]] || echo "# ${commit::8}: the subject names no area"
		[ "$(git -C "$1" log -1 --format=%b "$commit")" ] || echo "# ${commit::8}: there is no body"
	done
}

commit() # MESSAGE
{
	git -C "$TMP" -c user.name=x -c user.email=x@x commit -q --allow-empty -m "$1"
}

git init -q "$TMP" && commit "begin" && commit "area: do something

Because." && commit "$(printf 'x%.0s' {1..73})" || exit
FOUND=$(wrong_commits "$TMP" HEAD~2.. | wc -l)
[ "$FOUND" = 3 ] || { echo "# $FOUND findings about a subject and a body instead of 3"; exit 1; }

# a tarball has no history, and not every clone an upstream
git rev-parse -q --verify '@{upstream}' >"$TMP/upstream" 2>&1 || exit 0
wrong_commits . '@{upstream}..' | tee "$TMP/wrong"
[ ! -s "$TMP/wrong" ]
