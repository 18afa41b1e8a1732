#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Invalid input is refused with status 2 and one line that names the file or the option, the
# key and the rule; nothing is built or started. Prints each deviation.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
# A kernel or an image would be built here
export XDG_CACHE_HOME=$TMP/cache TMPDIR=$TMP/tmp
mkdir "$TMP/cache" "$TMP/tmp"
STATUS=0 TRIED=0

refuses() # TEXT COMMAND...
{
	local text=$1 status; shift

	TRIED=$((TRIED + 1))
	"$@" >"$TMP/out" 2>&1
	status=$?
	[ $status = 2 ] && [ "$(wc -l <"$TMP/out")" = 1 ] && grep -qF -e "$text" "$TMP/out" &&
		{ [[ $* != *wrong.toml* ]] || grep -q "wrong.toml: " "$TMP/out"; } &&
		[ -z "$(find "$TMP/cache" "$TMP/tmp" -mindepth 1)" ] && return
	echo "# $*: status $status:"
	sed 's/^/#   /' "$TMP/out"
	echo "#   instead of: $text"
	find "$TMP/cache" "$TMP/tmp" -mindepth 1 | sed 's/^/#   left: /'
	STATUS=1
}

# One of our scenarios with a change: refuses_file TOOL SCENARIO SED_EXPRESSION TEXT
refuses_file()
{
	sed "$3" "tools/$1/scenarios/$2.toml" >"$TMP/wrong.toml"
	! cmp -s "$TMP/wrong.toml" "tools/$1/scenarios/$2.toml" ||
		{ echo "# $2 has nothing like $3"; STATUS=1; }
	refuses "$4" "tools/$1/$1" run "$TMP/wrong.toml"
}

refuses "deps: --colour: not a package" tools/lab/deps jq --colour

LAB=tools/lab/lab SIM=tools/sim/sim
for tool in $LAB $SIM; do
	name=$(basename $tool)
	refuses "$name: nope: no such scenario; there are " $tool run nope
	refuses "$name: /etc/passwd: not a TOML file" $tool run /etc/passwd
	refuses "$name: ./nope: No such file or directory" $tool run ./nope
	refuses "$name: /etc/: Is a directory" $tool run /etc/
	refuses "$name: unrecognized arguments: --colour" $tool run --colour
	refuses "incast.toml: has no run nope; it has " $tool run incast --only nope
	refuses "argument --out: /dev/null: must be a directory" $tool run --out /dev/null
	refuses_file "$name" incast 's/^duration/colour = "red"\n&/' 'unknown: colour'
	refuses_file "$name" incast '/^duration/d' 'duration: is missing'
	refuses_file "$name" incast 's/^duration.*/duration = "1 week"/' \
		"duration: '1 week' is not a time, such as 55us or 4ms"
	refuses_file "$name" incast 's/^window.*/window = ["1s"]/' 'window: must be [from, to]'
	refuses_file "$name" incast 's/^window.*/window = ["9s", "1000s"]/' 'window: window is not'
	refuses_file "$name" incast 's/^rate.*/rate = "40mph"/' "link: rate: '40mph' is not a rate"
	refuses_file "$name" incast 's/^jain = "/jian = "/' 'jian: no such figure; there are '
	refuses_file "$name" incast 's/^jain = ".*/jain = "> max(0.5, group.none.jain)"/' \
		'group.none.jain: no such figure'
	refuses_file "$name" incast 's/^kmin.*/kmin = -1/' "switch: kmin: -1 is not a size"
	refuses_file "$name" incast 's/^pmax.*/pmax = nan/' 'switch: pmax: nan is not a share'
	refuses_file "$name" incast 's/^to = .*/&\nmtu = 1000/' 'flow 1: mtu: 1000 is not one of 256, 512'
	refuses_file "$name" incast 's/^to = .*/&\nqps = 0/;/^qps = 3/d' 'flow 1: qps: 0 is out of'
	refuses_file "$name" incast 's/^to = .*/&\nqps = true/;/^qps = 3/d' \
		'flow 1: qps: True is not a whole number'
	refuses_file "$name" incast 's/^to = .*/&\nverb = "read"\ntransport = "uc"/' \
		'flow 1: verb: uc does not support read'
	refuses_file "$name" incast 's/^to = .*/to = "h1"/' 'flow 1: to: a flow from h1 to itself'
	refuses_file "$name" incast 's/^from = .*/from = "all"/' "flow 1: from: 'all' is not a list of hosts"
	refuses_file "$name" incast '0,/^when = .*/s//when = { colour = "red" }/' \
		': when: matches no run of the sweep'
	refuses_file "$name" incast 's/^jain = .*/jain = "about 1"/' 'expect '
	refuses_file "$name" incast '0,/^hosts = .*\|^n = .*/s//n = []/' 'sweep: n: must be a list'
	refuses_file "$name" incast 's/^profile = "{profile}"/profile = "{colour}"/' \
		"profile: '{colour}': the sweep has no such variable"
	refuses_file "$name" incast 's/^profile = "{profile}"/profile = "fast"/' \
		"profile: 'fast' is not one of stock, auto, mlx5"
	refuses_file "$name" incast 's/^profile = "{profile}"/&\nsettings = { "..\/x" = 1 }/;/^settings = { "roce/d' \
		'settings: ../x=1: must be a knob and a number'
