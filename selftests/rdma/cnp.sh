#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The notification point: CE in, CNP out; the bytes of a CNP, and packets without an
# answer. The local host sends marked packets (perftest can set the traffic class, and 3
# is CE), and the remote one answers.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"vector The tests themselves compute the ICRC of a known CNP correctly"
	"bytes A CNP equals the known one, byte for byte, but for addresses and QP"
	"knobs_in_cnps cnp_dscp and cnp_udp_sport appear in CNPs of live flows"
	"priority cnp_802p_prio is the priority that qdiscs and VLANs see"
	"pkey The P_Key is copied from the marked packet"
	"interval Consecutive CNPs of a QP are min_time_between_cnps apart, or little more"
	"disabled No CNP if, and only if, the NP is off for the priority"
	"unmarked No CNP for packets that are not marked"
	"reconnected A UC QP that is reconnected sends its CNPs to the new peer"
	"vlan The first CNP of a QP leaves on the VLAN of the marked packet"
	"unanswered No CNP for marked ACKs, QP1, multicast, unknown QPs, wrong ICRCs"
)

MARKED="-m 1024 -s 65536 --tclass=$CE"

# Disable the sender's reaction point, so that it stays at full speed
fresh() { reload_both; knobs local roce_rp/enable/0=0; }

vector() { $HERE/roce_packet.py selftest || fail "ICRC"; }

expect_cnps() # OPTIONS: see roce_packet.py; the capture is local
{
	local out
	out=$(${PY[local]} expect $TMP/cap.pcap --src "${V4[remote]}" --dst "${V4[local]}" \
	      --qpn "${QPN[local]}" "$@" 2>&1) || { fail "$out"; return 1; }
	note "$out CNPs as expected"
}

capture_cnps() # some CNPs
{
	local sent
	sniff local 0 "$CNP_FILTER"
	sent=$(counter remote np_cnp_sent)
	await 10 remote np_cnp_sent -ge $((sent + 5))
	stop local tcpdump
}

bytes()
{
	fresh
	knobs remote roce_np/min_time_between_cnps=$FAST_CNPS
	perftest local ib_write_bw $MARKED || return
	capture_cnps
	stop_perftest
	expect_cnps --count 3
	counters remote R_
	check "CE packets counted" "$R_np_ecn_marked_roce_packets" -gt "$R_np_cnp_sent"
	check "all of them, and CNPs, of one QP" "$(on remote "$DCQCN -j qp qpn ${QPN[remote]}" |
		jq -r '.[0] | "\(.ecn_marked) \(.cnp_sent)"')" = \
		"$R_np_ecn_marked_roce_packets $R_np_cnp_sent"
	check "no errors" "$R_np_cnp_errors" = 0
	counters local L_
	check "mlx5's optional counters" "$R_cc_rx_ce_pkts $R_cc_tx_cnp_pkts $L_cc_rx_cnp_pkts" = \
		"$R_np_ecn_marked_roce_packets $R_np_cnp_sent $((L_rp_cnp_handled + L_rp_cnp_ignored))"
}

knobs_in_cnps()
{
	fresh
	knobs remote roce_np/min_time_between_cnps=$FAST_CNPS
	perftest local ib_write_bw $MARKED || return
	knobs remote roce_np/cnp_dscp=63 roce_np/cnp_udp_sport=49999
	capture_cnps
	expect_cnps --tos 0xfe --sport 49999 --count 3
	knobs remote roce_np/cnp_dscp=0 roce_np/cnp_udp_sport=0
	capture_cnps
	stop_perftest
	expect_cnps --tos 0x02 --sport 0 --count 3
}

priority()
{
	local nic=${IF[remote]} sent
	fresh
	# only CNPs have priority 2, which is alone in the last band
	knobs remote roce_np/min_time_between_cnps=$FAST_CNPS roce_np/cnp_802p_prio=2
	on remote "tc qdisc replace dev $nic root handle 1: prio bands 3 priomap 1 1 2 1 1 1 1 1 1 1 1 1 1 1 1 1"
	perftest local ib_write_bw $MARKED || return
	await 10 remote np_cnp_sent -ge 5
	stop_perftest
	sent=$(on remote "tc -s class show dev $nic classid 1:3 | sed -n 's/.* \([0-9]*\) pkt.*/\1/p'")
	check "CNPs in the band of priority 2" "$sent" = "$(counter remote np_cnp_sent)"
	on remote "tc qdisc del dev $nic root"
}

