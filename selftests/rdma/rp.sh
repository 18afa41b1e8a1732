#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The reaction point: which flows a CNP slows down, and which not. The remote host injects
# CNPs, or the local one if the remote one sends.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

PROFILE=sigcomm15

TESTS=(
	"vector A captured CNP, replayed to a live QP, cuts its rate"
	"becn BECN, reserved bytes and the DSCP of a CNP do not matter"
	"ect RC, UC and UD data leave as ECT(0) if the RP is on, otherwise unmarked"
	"disabled With the RP off for a priority, its CNPs are ignored and nothing is limited"
	"release A limiter ends when the rate is back at the line rate"
	"uc UC is limited"
	"ud UD is limited"
	"ipv6 CE over IPv6 is answered, and a CNP over IPv6 limits"
	"read_limited READ responses are limited, and held within the bound"
	"read_bound READ responses beyond the bound are dropped and counted"
	"atomic_write A flow of ATOMIC WRITEs, which no ACK answers, does not stay at its first rate"
	"stale Held packets that rxe retransmits are not sent twice, and are counted"
	"loop Between two hosts with the module, CNPs sent are handled or ignored"
)

# Mb/s; less for slow hosts
RATE=${MBPS:-20}

# check_rate HOST: with a trickle of CNPs it sends at RATE, over SAMPLES times INTERVAL. In
# simulated time that is exact to a packet: the mean, and how far samples are from it, because
# a limiter that oscillates has a mean, too. An emulated host may be without a CPU for a while,
# so only bounds of the mean are judged there.
SAMPLES=60
INTERVAL=0.05	# s; some hundred packets at RATE
check_rate()
{
	local mean deviation

	sleep 0.2		# packets from before the CNP may be in the host's queue
	read -r mean deviation <<<"$(on "$1" "f=/sys/class/net/${IF[$1]}/statistics/tx_bytes
		for i in \$(seq 0 $SAMPLES); do
			read -r b <\$f; echo \${EPOCHREALTIME/./} \$b; sleep $INTERVAL
		done" | awk -v rate=$RATE 'NR > 1 {
			n++; r = ($2 - b) * 8 / ($1 - t); sum += r; squares += r * r
			bits += ($2 - b) * 8; us += $1 - t
		}
		{ t = $1; b = $2 }
		END { m = sum / n; v = squares / n - m * m
			printf("%d %d\n", 1000 * bits / us / rate, 1000 * sqrt(v > 0 ? v : 0) / m) }')"
	note "$1 sends $mean thousandths of $RATE Mb/s, samples deviate by $deviation thousandths"
	if simulated; then
		check "thousandths of the rate" "$mean" -ge 980
		check "thousandths of the rate" "$mean" -le 1020
		check "thousandths that samples deviate" "$deviation" -le 30
	else
		check "thousandths of the rate" "$mean" -ge 500
		check "thousandths of the rate" "$mean" -le 1100
	fi
}

# limited HOST CNP-COMMAND...: one CNP limits one QP. A CNP for the burst of a start changes nothing,
# though it counts as handled, so there are no starts. On a busy host the trickle may begin so late
# that the rate has grown.
limited()
{
	local host=$1 before; shift
	knobs "$host" roce_rp/start_burst=0
	before=$(sending_rate "$host" 0.5)
	[ "$before" -ge $((RATE * 1300)) ] || note "only $before kb/s before the CNP"
	"$@"
	await 5 "$host" rp_cnp_handled -ge 1
	counters "$host" A_
	check "handled" "$A_rp_cnp_handled" = 1
	check "ignored" "$A_rp_cnp_ignored" = 0
	check "QPs limited" "$A_rp_limited_qps" = 1
	trickle "$host" --qpn "${QPN[$host]}"
	await 20 "$host" rp_cnp_handled -ge 10
	check_rate "$host"
	stop "$(other "$host")" trickle
	counters "$host" A_
	check "packets held" "$A_rp_held_packets" -gt 0
}

vector()
{
	reload_both
	fixed_rate local $RATE
	perftest local ib_write_bw -m 1024 -s 65536 || return
	limited local cnp local --vector
	stop_perftest
	await 5 local rp_limited_qps = 0
}