done
refuses_file sim incast 's/^to = .*/to = "h1..h3"\npattern = "pairs"/' 'flow 1: to: must have as many hosts'
refuses_file sim incast 's/^from = .*/from = "h1,h2"/;s/^to = .*/to = "h2,h3"\npattern = "ring"/' \
	'flow 1: to: must have the hosts of from, each once, in a ring'
refuses_file sim incast 's/^from = .*/from = "h1,h2"/;s/^to = .*/to = "h2,h1"\npattern = "ring"\nqps = 2/;/^qps = 3/d' \
	'flow 1: qps: must be 1 in a ring'
refuses "sim: wrong.toml: tcp 1: to: TCP from h1 to itself does not pass the network" bash -c \
	"{ cat tools/sim/scenarios/incast.toml; printf '[[tcp]]\nfrom = \"h1\"\nto = \"h1\"\n'; } >$TMP/wrong.toml
	$SIM run $TMP/wrong.toml"
refuses "sim: wrong.toml: expect: is missing" bash -c \
	"sed '/^\[\[expect/,\$d' tools/sim/scenarios/incast.toml >$TMP/wrong.toml; $SIM run $TMP/wrong.toml"
refuses "lab: wrong.toml: expect: is missing" bash -c \
	"sed '/^\[\[expect/,\$d' tools/lab/scenarios/incast.toml >$TMP/wrong.toml; $LAB run --check $TMP/wrong.toml"
refuses_file sim incast 's/^buffer.*/&\nport = "tc"\nxoff = "60KB"/' 'switch: port: must be dcbport for xoff'
refuses_file sim lossless 's/^pmax.*/&\nport = "red"/' "switch: port: 'red' is not one of dcbport, tc"
refuses_file sim lossless 's/^xon = .*/xon = "1MB"/' 'switch: xon: must not be above xoff'
refuses_file sim lossless 's/^alpha.*//;s/^pmax.*/&\nalpha = -1/' 'switch: alpha: -1'
refuses_file sim lossless 's/^delay = .*/&\nloss = 0.1/' 'link: jitter, loss, reorder and ack_delay need'
refuses_file lab incast 's/name = "dcqcn"/name = "qps"/' \
	'sweep: qps is a key of result.json, so no run can have this name'
refuses_file lab twohops 's/^b = "s2"/b = "s9"/' 'trunk 1: b: there is no switch s9'
refuses_file lab twohops 's/^\[\[trunk\]\]/&\na = "s1"\nb = "s2"\n&/' \
	'trunk: s1 and s2 are connected twice'
