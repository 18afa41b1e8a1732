#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CNPs that must be ignored, UDP that must be left alone, and proof that rxe never sees a
# CNP. The remote host sends them to a live QP of the local one.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

DCQCN=${DCQCN:-dcqcn}

TESTS=(
	"icrc A CNP with a wrong ICRC is ignored"
	"length CNPs that are too short or too long are ignored"
	"source_address A CNP that is not from the QP's peer is ignored"
	"qpn CNPs to QPs that do not exist, QP0, QP1 and multicast are ignored"
	"flood CNPs to thousands of QPs that do not exist cost bounded memory"
	"storm Packets of all sorts, good and bad, do no harm"
	"floor A flood of valid CNPs slows a QP to its floor and no further"
	"rxe No CNP, good or bad, reaches rxe"
	"udp_elsewhere UDP to port 4791 on other devices passes unchanged"
	"udp_out UDP to port 4791 from other sockets leaves unchanged"
)

GUESTS_ONLY=rxe			# User-mode Linux has no kprobes

# A QP with little traffic, so that a limit would show
quiet_qp()
{
	reload_both
	knobs local roce_rp/start_burst=0	# or each pause would be followed by a start
	perftest local ib_write_bw -m 1024 -s 1024 -l 1
}

# ignored N COMMAND...: the command causes N ignored CNPs and nothing else
ignored()
{
	local n=$1; shift
	counters local B_
	"$@"
	await 20 local rp_cnp_ignored -ge $((B_rp_cnp_ignored + n))
	counters local A_
	check "ignored by: $*" $((A_rp_cnp_ignored - B_rp_cnp_ignored)) = "$n"
	check "handled by: $*" "$A_rp_cnp_handled" = "$B_rp_cnp_handled"
	check "limited by: $*" "$A_rp_limited_qps" = 0
}

# Finally a valid one, to show that the others could have done harm
good_one()
{
	cnp local
	await 20 local rp_cnp_handled -ge 1
	stop_perftest
}

icrc()
{
	quiet_qp || return
	ignored 1 cnp local --bad-icrc
	good_one
}

length()
{
	local n
	quiet_qp || return
	# of the UDP payload; 32 is right
	for n in 1 4 11 12 16 28 31 33 36 64 1000; do
		ignored 1 cnp local --length $n
	done
	good_one
}

source_address()
{
	quiet_qp || return
	ignored 1 inject local --qpn "${QPN[local]}" --src 10.0.0.77
	V=6 ignored 1 inject local --qpn "${QPN[local]}"
	good_one
}

qpn()
{
	local n
	quiet_qp || return
	for n in 0 1 0xffffff 0x800000 $((QPN[local] + 1)); do
		ignored 1 inject local --qpn "$n"
	done
	# while it is known that there is no such QP, another one
	ignored 1 inject local --qpn 0x800000
	good_one
}

# COMMAND...: entries for unknown QPs stay unknown meanwhile
unresolved()
{
	delay local 1000
	"$@"
	await 20 local qp_errors -gt 0
	delay local 0
}

flood()
{
	quiet_qp || return
	ignored 3000 unresolved inject local --qpn 0x10000 --step 7 --count 3000
	# 1024 there may be; an entry that could not be made is an error, and the QP works on
	check "entries refused" "$(counter local qp_errors)" -gt 1000
	good_one
}

storm()
{
	local to
	quiet_qp || return
	# from an unused address, as rxe itself trusts the peer's
	for to in local remote; do
		on "$(other $to)" "$(injection $to --src 10.0.0.77 --count 2000 |
			sed 's/ send / storm /')"
		on "$(other $to)" "$(V=6; injection $to --src fd00::77 --count 2000 |
			sed 's/ send / storm /')"
	done
	check "ignored" "$(counter local rp_cnp_ignored)" -gt 0
	good_one
}

floor()
{
	local n
	quiet_qp || return
	# Seconds of fast recovery, to what the floor has made of the target: what the rate
	# is like does not depend on when it is looked at
	knobs local roce_rp/rpg_min_rate=3 roce_rp/rpg_time_reset=131071 roce_rp/rpg_byte_reset=0 \
		roce_rp/rate_reduce_monitor_period=1 roce_rp/rpg_threshold=31 roce_rp/clamp_tgt_rate=1
	inject local --qpn "${QPN[local]}" --count 2000
	await 20 local rp_cnp_handled -ge 2000
	n=$("$DCQCN" -j qp | jq ".[] | select(.lqpn == ${QPN[local]}) | .rate")
	check "bit/s after it" "$n" -ge 3000000
	check "bit/s after it" "$n" -lt 6000000
	stop_perftest
}

