# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Prints TAP. A script that sources this numbers its results with result(), and ends with finish.

N=0
FAILED=0
echo "TAP version 13"

result() # STATUS NAME [FILE]; the end of FILE says why it failed
{
	N=$((N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $N - $2"
	else
		[ ! "${3-}" ] || sed 's/^/# /' "$3" | tail -n 40
		echo "not ok $N - $2"
		FAILED=1
	fi
}

finish()
{
	echo "1..$N"
	exit $FAILED
}
