#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The command dcqcn model: inputs from words and files, all kinds of answers, and mistakes.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
FAILED=0
DCQCN=tools/dcqcn/dcqcn

fail()
{
	echo "# $*"
	FAILED=1
}

# says TEXT WORDS...: the answer has this
says()
{
	local text=$1; shift

	$DCQCN model "$@" >"$TMP/out" 2>&1 || fail "dcqcn model $*: $(cat "$TMP/out")"
	grep -qF -- "$text" "$TMP/out" || fail "dcqcn model $* does not say \"$text\""
}

# refuses TEXT WORDS...: it ends with this line alone
refuses()
{
	local text=$1; shift

	$DCQCN model "$@" >"$TMP/out" 2>&1 && fail "dcqcn model $* is taken"
	[ "$(cat "$TMP/out")" = "dcqcn: $text" ] ||
		fail "dcqcn model $*: want \"dcqcn: $text\", got \"$(cat "$TMP/out")\""
}

# number KEY WORDS...: of the JSON
number()
{
	local key=$1; shift

	$DCQCN -j model "$@" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print("%.10g" % {**answer["input"], **answer["output"]}[sys.argv[1]])' "$key"
}

says "16 flows of profile auto over 100gbit"
says "32 flows of profile auto over 400gbit behind 32 uplinks" --preset 400g-ai
says "16 flows of algorithm aimd over 100gbit" algorithm aimd
says "kmin 20000B kmax 200000B pmax 5%" --config dcbport kmin 20KB kmax 200KB pmax 5%
says '"green_min_threshold": "20000"' --config sonic kmin 20KB
says '"static_th": "300000"' --config sonic xoff 300KB xon 250KB alpha 0
says '"xon_offset": "50000"' --config sonic xoff 300KB xon 250KB
says '"dynamic_th": "-3"' --config sonic alpha 0.125
# What it defines it also binds to a port, and each name that it uses is defined
for pfc in yes no; do
	$DCQCN model --config sonic pfc $pfc | python3 -c '
import json, sys
db = json.load(sys.stdin)
maps = {"dscp_to_tc_map": "DSCP_TO_TC_MAP", "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP", "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE"}
port = db["PORT_QOS_MAP"]["Ethernet0"]
assert all(port[k] in db[t] for k, t in maps.items() if k in port), port
assert db["QUEUE"]["Ethernet0|3"]["wred_profile"] in db["WRED_PROFILE"]
if port.get("pfc_enable"):
    profile = db["BUFFER_PROFILE"][db["BUFFER_PG"]["Ethernet0|3"]["profile"]]
    assert profile["pool"] in db["BUFFER_POOL"] and int(profile["xon"]) < int(profile["size"])
' || fail "--config sonic, pfc $pfc: something is not defined or not bound"
done
says "dcqcn profile apply mlx5" --config host profile mlx5
says "Kmax is too close to PFC" speed 40gbit profile sigcomm15 flows 8 kmin 5KB kmax 400KB pmax 1% \
	tiers 2 uplinks 1 spine_speed 100gbit xoff 200KB xon 150KB buffer 4MB ports 2
says "utilisation" --sweep kmax=50KB,100KB,200KB
[ "$(wc -l <"$TMP/out")" = 4 ] || fail "a sweep of three has $(wc -l <"$TMP/out") lines"

cat >"$TMP/fabric.toml" <<-END
	title = "not ours"
	[model]			# a comment
	preset = "400g-ai"
	flows = 8		# and one more
	kmin = "64KiB"
	profile = 'mlx5'
	[link]
	rate = "no concern of the model"