becn()
{
	reload_both
	fixed_rate local $RATE
	perftest local ib_write_bw -m 1024 -s 65536 || return
	limited local cnp local --no-becn --tos 0 --sport 1234 --pkey 0x1234
}

expect_tos() # TOS TOOL OPTIONS: what arrives of the data
{
	local tos=$1; shift

	perftest local "$@" || return
	sniff remote 64 '"udp dst port 4791 and udp[8] != 0x11 and dst '"${V4[remote]}"'" -c 20'
	wait_job remote tcpdump 20 || fail "no packets"
	stop_perftest
	check "$*" "$(on remote "${PY[remote]} list $TMP/cap.pcap" |
		sed 's/.* tos=\([^ ]*\) .*/\1/' | sort -u | tr '\n' ' ')" = "$tos "
}

ect()
{
	reload_both
	expect_tos 0xa2 ib_write_bw --tclass=160 -s 4096
	expect_tos 0x02 ib_write_bw -c UC -m 1024 -s 4096
	expect_tos 0x02 ib_send_bw -c UD -s 1024
	# a packet with a mark keeps it
	expect_tos 0xa1 ib_write_bw --tclass=161 -s 4096
	knobs local roce_rp/enable/0=0
	expect_tos 0x00 ib_write_bw -s 4096
}

disabled()
{
	reload_both
	fixed_rate local $RATE
	knobs local roce_rp/enable/0=0
	perftest local ib_write_bw -m 1024 -s 65536 || return
	cnp local
	await 5 local rp_cnp_ignored -ge 1
	check "handled" "$(counter local rp_cnp_handled)" = 0
	check "limited" "$(counter local rp_limited_qps)" = 0
	knobs local roce_rp/enable/0=1
	cnp local
	await 5 local rp_limited_qps = 1
	# a live flow is released
	knobs local roce_rp/enable/0=0
	await 5 local rp_limited_qps = 0
}

release()
{
	reload_both
	perftest local ib_write_bw -m 1024 -s 65536 || return
	fixed_rate local $RATE
	cnp local
	await 5 local rp_limited_qps = 1
	trickle local --qpn "${QPN[local]}"
	check_rate local
	stop remote trickle
	# the line comes down to the rate
	knobs local roce_rp/rpg_max_rate=$RATE
	await 5 local rp_limited_qps = 0
	await 5 local rp_held_bytes = 0
	# or the rate goes up to the line
	knobs local roce_rp/rpg_max_rate=0
	cnp local
	await 5 local rp_limited_qps = 1
	knobs local roce_rp/rpg_time_reset=100 roce_rp/rpg_threshold=1 roce_rp/rpg_ai_rate=100
	await 10 local rp_limited_qps = 0
}

uc()
{
	reload_both
	fixed_rate local $RATE
	perftest local ib_write_bw -c UC -m 1024 -s 65536 || return
	limited local cnp local
}

ud()
{
	reload_both
	fixed_rate local $RATE
	perftest local ib_send_bw -c UD -s 1024 || return
	limited local cnp local
}

ipv6()
{
	local out
	V=6
	reload_both
	fixed_rate local $RATE
	perftest local ib_write_bw -m 1024 -s 65536 || return
	limited local cnp local
	stop_perftest

	reload_both
	knobs local roce_rp/enable/0=0
	knobs remote roce_np/min_time_between_cnps=$FAST_CNPS
	perftest local ib_write_bw -m 1024 -s 65536 --tclass=$CE || return
	sniff local 0 "$CNP_FILTER"
	await 10 remote np_cnp_sent -ge "$(($(counter remote np_cnp_sent) + 5))"
	stop local tcpdump
	stop_perftest
	out=$(${PY[local]} expect $TMP/cap.pcap --src "${V6[remote]}" --dst "${V6[local]}" \
	      --qpn "${QPN[local]}" --count 3 2>&1) || fail "$out"
}