refuses_file lab incast 's/^kmin.*/kmin = "120KB"/' 'switch: kmin: 120000 is not below kmax'
refuses_file lab pfc 's/^port = .*/port = "tc"/' 'switch: port: must be dcbport for pfc'
refuses_file lab pfc 's/^port = .*/port = "red"/' "switch: port: 'red' is not one of dcbport, tc"
refuses_file lab pfc 's/^xon = .*/xon = "1MB"/' 'switch: xon: must not be above xoff'
refuses_file lab pfc 's/^headroom = .*/headroom = 0/' 'switch: headroom: must be above 0 with pfc'
refuses_file lab pfc 's/^pfc = .*/pfc = "6"/' 'switch: pfc: 6 is the priority of CNPs'
refuses_file lab pfc 's/^pfc = .*/pfc = "high"/' "switch: pfc: 'high' is not a list of priorities"
refuses_file lab pfc 's/^port = .*/&\ncnp = "data"/' 'switch: cnp: must be strict with pfc'
refuses_file lab pfc 's/^tclass = .*/tclass = 256/' 'flow 1: tclass: 256 is out of range'
refuses_file lab dcbx 's/^dcbx = .*/dcbx = true/' "dcbx: 'True' is not one of off, on"
refuses_file lab dcbx 's/^port = .*/port = "tc"/;s/^pfc = .*//' \
	'dcbx: needs switches with port = dcbport'
refuses "lab: incast: two scenarios have this name, and would write to $TMP/both/incast: run each" \
	$LAB run incast tools/lab/scenarios/incast.toml --out "$TMP/both"
refuses "incast: switch: pfc: '9' is not a list of priorities" $LAB up --pfc 9
refuses "incast: switch: port: must be dcbport for pfc" $LAB up --pfc 3 --port tc
refuses "incast: dcbx: needs switches with port = dcbport" $LAB up --dcbx --port tc --pfc none
refuses "lab up: argument --hosts: 0: must be a whole number, 1 to" $LAB up --hosts 0
refuses "incast: switch: kmin: 500000 is not below kmax" $LAB up --kmin 500KB
refuses "incast: link: rate: 'fast' is not a rate" $LAB up --rate fast
refuses "lab up: argument --tdf: 51: must be a whole number, 1 to 50" $LAB up --tdf 51
refuses "lab: nope: no such kernel; there are" $LAB image --kernel nope
refuses "lab: ../../x: no such kernel; there are" $LAB build --kernel ../../x
refuses "lab: --set: rpg_ai_rate=: must be a knob and a number" $LAB run --set rpg_ai_rate
refuses "lab: the running lab keeps its module: use lab up --module x.ko" $LAB run --live --module x.ko
refuses "lab: the running lab keeps its kernel: use lab up --kernel 6.1" $LAB run --live --kernel 6.1
refuses "lab: the running lab keeps its knobs: use lab set rpg_gd=12" $LAB run --live --set rpg_gd=12
refuses "/nope.ko is not built; --stock-only" $LAB run --module /nope.ko
refuses "lab: there is no recording nope in " $LAB draw nope -o "$TMP/x.png"
refuses "sim: wrong.toml: sweep: the model is compared with one run" bash -c \
	"printf 'sweep.n = [1, 2]\n[model]\nflows = 2\n' >$TMP/wrong.toml; $SIM model $TMP/wrong.toml"
refuses "sim: incast: two scenarios have this name, and would write to $TMP/both/incast: run each" \
	$SIM run incast tools/sim/scenarios/incast.toml --out "$TMP/both"
cp tools/sim/scenarios/incast.toml "$TMP/built.toml"
refuses "sim: built.toml: a scenario cannot have this name, as sim keeps modules and programs in" \
	$SIM run "$TMP/built.toml"
refuses "sim: --only: no scenario has a run n=99" $SIM run incast lossless --only n=2 --only n=99
refuses "sim run: argument --jobs: 0: must be a whole number, 1 or more" $SIM run --jobs 0
refuses "bench: argument --only: invalid choice: 'all'" tools/bench/bench --only all
refuses "bench: --flows: applies to the part cost, which --only leaves out: add --only cost" \
	tools/bench/bench --only pacing --flows 100
refuses "run: nope: no such suite; there are bookworm, trixie" selftests/package/run nope
refuses "torture: argument --seconds: 0: must be a whole number, 1 or more" \
	selftests/uml/torture --seconds 0
refuses "sonic: the following arguments are required: MODELS" selftests/model/sonic
echo "# $TRIED refusals"
exit $STATUS
