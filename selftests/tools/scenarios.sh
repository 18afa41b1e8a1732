#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mistakes in the simulator's scenarios, in sweeps and expectations: one line names the file, the
# key and the rule, before anything is built. bad_input.sh has other mistakes.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
FAILED=0

# A scenario with lines to insert at its start and at its end
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
		[[expect]]
		flow_errors = "== 0"
	END
}

refuses() # TEXT LINES [LINES]
{
	local text=$1 out

	scenario "${@:2}" >"$TMP/wrong.toml"
	out=$(timeout 60 tools/sim/sim run "$TMP/wrong.toml" --only n=3 --out "$TMP/out" 2>&1)
	[ $? = 2 ] && [ "$out" = "sim: $text" ] && [ ! -e "$TMP/out" ] && return
	echo "# want: sim: $text"
	printf '%s\n' "$out" | sed 's/^/# got:  /'
	FAILED=1
}

refuses "wrong.toml: has no run n=3; it has n=1, n=2" ""
refuses "wrong.toml: has no run n=3; it has n=2" 'skip = "rtt < 2e6"'
refuses "wrong.toml: skip: leaves no run" 'skip = "rtt > 0"'
refuses "wrong.toml: skip: 'rt': rt is not defined" 'skip = "rt"'
refuses "wrong.toml: like: wrong cannot be like itself" 'like = "wrong"'
refuses "$TMP/none.toml: No such file or directory" 'like = "none"'
refuses "wrong.toml: let: a: depends on itself" "" $'a = "b + 1"\nb = "a"'
refuses "wrong.toml: let: 'rtt + c': c is not defined" "" 'a = "rtt + c"'
refuses "wrong.toml: let: 'open(1)' may not be in an expression" "" 'a = "open(1)"'
refuses "wrong.toml: let: '1 +' is not an expression" "" 'a = "1 +"'
refuses "wrong.toml: let: '1 / 0': division by zero" "" 'a = "1 / 0"'
refuses "wrong.toml: host 1: loss: must be at least 0 and below 1" \
	"" $'[[host]]\nname = "h9"\nloss = 1'
refuses "wrong.toml: host 1: reorder: must be at least 0 and below 1" \
	"" $'[[host]]\nname = "h9"\nreorder = -0.1'
refuses "wrong.toml: host 1: reorder: needs a delay: packets overtake those that are delayed" \
	"" $'[[host]]\nname = "h9"\nreorder = 0.1\ndelay = "0us"'
refuses "wrong.toml: host 1: jitter: cannot be combined with loss or reorder" \
	"" $'[[host]]\nname = "h9"\nloss = 0.1\njitter = "1us"'
refuses "wrong.toml: host 2: name: host h9 is defined twice" \
	"" $'[[host]]\nname = "h1,h9"\n[[host]]\nname = "h9"\nrate = "1mbit"'
refuses "wrong.toml: host 1: profile: must be off or stock, as on all hosts: they share a module" \
	"" $'[[host]]\nname = "h9"\nprofile = "mlx5"'
refuses "wrong.toml: tick: 2000000000 is out of range, which is 0 to 1000000000" 'tick = "2s"'
refuses "wrong.toml: line: 'tld' is not one of told, measured" 'line = "tld"'
refuses "wrong.toml: change 1: at: is not within the duration" \
	"" $'[[change]]\nat = "10ms"\nhost = "h9"\nrate = "1mbit"'
refuses "wrong.toml: change 1: host: no flow has h7" \
	"" $'[[change]]\nat = "1ms"\nhost = "h7"\nrate = "1mbit"'
refuses "wrong.toml: change 1: host: needs either host or cable" \
	"" $'[[change]]\nat = "1ms"\nrate = "1mbit"'
refuses "wrong.toml: change 1: cable: there is no port s1.to_s2" \
	"" $'[[change]]\nat = "1ms"\ncable = "s1.to_s2"\nrate = "0bit"'
refuses "wrong.toml: change 1: rate: 0 is out of range, which is 1000 to 1000000000000" \
	"" $'[[change]]\nat = "1ms"\nhost = "h9"\nrate = "0bit"'
refuses "wrong.toml: reach 1: a: needs either goodput or queue" \
	"" $'[[reach]]\nname = "a"\nfrom = "1ms"\nover = "1ms"'
refuses "wrong.toml: reach 1: group: no flow has b" \
	"" $'[[reach]]\nname = "a"\nfrom = "1ms"\nover = "1ms"\ngroup = "b"\nqueue = "1KB"'
refuses "wrong.toml: expect 1: jain: '=> 1' must be one of <= >= < > ==, a space and a number or figure" \
	"" $'[[expect]]\njain = "=> 1"'