END
for pair in flows_=8 kmin_bytes=65536 speed_bps=4e+11; do
	key=${pair%=*}
	[ "$(number "${key%_}" "$TMP/fabric.toml")" = "$(printf '%.10g' "${pair#*=}")" ] ||
		fail "${key%_} of the file is $(number "${key%_}" "$TMP/fabric.toml")"
done
[ "$(number cable_m cable 25ns)" = 5 ] || fail "25 ns are not 5 m"
[ "$(number spine_cable_m spine_cable 1.5us)" = 300 ] || fail "1.5 us are not 300 m"
says "0 to 20KB" kmin 20KB
[ "$(number flows "$TMP/fabric.toml" flows 9)" = 9 ] || fail "the command line does not count last"

for picture in a.svg "it's b.png"; do
	says verdicts -o "$TMP/$picture"
	[ -s "$TMP/$picture" ] || fail "$picture is not drawn"
done
grep -q "Kmax" "$TMP/a.svg" || fail "the picture has no Kmax"
says kmax -o "$TMP/sweep.svg" --sweep kmax=50KB,100KB
grep -q "kmax_bytes" "$TMP/sweep.svg" || fail "the sweep's picture does not name its input"

refuses "kmux: no such input (dcqcn model help lists them)" kmux 5KB
refuses 'speed: "fast" is not a value, such as 400gbit' speed fast
refuses 'speed: "-5gbit" is not a value, such as 400gbit' speed -5gbit
refuses "model: -o: options must come before inputs" flows 8 -o "$TMP/c.svg"
refuses 'kmin: "5us" is not a value, such as 200KB, or auto' kmin 5us
refuses 'profile: "dctcp" is not one of auto, mlx5, sigcomm15' profile dctcp
refuses 'preset: "lan" is not one of 100g-leaf, 400g-ai, 800g-superpod, lab-48m' --preset lan
refuses "flows: must be a whole number, 1 to 1024" flows 2.5
refuses "flows: must be within 1 to 1024" flows 1025
refuses "kmin: 300KB is more than kmax, 200KB: the curve rises from kmin to kmax" kmin 300KB kmax 200KB
usage=$($DCQCN model help | sed -n 's/^  dcqcn/dcqcn/p')
refuses "model: the value of kmin is missing (usage: $usage)" kmin
refuses '--config: "cisco" is not one of dcbport, tc, host, sonic, other' --config cisco
refuses "--config dcbport: speed: 1.6tbit is above dcbport's maximum, 1tbit: choose \
a lower speed, or another target" --config dcbport speed 1.6tbit
refuses "--config dcbport: xoff: 5000000000B is above dcbport's maximum, 4294967295B: \
choose less, or another target" --config dcbport buffer 10GB xoff 5GB
refuses "kmin: 50MB is more than buffer, 16MB: no queue gets that long" kmin 50MB
refuses "flows_min: 9 is more than flows_max, 8: marking must begin before it increases" flows_min 9 flows_max 8
says "flows_min 9" --config dcbport flows_min 9
refuses "--config dcbport: headroom: dcbport needs headroom for PFC: choose more, pfc no, or another \
target" --config dcbport headroom 0
says " rate 100000mbit" --config dcbport headroom 0 pfc no
refuses "--config dcbport: reserve: 300KB is more than xoff, 100KB, which dcbport refuses: choose \
less, a higher xoff, or another target" --config dcbport reserve 300KB xoff 100KB
refuses "--config dcbport: alpha: 0.001 is below dcbport's minimum, 0.00781: choose \
more, or another target" --config dcbport alpha 0.001
says " alpha 0.00781" --config dcbport alpha 0.00781
says " alpha 0" --config dcbport alpha 0
refuses "--config tc: kmin: 1000B is below the minimum of tc's red, 1001B: choose more, or another \
target" --config tc kmin 1000
refuses "--config tc: pmax: 0.001% is below the minimum of tc's red from kmin to kmax, 0.008801%: \
choose more, a lower kmax, or another target" --config tc pmax 0.001%
# What tc refuses, it refuses before it looks for the device
if [ "$(command -v tc)" ]; then
	for words in "kmin 1001" "kmin 1001 kmax 1002" "pmax 0.009%" "kmin 10MB kmax 10MB"; do
		$DCQCN model --config tc $words | sed -n '/ red /s/ DEV / nonesuch /p' | bash 2>&1 |
			grep -qx 'Cannot find device "nonesuch"' || fail "tc refuses the model's $words"
	done
fi
says '"green_drop_probability"' --config sonic speed 1.6tbit
$DCQCN -j model speed 1.6tbit | grep -qF '"# speed: 1.6tbit is above' ||
	fail "dcqcn -j model speed 1.6tbit has no comment for dcbport"
says " limit 4294967295B kmin" --config dcbport buffer 5GB
refuses "picture.pdf: must end in .png or .svg" -o picture.pdf
refuses "--sweep: 60: no such input (dcqcn model help lists them)" --sweep 60=5
refuses "--sweep: kmax: no values" --sweep kmax=
refuses "none.toml: No such file or directory" none.toml
echo "[link]" >"$TMP/other.toml"
refuses "$TMP/other.toml: has no table [model]" "$TMP/other.toml"
printf '[model]\nflows 8\n' >"$TMP/wrong.toml"
refuses "$TMP/wrong.toml:2: \"flows 8\" is not KEY = VALUE" "$TMP/wrong.toml"
printf '[model]\n\nflows = "many"\n' >"$TMP/wrong.toml"
refuses "$TMP/wrong.toml:3: flows: \"many\" is not a value, such as 16" "$TMP/wrong.toml"

# Where there is no source tree
cp $DCQCN "$TMP/dcqcn"
DCQCN=$TMP/dcqcn
refuses "--simulate: no simulator found (it works in a source tree only)" --simulate
DCQCN=tools/dcqcn/dcqcn

# Where there is one, it is told the same, and leaves no file behind
out=$($DCQCN model --simulate rtt 0.1us 2>&1)
case $out in
"sim: /tmp/dcqcn-model-"*".toml: model: rtt: is shorter than a packet takes over 2 links") ;;
*) fail "dcqcn model --simulate rtt 0.1us: $out" ;;
esac
out=${out#sim: }
[ ! -e "${out%%: *}" ] || fail "${out%%: *} is left behind"

# A file that the model describes is a scenario, and its mistakes are the model's
refuses_scenario() # TEXT
{
	local out

	out=$(timeout 60 tools/sim/sim run "$TMP/wrong.toml" --out "$TMP/sim" 2>&1)
	[ $? = 2 ] && [ "$out" = "sim: $1" ] || fail "sim run: want \"sim: $1\", got \"$out\""
}
scenario() # LINES
{
	printf '[model]\n%s\n[[expect]]\nunaccounted = "== 0"\n' "$1" >"$TMP/wrong.toml"
}
scenario 'flows = 0'
refuses_scenario "dcqcn: flows: must be within 1 to 1024"
scenario 'sample = "10us"'
refuses_scenario "$TMP/wrong.toml: model: sample: must be 0: the simulator's switch reads the queue at \
each packet"
scenario 'cnp_cap = 100000'
refuses_scenario "$TMP/wrong.toml: model: cnp_cap: the simulator's receivers use the module's cap"
scenario 'uplinks = 2'
refuses_scenario "$TMP/wrong.toml: model: uplinks: must be 1, or 0 for one per sender"
scenario 'rtt = "0.1us"'
refuses_scenario "$TMP/wrong.toml: model: rtt: is shorter than a packet takes over 2 links"

# Each input is in the completion, too
missing=$($DCQCN model help | sed -n 's/^  \([a-z_]*\) .*/\1/p' | while read -r key; do
	grep -qw -- "$key" tools/dcqcn/dcqcn.bash || echo "$key"
done)
[ -z "$missing" ] || fail "the completion does not know: $missing"
exit $FAILED
