#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The command dcqcn: its exact output, its settings, and its errors. DCQCN names it if it
# is not in the PATH.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"show show: each knob with its unit"
	"json -j: each answer is JSON, with the numbers of sysfs"
	"set_knobs set: units, several knobs at once, and what is out of range"
	"dialects show --as, set --from: what cards and their tools print, and take"
	"profile profile: list, show, apply"
	"modelled model --config host: what it says can be executed"
	"save save and restore: settings survive the module"
	"by_udev restore: applied when the module appears, and when the device does"
	"flow qp, watch, record: a limited QP, word by word, as a table, and as CSV"
	"stat stat: counters as in hw_counters"
	"own cc use: one QP has an algorithm of its own"
	"words Commands may be shortened, options too"
	"errors Errors say what is wrong, in JSON, too"
)

GUESTS_ONLY=by_udev

DCQCN=${DCQCN:-dcqcn}
command -v "$DCQCN" >/dev/null || skip_all "no command dcqcn"

# golden NAME <EXPECTED: $OUT is that
golden()
{
	local diff

	diff=$(diff - <(echo "$OUT")) || fail "$1:
$diff"
}

# Replace what differs from host to host
run()
{
	OUT=$("$DCQCN" "$@" 2>&1)
	STATUS=$?
	OUT=${OUT//${DEV[local]}/DEV}
	OUT=${OUT//${IF[local]}/IF}
}

show()
{
	MODULE_ARGS=profile=sigcomm15
	reload local
	knobs local roce_rp/rpg_max_rate=1000
	OUT=$("$DCQCN" show dev "${DEV[local]}" | sed "s/${DEV[local]} netdev ${IF[local]}/DEV netdev IF/" |
		grep -wE 'netdev|min_time_between_cnps|cnp_dscp|np_enable|rpg_max_rate|dce_tcp_g|dce_tcp_rtt|rpg_min_dec_fac|rpg_byte_reset|alpha_on_cut|cc_algorithm')
	golden "show, with each unit" show <<-'END'
	DEV netdev IF line 1gbit
	    min_time_between_cnps          50us
	    cnp_dscp                       48
	    np_enable                      all (priorities)
	    rpg_max_rate                   1000mbit (0: port speed)
	    dce_tcp_g                      1020 (1/1024)
	    dce_tcp_rtt                    55us (0: measured)
	    rpg_min_dec_fac                1%
	    rpg_byte_reset                 10000000B (0: off)
	    alpha_on_cut                   1 (0: once per dce_tcp_rtt)
	    cc_algorithm                   dcqcn (cc list)
	END
}

json()
{
	local f name value
	reload local
	"$DCQCN" -j show | jq -r '.[0].settings | to_entries[] | select(.value | type == "number") |
		"\(.key) \(.value)"' >$TMP/settings
	check "settings in JSON" "$(wc -l <$TMP/settings)" = "$(grep -vc '^#\|/enable' "$HERE/knobs")"
	while read -r name value; do
		f=$(echo "$(ecn local)"/roce_?p/"$name")
		check "$name" "$(cat "$f")" = "$value"
	done <$TMP/settings
	check "algorithm" "$("$DCQCN" -j show | jq -r '.[0].settings.cc_algorithm')" = dcqcn
	check "priorities" "$("$DCQCN" -j show | jq -c '.[0].settings.np_enable')" = "[0,1,2,3,4,5,6,7]"
	for f in show qp ccc "stat -i 0" "stat -i 100ms" "profile list" "profile show mlx5"; do
		# shellcheck disable=SC2086 # words
		"$DCQCN" -j $f >$TMP/compact
		jq -e 'type == "array" or .rpg_gd' $TMP/compact >/dev/null || fail "-j $f is not JSON"
		check "lines of -j $f" "$(wc -l <$TMP/compact)" = 1
	done
	# what only changes something has nothing to say
	for f in "set dev ${DEV[local]} rpg_gd 11" "profile apply auto dev ${DEV[local]}" "restore -"; do
		# shellcheck disable=SC2086 # words
		check "-j $f" "$("$DCQCN" -j $f </dev/null)" = "{}"
	done
	"$DCQCN" -j show >$TMP/compact
	"$DCQCN" -j -p show >$TMP/pretty
	check "lines of -p" "$(wc -l <$TMP/pretty)" -gt 20
	check "-p" "$(jq -cS . $TMP/pretty)" = "$(jq -cS . $TMP/compact)"
	run -j show
	check "name of the device" "$(jq -r '.[0].dev + .[0].netdev' <<<"$OUT")" = "DEVIF"
}

# sets KNOB VALUE FILE CONTENT
sets()
{
	run set dev "${DEV[local]}" "$1" "$2"
	check "$1 $2: $OUT" $STATUS = 0
	check "$1 $2" "$(cat "$(ecn local)/$3")" = "$4"
}

set_knobs()
{
	local bad
	reload local
	sets rpg_ai_rate 20mbit roce_rp/rpg_ai_rate 20
	sets rpg_ai_rate 0.04gbit roce_rp/rpg_ai_rate 40
	sets rpg_ai_rate 7 roce_rp/rpg_ai_rate 7
	sets rpg_time_reset 55us roce_rp/rpg_time_reset 55
	sets rpg_time_reset 4.5ms roce_rp/rpg_time_reset 4500
	sets rpg_byte_reset 10MB roce_rp/rpg_byte_reset 10000000
	sets rpg_byte_reset 64KiB roce_rp/rpg_byte_reset 65536
	sets rpg_min_dec_fac 40% roce_rp/rpg_min_dec_fac 40
	sets np_enable none roce_np/enable/3 0
	sets np_enable 0,3 roce_np/enable/3 1
	check "other priorities" "$(cat "$(ecn local)"/roce_np/enable/* | tr -d '\n')" = 10010000
	sets rp_enable all roce_rp/enable/7 1

	run set dev "${DEV[local]}" rpg_threshold 9 rpg_min_dec_fac 101%
	golden "out of range" <<-'END'
	dcqcn: DEV: rpg_min_dec_fac: 101% is out of range: 1% to 100%
	END
	check "status" $STATUS = 1
	check "the knob before it" "$(cat "$(ecn local)/roce_rp/rpg_threshold")" = 5
	run set dev "${DEV[local]}" rpg_hai_rate 0
	golden "out of range" <<-'END'
	dcqcn: DEV: rpg_hai_rate: 0mbit is out of range: 1mbit to 4294967295mbit
	END
	run set dev "${DEV[local]}" rpg_time_reset 1s
	golden "out of range" <<-'END'
	dcqcn: DEV: rpg_time_reset: 1000000us is out of range: 0us to 131071us
	END
	for bad in "rpg_ai_rate 20us" "rpg_ai_rate 1.5" "rpg_ai_rate -1" "rpg_ai_rate 0x10" \
		"rpg_ai_rate 20MB/s" "rpg_time_reset 55mbit" "np_enable 8" "np_enable 0," \
		"rpg_ai_rate 5000tbit" "rpg_gd nan" "rpg_gd 18446744073709551616"; do
		# shellcheck disable=SC2086 # words
		run set dev "${DEV[local]}" $bad
		check "$bad" $STATUS = 1
		[[ $OUT == *"\" is not "* ]] || [[ $OUT == *"out of range"* ]] || fail "$bad: $OUT"
	done
	check "after all that" "$(cat "$(ecn local)/roce_rp/rpg_ai_rate")" = 7
}

profile()
{
	reload local
	run profile list
	golden list <<-'END'
	auto DEV
	mlx5
	sigcomm15
	END
	run profile apply mlx5 dev "${DEV[local]}"
	check "apply: $OUT" $STATUS = 0
	check "a knob of mlx5" "$(cat "$(ecn local)/roce_rp/rpg_byte_reset")" = 32767
	run profile
	golden list <<-'END'
	auto
	mlx5 DEV
	sigcomm15
	END
	run profile apply sigcomm15
	check "JSON" "$("$DCQCN" -j profile | jq -r '.[] | select(.devs != []) | .profile')" = sigcomm15
	run profile show sigcomm15
	check "a profile's knobs, as the device has them" "$OUT" = \
		"$("$DCQCN" show dev "${DEV[local]}" | sed -E '1d; s/^ +//; /^(.._enable|rpg_max|ccc?_|hop_)/d')"
}

modelled()
{
	local knob said

	reload local
	"$DCQCN" model --config host profile mlx5 g 25% gd 12 timer 100us ai 20mbit hai 200mbit \
		byte_counter 1MB recovery_steps 3 alpha_period 60us monitor 20us cnp_interval 40us \
		max_rate 900mbit | sed "s/\<DEV\>/${DEV[local]}/; s/^dcqcn /\"\$DCQCN\" /" >$TMP/config
	check "commands" "$(wc -l <$TMP/config)" = 12
	# shellcheck source=/dev/null
	said=$(set -e; . $TMP/config 2>&1)
	check "they run: $said" $? = 0
	for knob in rp/dce_tcp_g=768 rp/rpg_time_reset=100 rp/rpg_ai_rate=20 rp/rpg_hai_rate=200 \
			rp/rpg_byte_reset=1000000 rp/rpg_threshold=3 rp/dce_tcp_rtt=60 \
			rp/rate_reduce_monitor_period=20 np/min_time_between_cnps=40 \
			rp/rpg_max_rate=900 rp/rpg_gd=12; do
		check "$knob" "$(cat "$(ecn local)/roce_${knob%=*}")" = "${knob#*=}"
	done
}

# The algorithm of the QP that sends, and its state
own_is() { [ "$("$DCQCN" -j qp dev "${DEV[local]}" qpn "${QPN[local]}" |
	jq -r '.[0] | "\(.cc_algorithm) \(.state)"')" = "$1" ]; }

own()
{
	local of alg

	reload_both
	knobs local roce_rp/rpg_max_rate=50
	perftest local ib_write_bw -m 1024 -s 65536 || return
	of="dev ${DEV[local]} qpn ${QPN[local]}"
	# shellcheck disable=SC2086 # words
	for alg in swift dctcp; do
		"$DCQCN" cc use $alg $of || fail "$alg is refused"
		until_ok 10 own_is "$alg limited" || fail "$("$DCQCN" qp)"
	done
	"$DCQCN" qp | grep -q " state limited cc dctcp$" || fail "$("$DCQCN" qp)"
	check "the device's" "$(cat "$(ecn local)/roce_rp/cc_algorithm")" = dcqcn
	# shellcheck disable=SC2086 # words
	"$DCQCN" cc use dev $of || fail "it cannot follow its device"
	"$DCQCN" -j qp | jq -e 'all(has("cc_algorithm") | not)' >/dev/null || fail "$("$DCQCN" qp)"
	run cc use swift dev "${DEV[local]}" qpn 0xfffff0
	check "of no QP: $OUT" $STATUS = 1
	[[ $OUT == *"no such queue pair"* ]] || fail "$OUT"
	# shellcheck disable=SC2086 # words
	! "$DCQCN" cc use nonesuch $of 2>/dev/null || fail "an algorithm that does not exist is used"
	stop_perftest
}

dialects()
{
	local dev=${DEV[local]} as

	MODULE_ARGS=profile=mlx5
	reload local
	"$DCQCN" show --as mlxconfig dev "$dev" | grep -q "ROCE_CC_PRIO_MASK_P1 * 255$" ||
		fail "no mask of priorities"
	# which firmware has for both roles
	echo 0 >"$(ecn local)/roce_np/enable/3"
	"$DCQCN" set dev "$dev" cc_algorithm timely rpg_gd 11
	# each of them as the kernel shows it, and back
	"$DCQCN" show --as ecn dev "$dev" | sort >$TMP/ecn
	(cd / && grep -r . "$(ecn local)") | grep -v "/cc_available:" | sort | diff - $TMP/ecn ||
		fail "ecn/ has something else"
	"$DCQCN" show --as cc_params dev "$dev" | sort >$TMP/cc_params
	grep -r . $FAULTS/"$dev"/cc_params | grep -v "prio_mode\|rtt_resp" | sort |
		diff - $TMP/cc_params || fail "cc_params/ has something else"
	"$DCQCN" show --as mlxconfig dev "$dev" >$TMP/mlxconfig
	"$DCQCN" save >$TMP/saved
	for as in ecn cc_params mlxconfig; do
		"$DCQCN" profile apply auto	# whose own knobs no card has
		run set --from $TMP/$as dev "$dev"
		check "from $as: $OUT" $STATUS = 0
		# a card obeys DCQCN
		[ $as = ecn ] || sed -i "s/ cc_algorithm .*/ cc_algorithm dcqcn/" $TMP/saved
		"$DCQCN" save | diff $TMP/saved - || fail "$as is not as shown"
	done
	# what tools print around it
	"$DCQCN" set --from - dev "$dev" rpg_hai_rate 60 <<'END' || fail "a query"
Device #1:
----------
Device type:        ConnectX5
Configurations:                                     Default        Current        Next Boot
*        ROCE_CC_PRIO_MASK_P1                        255            255            8
         CLAMP_TGT_RATE_P1                           False(0)       False(0)       True(1)
         RPG_AI_RATE_P1                              5              5              7
         RPG_HAI_RATE_P1                             50             50             50
         RPG_AI_RATE_P2                              5              5              9
END
	OUT=$(cd "$(ecn local)/roce_rp" && cat clamp_tgt_rate rpg_ai_rate rpg_hai_rate enable/[23])
	check "from a query" "$(echo $OUT)" = "1 7 60 0 1"
	for bad in "rp_ai_rate:x" "rpg_gd:99" $'rp_gd:10\nRPG_GD_P1 11' "other:1"; do
		run set --from - dev "$dev" <<<"$bad"
		check "$bad" $STATUS = 1
	done
	check "afterwards" "$(cat "$(ecn local)/roce_rp/rpg_gd")" = 11
}

save()
{
	MODULE_ARGS=profile=sigcomm15
	reload local
	"$DCQCN" set dev "${DEV[local]}" rpg_ai_rate 33mbit np_enable 1,2 cnp_dscp 40 rpg_byte_reset 9MB
	run save -o $TMP/saved
	check "save: $OUT" $STATUS = 0
	reload local
	check "default" "$(cat "$(ecn local)/roce_rp/rpg_ai_rate")" = 40
	run restore dev nonesuch $TMP/saved
	check "of another device: $OUT" "$STATUS$(cat "$(ecn local)/roce_rp/rpg_ai_rate")" = 040
	run restore $TMP/saved
	check "restore: $OUT" $STATUS = 0
	"$DCQCN" save | diff $TMP/saved - || fail "not as saved"
	ln -sf saved $TMP/link
	run save -o $TMP/link
	check "a symbolic link afterwards" "$(readlink $TMP/link)" = saved
	# a full disk must not cost what was saved before
	mkdir $TMP/full && mount -t tmpfs -o size=4k,nr_inodes=8 full $TMP/full || fail "no disk"
	cp $TMP/saved $TMP/full/saved || fail "no room"
	run save -o $TMP/full/saved
	check "on a full disk: $OUT" $STATUS = 1
	check "files left" "$(ls $TMP/full)" = saved
	cmp $TMP/saved $TMP/full/saved || fail "the saved settings are gone"
	umount $TMP/full && rmdir $TMP/full
	echo "rxe_not_there rpg_ai_rate 5mbit # comment" >>$TMP/saved
	run restore $TMP/saved
	check "with a device that is not there: $OUT" $STATUS = 0
	{ echo "${DEV[local]} rpg_future 1" && cat $TMP/saved; } >$TMP/newer
	"$DCQCN" set dev "${DEV[local]}" rpg_ai_rate 6mbit
	run restore $TMP/newer
	golden "an unknown knob" <<-END
	dcqcn: $TMP/newer:1: "rpg_future": no such knob (dcqcn show lists them); all others are restored
	END
	check "the others" "$STATUS$(cat "$(ecn local)/roce_rp/rpg_ai_rate")" = 133
	echo "${DEV[local]} rpg_ai_rate" >>$TMP/saved
	run restore $TMP/saved
	golden "half a line" <<-END
	dcqcn: $TMP/saved:$(wc -l <$TMP/saved): must be a device, a knob and a value
	END
	echo "${DEV[local]} rpg_ai_rate 5mbit" | "$DCQCN" restore -
	check "from standard input" "$(cat "$(ecn local)/roce_rp/rpg_ai_rate")" = 5
}

# As installed, with a udev that sees only events from now on
by_udev()
{
	local rules
	rules=$(dirname "$DCQCN")/60-rdma_dcqcn.rules
	[ -e "$rules" ] || { fail "no $rules"; return; }
	unload local
	on local "mkdir -p /run/udev/rules.d && cp $rules /run/udev/rules.d/ &&
		  cp $DCQCN /usr/local/sbin/dcqcn &&
		  echo ${DEV[local]} rpg_ai_rate 44mbit >/etc/rdma_dcqcn.conf"
	start local udevd "exec /lib/systemd/systemd-udevd"
	until_ok 30 on local "udevadm control --ping" || fail "no udev"
	load local profile=mlx5
	until_ok 30 ai_rate_is 44 || fail "not restored when the module appears"
	check "another knob, by parameter" "$(cat "$(ecn local)/roce_rp/rpg_time_reset")" = 300
	on local "rdma link del ${DEV[local]} &&
		  rdma link add ${DEV[local]} type rxe netdev ${IF[local]}"
	until_ok 30 ai_rate_is 44 || fail "not restored when the device appears"
	stop local udevd
	on local "rm /run/udev/rules.d/60-rdma_dcqcn.rules /usr/local/sbin/dcqcn /etc/rdma_dcqcn.conf"
}
ai_rate_is() { on local "[ \"\$(cat $(ecn local)/roce_rp/rpg_ai_rate)\" = $1 ]"; }

flow()
{
	reload_both
	fixed_rate local 20
	knobs local roce_rp/rpg_max_rate=1000
	run qp
	check "no QP yet" -z "$OUT"
	perftest local ib_write_bw -m 1024 -s 65536 || return
	# they keep it at its least rate
	trickle local --qpn "${QPN[local]}"
	await 20 local rp_limited_qps = 1
	show_flow
	watch_flow
	record_flow
}

show_flow()
{
	inject local --qpn "${QPN[local]}" --src 10.99.99.99
	run qp dev "${DEV[local]}" qpn "${QPN[local]}"
	# what is as it comes
	OUT=$(sed -E 's/alpha [01]\.[0-9]{4}/alpha A/; s/timer [0-9]+/timer N/; s/paced .*/paced P/
		      s/queue .*/queue Q/; s/handled [0-9]+/handled H/; s/last .* ago/last T ago/
		      s/rtt .*/rtt R/
		      ' <<<"$OUT")
	golden qp <<-END
	DEV lqpn ${QPN[local]} rqpn ${QPN[remote]} peer ${V4[remote]} type RC prio 0 state limited
	    rate 20mbit target 20mbit floor 20mbit line 1gbit
	    alpha A stages timer N byte 0
	    rtt R
	    paced P
	    queue Q
	    cnp handled H ignored 1 sent 0 for 0 marks last T ago
	    expired 0 dropped bound 0 stale 0 dead 0
	END
	run qp qpn 1234567
	check "another QP" -z "$OUT"
	check "JSON" "$("$DCQCN" -j qp | jq -r '.[0] | "\(.type) \(.state) \(.lqpn) \(.peer)"')" = \
		"RC limited ${QPN[local]} ${V4[remote]}"
}

watch_flow()
{
	run watch -i 200ms -n 2
	check "watch: $OUT" $STATUS = 0
	check "bars" "$(grep -cE "^DEV +${QPN[local]} limited +20mbit #{20} +20mbit " <<<"$OUT")" = 2
	check "escapes" "$(tr -d '[:print:]\n' <<<"$OUT" | wc -c)" = 0
	python3 - "$DCQCN" <<-'END' || fail "on a terminal"
	import os, sys
	for term, redraws in (("xterm", 2), ("dumb", 0)):
	    master, slave = os.openpty()
	    pid = os.fork()
	    if not pid:
	        os.dup2(slave, 1)
	        os.environ["TERM"] = term
	        os.execvp(sys.argv[1], [sys.argv[1], "watch", "-i", "100ms", "-n", "2"])
	    os.waitpid(pid, 0)
	    out = os.read(master, 65536)
	    assert out.count(b"\x1b[H\x1b[J") == redraws, (term, out)
	    assert b"STATE" in out
	END
}

record_flow()
{
	local n
	run record -i 10ms -d 1s -o $TMP/run.csv
	check "record: $OUT" $STATUS = 0
	OUT=$(head -n 1 $TMP/run.csv)
	golden header <<-'END'
	time,dev,qpn,state,rate,target_rate,alpha,floor_rate,timer_stage,byte_stage,queue_packets,queue_bytes,paced_packets,paced_bytes,cnp_handled,cnp_ignored,cnp_sent,expired_packets,drop_bound_packets,drop_stale_packets,drop_dead_packets
	END
	n=$(sed 1d $TMP/run.csv | grep -c "^[0-9.]*,${DEV[local]},${QPN[local]},1,20000000,20000000,[01]\.[0-9]\{9\},[0-9,]*$")
	note "$n lines"
	check "lines" "$n" -ge 20
	check "lines" "$n" -le 101
	check "other lines" "$(wc -l <$TMP/run.csv)" = $((n + 1))
	check "time goes on" "$(sed 1d $TMP/run.csv | cut -d, -f1 | sort -cn 2>&1)" = ""
	start local record "exec $DCQCN record -i 1ms -o $TMP/run2.csv"
	until_ok 20 on local "[ -s $TMP/run2.csv ]" || fail "nothing is written before the end"
	stop local record
	wait_job local record 5 || fail "a signal does not end it well"
	check "complete lines" "$(sed 1d $TMP/run2.csv | awk -F, 'NF != 21' | wc -l)" = 0
}

stat()
{
	local name value
	reload local
	"$DCQCN" -j stat -i 0 | jq -r '.[0].counters | to_entries[] | "\(.key) \(.value)"' >$TMP/stat
	check "counters" "$(wc -l <$TMP/stat)" = 25
	while read -r name value; do
		check "$name" "$(counter local "$name")" = "$value"
	done <$TMP/stat
	run stat -i 10ms dev "${DEV[local]}"
	check "lines" "$(wc -l <<<"$OUT")" = 26
	check "lines with a rate" "$(grep -c ' 0.0/s$' <<<"$OUT")" = 22
}

words()
{
	local full word
	reload local
	run sh dev "${DEV[local]}"
	full=$OUT
	run show
	check "sh dev: $full" "$full" = "$OUT"
	run prof l
	full=$OUT
	run profile
	check "prof l: $full" "$full" = "$OUT"
	run prof a mlx5 dev "${DEV[local]}"
	check "prof a: $OUT" "$STATUS$(cat "$(ecn local)/roce_rp/rpg_byte_reset")" = 032767
	for word in --json -json -js --j; do
		check "$word" "$("$DCQCN" "$word" show | jq -r '.[0].dev')" = "${DEV[local]}"
	done
	check "-V: the module's version" "$("$DCQCN" -V)" = "dcqcn $(cat /sys/module/rdma_dcqcn/version)"
}

errors()
{
	local f
	reload local
	run nonesuch
	golden "no command" <<-'END'
	dcqcn: "nonesuch": no such command (dcqcn help lists them)
	END
	run show dev nonesuch
	golden "no device" <<-'END'
	dcqcn: nonesuch: no such rxe device (dcqcn show lists them)
	END
	run qp dev nonesuch
	golden "no device" <<-'END'
	dcqcn: nonesuch: no such rxe device (dcqcn show lists them)
	END
	run set dev nonesuch rpg_gd 11
	golden "no device" <<-'END'
	dcqcn: nonesuch: no such rxe device (dcqcn show lists them)
	END
	run doctor dev nonesuch
	golden "no device" <<-'END'
	dcqcn: nonesuch: no such rxe device or port (rdma link show and dcqcn port list them)
	END
	run profile apply mlx5 dev nonesuch
	golden "no device" <<-'END'
	dcqcn: nonesuch: no such rxe device (dcqcn show lists them)
	END
	run set dev "${DEV[local]}" nonesuch 1
	golden "no knob" <<-'END'
	dcqcn: set: "nonesuch": no such knob (dcqcn show lists them)
	END
	run profile apply nonesuch
	golden "no profile" <<-'END'
	dcqcn: "nonesuch": no such profile (dcqcn profile list lists them)
	END
	echo precious >$TMP/old
	for f in save "record -d 1ms"; do
		# shellcheck disable=SC2086 # words
		run $f -o $TMP/old dev nonesuch
		check "$f: status" $STATUS = 1
		check "$f leaves a file alone" "$(cat $TMP/old)" = precious
	done
	for f in "qp dev nonesuch" "stat dev nonesuch" "set dev nonesuch rpg_gd 11" \
		"set dev ${DEV[local]} rpg_gd 1000" "profile show nonesuch"; do
		# shellcheck disable=SC2086 # words
		OUT=$("$DCQCN" -j $f 2>$TMP/stderr) && fail "-j $f succeeds"
		check "-j $f" "dcqcn: $(jq -r .error <<<"$OUT")" = "$(cat $TMP/stderr)"
	done
	unload local
	run show
	golden "no module" <<-'END'
	dcqcn: rdma_dcqcn: not loaded (modprobe rdma_dcqcn loads it)
	END
	check "status" $STATUS = 1
}

run_tests "$@"