refuses "wrong.toml: expect 1: jain: 'open(1)' may not be in an expression" \
	"" $'[[expect]]\njain = ">= open(1)"'
refuses "wrong.toml: expect 1: if: 'm > 1': m is not defined" \
	"" $'[[expect]]\nif = "m > 1"\njain = ">= 1"'
refuses "wrong.toml: expect 1: than: matches no other run of the sweep" \
	"" $'[[expect]]\nthan = { n = 7 }\njain = ">= than.jain"'
refuses "wrong.toml: note 1: text: is missing" "" $'[[note]]\nif = "1"'
refuses "wrong.toml: note 1: unknown: txt" "" $'[[note]]\nif = "1"\ntext = "a"\ntxt = "a"'
refuses "wrong.toml: note 1: if: 'm': m is not defined" "" $'[[note]]\nif = "m"\ntext = "a"'
refuses "wrong.toml: picture: x: is missing" "" $'[picture]\ny = ["n"]'
refuses "wrong.toml: picture: y: the sweep has no variable m" "" \
	$'[picture]\nx = ["n"]\ny = ["m"]\n[[picture.panel]]\ntitle = "a"\nvalue = "1"\nbest = 1\nworst = 0'
refuses "wrong.toml: picture: panel 1: best: must not be the same as worst" "" \
	$'[picture]\nx = ["n"]\ny = ["n"]\n[[picture.panel]]\ntitle = "a"\nvalue = "1"\nbest = 1\nworst = 1'
refuses "wrong.toml: picture: panel: 'jain + jan': jan is not defined" "" \
	$'[picture]\nx = ["n"]\ny = ["n"]\n[[picture.panel]]\ntitle = "a"\nvalue = "jain + jan"\nbest = 1\nworst = 0'
refuses "wrong.toml: picture: x: the sweep has no variable ['n']" "" \
	$'[picture]\nx = [["n"]]\ny = ["n"]\n[[picture.panel]]\ntitle = "a"\nvalue = "1"\nbest = 1\nworst = 0'
refuses "wrong.toml: picture: panel: drops: is both a figure and a name of the sweep or of let; rename the latter" \
	"" $'drops = "1"\n[picture]\nx = ["n"]\ny = ["n"]\n[[picture.panel]]\ntitle = "a"\nvalue = "drops"\nbest = 1\nworst = 0'
refuses "wrong.toml: picture: panel: is missing" "" $'[picture]\nx = ["n"]\ny = ["n"]\npanel = []'
refuses "wrong.toml: expect 1: if: holds for no run of the sweep" \
	"" $'[[expect]]\nif = "n > 2"\njain = ">= 1"'
refuses "wrong.toml: expect 1: 1: '== 1': has no figure, so it checks nothing" \
	"" $'[[expect]]\n1 = "== 1"'
refuses "wrong.toml: order: 'm': m is not defined" 'order = "m"'
refuses "wrong.toml: order: could not convert string to float: 'a'" "order = \"'a'\""
refuses "wrong.toml: same 1: as: matches no run of the sweep" "" \
	$'[[same]]\nas = { n = 7 }\nif = "1"'
refuses "wrong.toml: same 1: if: is missing" "" $'[[same]]\nas = { n = 1 }'
refuses "wrong.toml: graph: line 1: value: '1 +' is not an expression" "" \
	$'[graph]\ntitle = "a"\nx = "n"\n[[graph.line]]\ntitle = "b"\nvalue = "1 +"'
refuses "wrong.toml: graph: line: is missing" "" $'[graph]\ntitle = "a"\nx = "n"'
refuses "wrong.toml: graph: line: is missing" "" $'[graph]\ntitle = "a"\nx = "n"\nline = []'

# The same with ports of dcbport: lines for [switch], and for the end
port_refuses() # TEXT LINES [LINES]
{
	refuses "$1" "" "[switch]
port = \"dcbport\"
$2
${3-}"
}

# Lines for [switch] go into a table of their own, after the one that scenario() makes
scenario() # - LINES
{
	cat <<-END
		duration = "10ms"
		profile = "stock"
		link = { rate = "1gbit" }
		[sweep]
		n = [1, 2]
		[[flow]]
		from = "h1..h{n}"
		to = "h9"
		[[expect]]
		flow_errors = "== 0"
	END
	printf '%s\n' "$2" | sed '/^port = /a buffer = "1MB"\nkmin = "20KB"\nkmax = "200KB"\npmax = 0.1'
}

port_refuses "wrong.toml: switch: pfc: '8' is not a list of priorities, such as 3, or 3,4, or none" \
	'pfc = "8"'