rxe()
{
	local events=$TRACING before
	on local "mountpoint -q $events || mount -t tracefs none $events" || { fail "no tracefs"; return; }
	on local "[ -e $events/kprobe_events ]" || { skip "this kernel has no kprobes"; return; }
	on local "echo p:dcqcn_test rxe_udp_encap_recv >>$events/kprobe_events" ||
		{ fail "no kprobe of rxe_udp_encap_recv"; return; }
	seen() { on local "awk '\$1 == \"dcqcn_test\" { print \$2 }' $events/kprobe_profile"; }
	seen_by_rxe() {	# COMMAND...: how many packets rxe gets meanwhile
		local before
		before=$(seen)
		"$@"
		SEEN_NOW=$(($(seen) - before))
	}
	on local "echo 1 >$events/events/kprobes/dcqcn_test/enable"
	reload local
	unload remote		# nothing on the wire but what is injected
	ignored 1 inject local --qpn 17
	seen_by_rxe ignored 5 inject local --qpn 17 --count 5
	check "rxe saw of good CNPs" $SEEN_NOW = 0
	seen_by_rxe ignored 1 inject local --qpn 17 --bad-icrc
	check "rxe saw of a wrong ICRC" $SEEN_NOW = 0
	seen_by_rxe ignored 1 inject local --qpn 0xffffff --length 1
	check "rxe saw of one byte" $SEEN_NOW = 0
	V=6 seen_by_rxe ignored 1 inject local --qpn 17
	check "rxe saw of IPv6" $SEEN_NOW = 0
	# without the module it does see them
	unload local
	before=$(seen)
	inject local --qpn 17
	one_more() { [ "$(seen)" = $((before + 1)) ]; }
	until_ok 5 one_more || fail "rxe saw $(($(seen) - before)) of one CNP without the module"
	on local "echo 0 >$events/events/kprobes/dcqcn_test/enable
		  echo -:dcqcn_test >>$events/kprobe_events"
}

# Datagrams that begin like a CNP, between this namespace and another one,
# over devices without rxe
udp_elsewhere()
{
	local cnp=8100ffff4000001100000000
	cnp+=0000000000000000000000000000000000000000
	reload local
	counters local B_
	on local "ip netns add dcqcn && ip link add dcqcn0 type veth peer name dcqcn1 netns dcqcn &&
		  ip addr add 10.9.0.1/24 dev dcqcn0 && ip link set dcqcn0 up &&
		  ip -n dcqcn addr add 10.9.0.2/24 dev dcqcn1 && ip -n dcqcn link set dcqcn1 up &&
		  ip -n dcqcn link set lo up" || fail "veth"
	start local receiver "exec ip netns exec dcqcn ${PY[local]} udp recv 10.9.0.2 4791"
	until_ok 10 on local "ip netns exec dcqcn ss -Hlun sport = :4791 | grep -q ."
	on local "${PY[local]} udp send 10.9.0.2 4791 $cnp"
	wait_job local receiver 20 || fail "not received"
	check "received over veth" "$(on local "cat $TMP/receiver.log")" = "$cnp 0"
	start local receiver "exec ip netns exec dcqcn ${PY[local]} udp recv 127.0.0.1 4791"
	until_ok 10 on local "ip netns exec dcqcn ss -Hlun sport = :4791 | grep -q ."
	on local "ip netns exec dcqcn ${PY[local]} udp send 127.0.0.1 4791 $cnp"
	wait_job local receiver 20 || fail "not received"
	check "received over lo" "$(on local "cat $TMP/receiver.log")" = "$cnp 0"
	# and towards rxe's own port, by a device that is not rxe's
	on local "ip netns exec dcqcn ${PY[local]} udp send 10.9.0.1 4791 $cnp"
	on local "ip netns del dcqcn"
	counters local A_
	check "taken for CNPs" "$A_rp_cnp_ignored" = "$B_rp_cnp_ignored"
}

udp_out()
{
	local payload out
	reload_both
	sniff remote 0 "$ROCE_FILTER"
	# a CNP and a WRITE, as an application might send them
	for payload in 8100ffff40000011000000000000000000000000 \
		       0a00ffff00000011000000000000000000000000; do
		on local "${PY[local]} udp send ${V4[remote]} 4791 $payload"
		on local "${PY[local]} udp send ${V6[remote]} 4791 $payload"
	done
	until_ok 10 on remote "[ \$(${PY[remote]} list $TMP/cap.pcap | wc -l) -ge 4 ]" ||
		fail "not all arrived"
	stop remote tcpdump
	out=$(on remote "${PY[remote]} list $TMP/cap.pcap")
	check "arrived unmarked" "$(grep -c tos=0x00 <<<"$out")" = 4
	check "arrived with opcode 0x81" "$(grep -c opcode=0x81 <<<"$out")" = 2
}

run_tests "$@"