pkey()
{
	fresh
	knobs remote roce_np/min_time_between_cnps=0
	perftest local ib_write_bw -m 1024 -s 1024 || return
	sniff local 0 "$CNP_FILTER"
	# rxe drops it, as it has no such key, but the NP has answered by then
	inject remote --opcode 0x0a --tos $CE --pkey 0x7abc --qpn "${QPN[remote]}"
	await 5 remote np_cnp_sent -ge 1
	stop local tcpdump
	expect_cnps --pkey 0x7abc
	check "CNPs" "$(counter remote np_cnp_sent)" = 1
}

read_gaps()
{
	read -r qps cnps two low mean <<<"$(on remote "${PY[remote]} gaps $TMP/cap.pcap")"
	note "$cnps CNPs to $qps QPs; us from one to the next: 95 % above $low, mean $mean, two in a row $two or more"
}

interval()
{
	local us=20000 qps cnps two low mean
	fresh
	knobs remote roce_np/min_time_between_cnps=$us
	perftest local ib_write_bw $MARKED -q 2 || return
	sniff remote 0 "$CNP_FILTER"
	await 20 remote np_cnp_sent -ge 100
	stop remote tcpdump
	read_gaps
	check "QPs" "$qps" = 2
	check "CNPs" "$cnps" -ge 40
	# tcpdump reads its clock a moment after the NP. A hypervisor that takes the CPU away in
	# between makes one gap long and the next one short, so pairs of gaps are judged, and a
	# few may fail.
	check "least of two gaps" "$two" -ge $((us * 3 / 2))
	check "all but a twentieth of the gaps" "$low" -ge $((us - us / 20))
	check "mean gap" "$mean" -ge $((us - us / 100))
	# the next mark comes soon, even to a QP at its least rate
	check "mean gap, no longer" "$mean" -le $((us * 3 / 2))

	knobs remote roce_np/min_time_between_cnps=0
	sniff remote 0 "$CNP_FILTER"
	await 20 remote np_cnp_sent -ge 300
	stop remote tcpdump
	stop_perftest
	read_gaps
	check "CNPs with no interval" "$cnps" -ge 40
	check "gaps with no interval" "$two" -lt $((us / 2))
}

# CNPs sent while at least 500 more marked packets arrive
cnps_meanwhile()
{
	local cnps marked
	cnps=$(counter remote np_cnp_sent)
	marked=$(counter remote np_ecn_marked_roce_packets)
	await 10 remote np_ecn_marked_roce_packets -ge $((marked + 500))
	CNPS=$(($(counter remote np_cnp_sent) - cnps))
}

disabled()
{
	fresh
	knobs remote roce_np/min_time_between_cnps=0 roce_np/enable/0=0
	perftest local ib_write_bw $MARKED || return
	cnps_meanwhile
	check "CNPs with the NP off" $CNPS = 0
	knobs remote roce_np/enable/0=1 roce_np/enable/{1..7}=0
	cnps_meanwhile
	check "CNPs with the NP on" $CNPS -gt 0
	stop_perftest
	# DSCP 40 is priority 5, and 163 its traffic class with CE
	perftest local ib_write_bw -m 1024 -s 65536 --tclass=163 || return
	cnps_meanwhile
	check "CNPs with the NP off on priority 5" $CNPS = 0
	knobs remote roce_np/enable/5=1 roce_np/enable/0=0
	cnps_meanwhile
	check "CNPs with the NP on on priority 5" $CNPS -gt 0
}

unmarked()
{
	local class
	reload_both
	knobs remote roce_np/min_time_between_cnps=0
	for class in 0 1; do		# which become and stay ECT
		perftest local ib_write_bw -m 1024 -s 65536 -D 4 --tclass=$class || return
		wait_job local client 30 || fail "traffic class $class: ib_write_bw failed"
	done
	check "marked" "$(counter remote np_ecn_marked_roce_packets)" = 0
	check "CNPs" "$(counter remote np_cnp_sent)" = 0
}

# A local QP that receives only packets of inject(): idle_qp GID-INDEX ADDRESS-OF-PEER [uc]
idle_qp()
{
	[ -x "$HERE/qps" ] || { fail "qps is not built"; return 1; }
	start local qps "exec stdbuf -oL $HERE/qps ${DEV[local]} $1 ::ffff:$2 1 $3"
	until_ok 5 grep -q ready $TMP/qps.log || { fail "no QP"; log_of local qps; return 1; }
	QPN[local]=$(head -n 1 $TMP/qps.log)
}

