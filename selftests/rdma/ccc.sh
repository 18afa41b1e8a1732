#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Congestion control contexts, which bound what is in flight between two hosts that agree.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"agree Two hosts agree, dcqcn ccc says so, and the last QP takes the context along"
	"read READ responses obey the responder's context"
	"tracepoints Contexts have two tracepoints, and both fire"
	"alone A host whose peer has no contexts sends it nothing that it does not know"
	"off_and_on The peer turns contexts off and on while data flows"
	"reloaded The peer unloads the module and loads it again while data flows"
	"forged Forged feedback has no effect"
)

GUESTS_ONLY=reloaded

DCQCN=${DCQCN:-dcqcn}
command -v "$DCQCN" >/dev/null || skip_all "no command dcqcn"

WRITE="-m 1024 -s 65536"

contexts() # HOST ALGORITHMS
{
	knobs "$1" roce_rp/ccc_algorithms="$2" roce_rp/rpg_max_rate=50
}

both_have_contexts()
{
	reload_both
	contexts local 3
	contexts remote 3
}

state() { "$DCQCN" -j ccc dev "${DEV[local]}" | jq -r ".[] | select(.peer == \"${V4[remote]}\").state"; }
is() { [ "$(state)" = "$1" ]; }
becomes() { until_ok 20 is "$1" || fail "the context is \"$(state)\", not $1"; }

# More gets through, with the QP that there was
goes_on()
{
	local bytes
	bytes=$(sent_bytes "${1:-local}")
	until_ok 20 has_sent "${1:-local}" $((bytes + 1000000)) || fail "nothing is sent"
	check "the QP" "$(qpns local)" = "${QPN[local]}" || log_of local client
}

# Feedback comes in time. Only simulated time can judge that: an emulated CPU stands still for
# longer than a timeout takes, which is eight round trips, of some 0.3 ms each.
in_time() # HOST
{
	simulated || return 0
	check "feedback that was ignored" "$(counter "$1" rp_feedback_ignored)" = 0
	check "timeouts" "$(counter "$1" rp_window_timeouts)" = 0
}

agree()
{
	local out
	both_have_contexts
	perftest local ib_write_bw $WRITE || return
	becomes ready
	goes_on
	out=$("$DCQCN" ccc | sed -E "s/${DEV[local]}/DEV/; s/ asks\$//
		s/(base|target|bdp|rtt|delay|flight|window|max|credit|received|granted) -?[0-9.]+[a-zA-Z]+/\1 N/g")
	check "dcqcn ccc" "$out" = "DEV peer ${V4[remote]} local ${V4[local]} prio 0 qps 1 state ready nscc rccc
    line 50mbit base N target N bdp N
    rtt N delay N
    flight N window N max N credit N entropy-changes 0
    received N marked 0B granted N"
	"$DCQCN" -j ccc | jq -e '.[0] | .qps == 1 and .line_rate == 50000000 and
		.algorithms == ["nscc", "rccc"] and .base_rtt <= .rtt and .max_window >= .bdp and
		.window <= .max_window and .entropy_changes == 0' >/dev/null || fail "JSON: $("$DCQCN" -j ccc)"
	check "feedback that was handled" "$(counter local rp_feedback_handled)" -gt 10
	in_time local
	stop_perftest
	await 20 local ccc_contexts = 0
	check "dcqcn ccc without contexts" "$("$DCQCN" -j ccc)" = "[]"
}

read()
{
	both_have_contexts
	perftest local ib_read_bw $WRITE || return
	await 20 remote rp_feedback_handled -gt 10
	goes_on remote
	in_time remote
}

tracepoints()
{
	local t=$TRACING

	both_have_contexts
	has_tracepoints || return
	echo >$t/trace
	echo 1 >$t/events/rdma_dcqcn/enable
	perftest local ib_write_bw $WRITE || return
	becomes ready
	until_ok 10 grep -q " dcqcn_ccc_heard: dev=${DEV[local]} peer=::ffff:${V4[remote]} .* bdp=[1-9]" \
		$t/trace || fail "no dcqcn_ccc_heard"
	grep -q " dcqcn_ccc_agreed: dev=${DEV[local]} peer=::ffff:${V4[remote]} prio=0 algorithms=3 " \
		$t/trace || fail "no dcqcn_ccc_agreed"
	echo 0 >$t/events/rdma_dcqcn/enable
}

alone()
{
	reload_both
	contexts local 3
	simulated || unload remote
	sniff remote 80 $ROCE_FILTER || { fail "no capture"; return; }
	perftest local ib_write_bw $WRITE || return
	await 20 local ccc_contexts = 1
	goes_on
	stop_perftest
	stop remote tcpdump INT
	check "state" "$(state)" != ready
	check "packets sent again" "$(counter local completer_retry_err)" = 0
	on remote "tcpdump -nr $TMP/cap.pcap 'udp[8] == 0xc1' 2>/dev/null" >$TMP/feedback
	check "feedback on the wire: $(head -n 1 $TMP/feedback)" ! -s $TMP/feedback
	# those that ask for it: outside of the ICRC, ignored by the peer
	on remote "tcpdump -nr $TMP/cap.pcap 'udp[12] & 0x30 == 0x30' 2>/dev/null" >$TMP/offers
	check "offers" -s $TMP/offers
}

off_and_on()
{
	both_have_contexts
	perftest local ib_write_bw $WRITE || return
	becomes ready
	contexts remote 0
	becomes idle
	check "timeouts" "$(counter local rp_window_timeouts)" -ge 3
	goes_on
	contexts remote 1
	goes_on
	check "state, with another algorithm" "$(state)" = idle
	contexts remote 3
	becomes ready
	goes_on
}

reloaded()
{
	both_have_contexts
	perftest local ib_write_bw $WRITE || return
	becomes ready
	unload remote
	becomes idle
	goes_on
	load remote
	contexts remote 3
	becomes ready
	goes_on
}

forged()
{
	local handled
	both_have_contexts
	perftest local ib_write_bw $WRITE || return
	becomes ready
	inject local --opcode 193 --count 500
	await 20 local rp_feedback_ignored -ge 500
	handled=$(counter local rp_feedback_handled)
	goes_on
	check "state" "$(state)" = ready
	await 20 local rp_feedback_handled -gt "$handled"
}

run_tests "$@"
