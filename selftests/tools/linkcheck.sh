#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/linkcheck tells links that work, links that are broken, and servers that it cannot
# ask. Silent on success.

TMP=$(mktemp -d)
trap 'kill $SERVER 2>/dev/null; rm -rf "$TMP"' EXIT
mkdir "$TMP/www" && : >"$TMP/log"
echo '<h2 id="here">Here</h2>' >"$TMP/www/page.html"
python3 -u -m http.server --bind 127.0.0.1 -d "$TMP/www" 0 >"$TMP/log" 2>&1 &
SERVER=$!
for ((i = 0; i < 100; i++)); do
	PORT=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$TMP/log")
	[ -z "$PORT" ] || break
	sleep 0.1
done
HERE=http://127.0.0.1:$PORT
FAILED=0

# expect STATUS TEXT LINK...
expect()
{
	local status=$1 text=$2 got; shift 2

	printf '%s Documentation/some.rst\n' "$@" >"$TMP/list"
	no_proxy='*' selftests/linkcheck "$TMP/list" >"$TMP/out" 2>&1
	got=$?
	[ $got = "$status" ] && grep -q -e "$text" "$TMP/out" && return
	echo "# $*: exit status $got instead of $status, or no \"$text\":"
	sed 's/^/#   /' "$TMP/out"
	FAILED=1
}

expect 0 "2 links: 2 fine, 0 broken" "$HERE/page.html" "$HERE/page.html#here"
expect 1 "some.rst: $HERE/none.html: 404 .*(broken)" "$HERE/page.html" "$HERE/none.html"
expect 1 "no anchor there" "$HERE/page.html#there"
expect 1 "unknown url type" "//page.html"
# no program listens on the port of "discard"
expect 3 "cannot ask 127.0.0.1:9: .*(not checked)" "$HERE/page.html" "http://127.0.0.1:9/"
expect 1 "1 fine, 1 broken, 1 not checked" "$HERE/page.html" "http://127.0.0.1:9/" "$HERE/none"

selftests/linkcheck "$TMP/none" >"$TMP/out" 2>&1
[ $? = 2 ] && grep -q "none: " "$TMP/out" || { echo "# no list: $(cat "$TMP/out")"; FAILED=1; }
exit $FAILED