UC_WRITE_ONLY=0x2a

cnps_to() # PEER'S QPN: return true if the capture has a CNP to it
{
	${PY[local]} list $TMP/cap.pcap | grep -q "opcode=0x81 .*qpn=$(printf %#08x "$1")"
}

reconnected()
{
	reload_both
	knobs local roce_np/min_time_between_cnps=0
	idle_qp "${GID4[local]}" "${V4[remote]}" uc || return
	sniff local 0 "$CNP_FILTER"
	# ten a second, so that the port never forgets the QP
	start remote marks "exec $(injection local --opcode $UC_WRITE_ONLY --tos $CE \
		--qpn "${QPN[local]}" --count 100000 --gap 100)"
	until_ok 5 cnps_to "${QPN[local]}" || fail "no CNP to the first peer"
	on local "kill -USR1 \$(cat $TMP/qps.pid)"
	until_ok 5 cnps_to $((QPN[local] + 1)) || fail "no CNP to the second peer"
	stop local tcpdump
}

vlan()
{
	local host n=0 nic=${IF[local]} gid

	for host in local remote; do
		n=$((n + 1))
		on $host "ip link add link ${IF[$host]} name ${IF[$host]}.7 type vlan id 7 &&
			  ip addr add 10.107.0.$n/24 dev ${IF[$host]}.7 &&
			  ip link set ${IF[$host]}.7 up" || fail "no VLAN on $host"
	done
	# also resolves the neighbours, so that the first packet leaves at once
	on local "ping -c 1 -W 5 10.107.0.2 >/dev/null" || fail "the VLAN does not work"
	gid=$(${PY[local]} gid-index "${DEV[local]}" 10.107.0.1)
	reload local
	knobs local roce_np/min_time_between_cnps=0
	if idle_qp "$gid" 10.107.0.2; then
		IF[local]=$nic.7
		sniff local 0 "$CNP_FILTER"
		IF[local]=$nic
		# an unexpected READ response, which rxe ignores; a WRITE would end the QP
		on remote "${PY[remote]} send ${IF[remote]}.7 --src 10.107.0.2 --dst 10.107.0.1 \
			   --mac ${MAC[local]} --opcode 0x10 --tos $CE --qpn ${QPN[local]}"
		await 5 local np_cnp_sent -ge 1
		until_ok 2 cnps_to "${QPN[local]}" || fail "no CNP on the VLAN"
		stop local tcpdump
		check "CNPs" "$(counter local np_cnp_sent)" = 1
		check "errors" "$(counter local np_cnp_errors)" = 0
	fi
	stop_jobs KILL
	for host in local remote; do
		on $host "ip link del ${IF[$host]}.7"
	done
}

unanswered()
{
	fresh
	knobs remote roce_np/min_time_between_cnps=0
	perftest local ib_write_bw -m 1024 -s 1024 || return
	inject remote --opcode 0x11 --tos $CE --qpn "${QPN[remote]}"
	await 5 remote np_ecn_marked_roce_packets = 1
	inject remote --opcode 0x0a --tos $CE --qpn 1
	inject remote --opcode 0x64 --tos $CE --qpn 1 --ud-src 1
	inject remote --opcode 0x64 --tos $CE --qpn 0xffffff --ud-src 17
	inject remote --opcode 0x0a --tos $CE --qpn 0xabcdef
	inject remote --opcode 0x0a --tos $CE --qpn "${QPN[remote]}" --src 10.0.0.77
	inject remote --opcode 0x64 --tos $CE --qpn "${QPN[remote]}" --ud-src 17
	check "wrong ICRCs so far" "$(counter remote np_icrc_errors)" = 0
	inject remote --opcode 0x0a --tos $CE --qpn "${QPN[remote]}" --bad-icrc
	await 5 remote np_icrc_errors = 1
	check "CNPs" "$(counter remote np_cnp_sent)" = 0
	# and one that is answered, to show that the others could have been
	inject remote --opcode 0x0a --tos $CE --qpn "${QPN[remote]}"
	await 5 remote np_cnp_sent -ge 1
	stop_perftest
}

run_tests "$@"
