#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mistakes in the simulator's scenarios: one line names the file, the key and the rule,
# before anything is built.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
FAILED=0

# A scenario with these lines above and these at its end
scenario() # LINES LINES
{
	cat <<-END
		duration = "10ms"
		profile = "stock"
		$1
		[link]
		rate = "1gbit"
		delay = "{wait}ns"
		[switch]
		buffer = "1MB"
		kmin = "{kmin}"
		kmax = "200KB"
		pmax = 0.1
		[sweep]
		n = [1, 2]
		[let]
		bdp = "1e9 * rtt / 8e9"
		kmin = "max(20e3, bdp / 6)"
		rtt = "1e6 * n"
		wait = "rtt / 2"
		$2
		[[flow]]
		from = "h1..h{n}"
		to = "h9"
	END
}

refuses() # TEXT LINES [LINES]
{
	local text=$1 out

	scenario "${@:2}" >"$TMP/wrong.toml"
	out=$(timeout 60 tools/sim/sim run "$TMP/wrong.toml" --only n=3 --out "$TMP/out" 2>&1)
	[ $? = 1 ] && [ "$out" = "sim: $text" ] && [ ! -e "$TMP/out" ] && return
	echo "# want: sim: $text"
	printf '%s\n' "$out" | sed 's/^/# got:  /'
	FAILED=1
}

refuses "wrong has no such run; it has n=1 n=2" ""
refuses "wrong has no such run; it has n=2" 'skip = "rtt < 2e6"'
refuses "wrong.toml: let: a: is made of itself" "" $'a = "b + 1"\nb = "a"'
refuses "wrong.toml: 'rtt + c': there is no c" "" 'a = "rtt + c"'
refuses "wrong.toml: 'open(1)' may not be in an expression" "" 'a = "open(1)"'
refuses "wrong.toml: '1 +' is not an expression" "" 'a = "1 +"'
refuses "wrong.toml: host h9: loss: must be at least 0 and below 1" \
	"" $'[[host]]\nname = "h9"\nloss = 1'
refuses "wrong.toml: host h9: reorder: needs a delay, which packets overtake" \
	"" $'[[host]]\nname = "h9"\nreorder = 0.1\ndelay = "0us"'
refuses "wrong.toml: host h9: jitter: cannot be had with loss or reorder" \
	"" $'[[host]]\nname = "h9"\nloss = 0.1\njitter = "1us"'
refuses "wrong.toml: run: line: 'tld' is no told or measured" 'line = "tld"'
refuses "wrong.toml: change: at: is not within the duration" \
	"" $'[[change]]\nat = "10ms"\nhost = "h9"\nrate = "1mbit"'
refuses "wrong.toml: change: host: no flow has h7" \
	"" $'[[change]]\nat = "1ms"\nhost = "h7"\nrate = "1mbit"'
refuses "wrong.toml: reach a: wants either goodput or queue" \
	"" $'[[reach]]\nname = "a"\nfrom = "1ms"\nover = "1ms"'
refuses "wrong.toml: reach a: group: no flow has b" \
	"" $'[[reach]]\nname = "a"\nfrom = "1ms"\nover = "1ms"\ngroup = "b"\nqueue = "1KB"'
refuses "wrong.toml: expect: jain: '=> 1' is not one of <= >= < > == and a limit" \
	"" $'[[expect]]\njain = "=> 1"'
refuses "wrong.toml: note: text is missing" "" $'[[note]]\nif = "1"'
refuses "wrong.toml: note: unknown: txt" "" $'[[note]]\nif = "1"\ntext = "a"\ntxt = "a"'
refuses "wrong.toml: picture: x is missing" "" $'[picture]\ny = ["n"]'
exit $FAILED