# The remote host reads: the local one's READ responses are limited
BOUND=$((8 << 20))	# bytes of memory
held_at_most() # of a number of samples
{
	HELD=$(on local "max=0
		for i in \$(seq 100); do read -r now <$(hw local)/rp_held_bytes
			[ \$now -le \$max ] || max=\$now; sleep 0.01; done; echo \$max")
	note "at most $HELD bytes held"
}

read_limited()
{
	local drops RATE=$((RATE / 2))	# even a slow host is to hold some
	reload_both
	fixed_rate local $RATE
	perftest remote ib_read_bw -m 1024 -s 65536 -o 2 -u 20 || return
	limited local cnp local
	held_at_most
	check "held" "$HELD" -gt 0
	check "held" "$HELD" -le $BOUND
	drops=$(counter local rp_drop_bound_packets)
	check "dropped" "$drops" = 0
	stop_perftest
	await 10 local rp_held_bytes = 0
}

read_bound()
{
	reload_both
	# so slow that even a slow host holds more and more; one READ is twice the bound
	fixed_rate local 1
	perftest remote ib_read_bw -m 1024 -s 8388608 -o 1 -t 1 -u 20 || return
	trickle local --qpn "${QPN[local]}"
	await 20 local rp_drop_bound_packets -ge 1
	held_at_most
	check "held" "$HELD" -gt $((BOUND / 2))
	check "held" "$HELD" -le $BOUND
	stop_perftest KILL
	await 10 local rp_held_bytes = 0
}

stale()
{
	local nic=${IF[remote]}
	reload_both
	fixed_rate local $RATE
	perftest local ib_write_bw -m 1024 -s 65536 || return
	trickle local --qpn "${QPN[local]}"
	await 5 local rp_limited_qps = 1
	# the receiver loses packets and sends NAKs, and rxe retransmits
	on remote "tc qdisc add dev $nic clsact && tc filter add dev $nic ingress protocol ip \
		   flower ip_proto udp dst_port 4791 action pass random determ drop 300" ||
		fail "tc"
	await 20 local rp_drop_stale_packets -ge 1
	on remote "tc qdisc del dev $nic clsact"
	check "still limited" "$(counter local rp_limited_qps)" = 1
	check_rate local
}

# With the default profile, a start waits for an ACK after its burst. 1 Mb/s are 1,500 ATOMIC WRITEs
# a second.
atomic_write()
{
	local rate

	simulated || { skip "perftest has no ATOMIC WRITE"; return; }
	MODULE_ARGS= reload_both
	perftest local ib_atomic_write -m 1024 -s 8 -u 14 || return
	sleep 0.5
	rate=$(sending_rate local 0.5)
	note "$rate kb/s"
	check "kb/s" "$rate" -gt 5000
	stop_perftest
}

loop()
{
	reload_both
	perftest local ib_write_bw -m 1024 -s 65536 --tclass=$CE -D 4 || return
	wait_job local client 60 || fail "ib_write_bw failed"
	await 20 local rp_held_bytes = 0
	await 20 local rp_limited_qps = 0
	all_accounted() {
		counters local L_
		counters remote R_
		[ "$R_np_cnp_sent" = $((L_rp_cnp_handled + L_rp_cnp_ignored)) ]
	}
	until_ok 5 all_accounted ||
		fail "$R_np_cnp_sent sent, $L_rp_cnp_handled handled, $L_rp_cnp_ignored ignored"
	note "$R_np_ecn_marked_roce_packets marked, $R_np_cnp_sent CNPs, $L_rp_cnp_handled handled"
	check "CNPs" "$R_np_cnp_sent" -ge 3
	check "handled" "$L_rp_cnp_handled" -ge 3
	check "held" "$L_rp_held_packets" -gt 0
	check "held are released or dropped" "$L_rp_held_packets" = \
		$((L_rp_released_packets + L_rp_drop_stale_packets + L_rp_drop_dead_packets))
	check "errors" $((L_qp_errors + L_rp_ect_errors + R_qp_errors + R_np_cnp_errors)) = 0
	check "files that are no plain number" -z \
		"$(on local "cd $(hw local); grep -vE '^[0-9]+\$' *")"
}

run_tests "$@"
