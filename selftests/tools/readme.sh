#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whether README.md tells newcomers the two commands that show and test everything, what they
# need and how long they take, and whether CI runs the second. Says what is missing.

cd "$(dirname "$0")/../.." || exit 1
STATUS=0

missing() { echo "# $*"; STATUS=1; }

# section NAME: its lines
section() { sed -n "/^## $1\$/,/^## /p" README.md; }

shows() # SECTION TARGET
{
	local text

	text=$(section "$1")
	grep -qx "    make $2" <<<"$text" || missing "README.md: \"$1\" does not show \"make $2\""
	grep -q "^$2:\|^$2 .*:" Makefile || missing "Makefile: has no target $2"
	for what in disk minutes memory; do
		grep -q "\<$what\>" <<<"$text" || missing "README.md: \"$1\" does not mention $what"
	done
}

shows "See it" lab
shows "Test it" check
grep -qE '^exec make( --[a-z-]+)* check$' .ci/run || missing ".ci/run: does not run \"make check\""
exit $STATUS