port_refuses "wrong.toml: switch: pfc: 'all' is not a list of priorities, such as 3, or 3,4, or none" \
	'pfc = "all"'
port_refuses "wrong.toml: switch: pfc: 6 is the priority of CNPs, which must not wait" \
	$'pfc = "3,6"\nheadroom = "1KB"'
port_refuses "wrong.toml: switch: headroom: must be above 0 with PFC, for packets in flight" \
	'pfc = "3"'
port_refuses "wrong.toml: switch: watchdog: 'bark' is not one of drop, forward, alert, off" \
	'watchdog = "bark"'
port_refuses "wrong.toml: switch: detect: 0 is out of range, which is 1000000 to 60000000000" \
	'detect = "0ms"'
port_refuses "wrong.toml: switch: the headroom of 2 ports of s1 is 1200000 bytes, and its buffer 1000000" \
	$'pfc = "3"\nheadroom = "600KB"'
port_refuses "wrong.toml: switch: class: 8: is not a priority, 0 to 7" '[switch.class.8]'
port_refuses "wrong.toml: switch: class: 3: weight: 0 is out of range, which is 1 to 100" \
	$'[switch.class.3]\nweight = 0'
port_refuses "wrong.toml: switch: class: 3: kmax: must not be below kmin" \
	$'[switch.class.3]\nkmax = "10KB"'
port_refuses "wrong.toml: switch: kmax: must not be above buffer" \
	$'[switch.class.3]\nkmax = "1001KB"'
port_refuses "wrong.toml: switch: class: 3: unknown: color" $'[switch.class.3]\ncolor = 1'
port_refuses "wrong.toml: topology: shape: 'star' is not one of row, ring" "" \
	$'[topology]\nshape = "star"\nswitches = 3'
port_refuses "wrong.toml: topology: switches: 2 is out of range, which is 3 to 100" "" \
	$'[topology]\nshape = "ring"\nswitches = 2'
port_refuses "wrong.toml: topology: unknown: size" "" \
	$'[topology]\nshape = "row"\nswitches = 2\nsize = 3'
port_refuses "wrong.toml: trunk: cannot be combined with a topology, which has its own" "" \
	$'[topology]\nshape = "row"\nswitches = 2\n[[trunk]]\na = "s1"\nb = "s2"'
port_refuses "wrong.toml: storm 1: host: no flow has h7" "" \
	$'[[storm]]\nhost = "h7"\nto = "1ms"'
port_refuses "wrong.toml: storm 1: to: must be after from, and within the duration" "" \
	$'[[storm]]\nhost = "h9"\nto = "11ms"'
port_refuses "wrong.toml: storm 1: prio: 8 is out of range, which is 0 to 7" "" \
	$'[[storm]]\nhost = "h9"\nprio = 8\nto = "1ms"'

port_refuses "wrong.toml: link: jitter, loss, reorder and ack_delay need port = tc" "" \
	$'[[host]]\nname = "h9"\njitter = "1us"'

SWITCH=$'port = "tc"'
refuses "wrong.toml: link: overhead needs port = dcbport" "" \
	$'[switch]\n'"$SWITCH"$'\n[[host]]\nname = "h9"\noverhead = "24B"'
refuses "wrong.toml: storm: needs port = dcbport" "" \
	$'[switch]\n'"$SWITCH"$'\n[[storm]]\nhost = "h9"\nto = "1ms"'
refuses "wrong.toml: topology: a ring needs port = dcbport" "" \
	$'[switch]\n'"$SWITCH"$'\n[topology]\nshape = "ring"\nswitches = 3'
refuses "wrong.toml: switch: port: must be dcbport for class, detect" "" \
	$'[switch]\n'"$SWITCH"$'\ndetect = "1ms"\n[switch.class.3]'
refuses "wrong.toml: switch: must be one for all, or one each for s1, s2" "" \
	$'[switch.s1]\n'"$SWITCH"$'\n[topology]\nshape = "row"\nswitches = 2'
TWO=$'[switch.s1]\n'"$SWITCH"$'\n[switch.s2]\n'"$SWITCH"
refuses "wrong.toml: trunk: no path leads from s1 of h1 to s2 of h9" "" \
	"$TWO"$'\n[[host]]\nname = "h9"\nswitch = "s2"'
TRUNK=$'[[trunk]]\na = "s1"\nb = "s2"'
refuses "wrong.toml: trunk: s1 and s2 are connected twice; a ring is a topology" "" \
	"$TWO"$'\n'"$TRUNK"$'\n'"$TRUNK"
exit $FAILED
