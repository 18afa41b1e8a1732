#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Generic netlink: valid and invalid requests, dumps of many busy QPs, events and
# tracepoints.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

PROFILE=sigcomm15

TESTS=(
	"range Settings take their lowest and highest value; others give ERANGE"
	"fuzz Wrong types, lengths, values and unknown attributes do nothing"
	"atomic A request takes effect as a whole or not at all"
	"errors Errors come with a message"
	"unprivileged Any user may read, only root may set"
	"many A dump has each of 10,000 flows once, and does not slow down those that send"
	"events Cuts and ends of limiters are reported, at a bounded rate"
	"tracepoints Each tracepoint fires"
)

GUESTS_ONLY=many		# it dumps without a pause

NL="python3 $HERE/netlink.py"

# nl COMMAND ARGS: must succeed and say nothing
nl()
{
	local out
	out=$($NL "$@" 2>&1) || fail "netlink.py $*: ${out:-no output}"
}

range()
{
	reload local
	nl range "${DEV[local]}"
}

fuzz()
{
	reload local
	nl fuzz "${DEV[local]}"
}

atomic()
{
	reload local
	nl atomic "${DEV[local]}"
}

errors()
{
	reload local
	nl errors "${DEV[local]}"
}

unprivileged()
{
	reload local
	nl unprivileged "${DEV[local]}"
}

# Make the module find each QP by a CNP, and free none meanwhile. It looks up only some at a
# time and ignores CNPs for others: send those again.
find_flows() # FIRST COUNT
{
	local i

	for i in {1..100}; do
		inject local --qpn "$1" --count "$2" --step 1
		PATIENCE=1 until_ok 1 counter_is local rp_limited_qps = "$2" && return
	done
	fail "$(counter local rp_limited_qps) of $2 flows"
}

FLOWS=10000
many()
{
	local buffer rate alone
	[ -x "$HERE/qps" ] || { fail "no program qps"; return; }
	reload_both
	# CNPs bring it down to that, each by half
	fixed_rate local 5
	knobs local roce_rp/rate_reduce_monitor_period=1
	perftest local ib_write_bw -m 1024 -s 65536 || return
	# which polls, and is not needed for now
	on local "kill -STOP \$(cat $TMP/client.pid)"
	start local qps "exec $HERE/qps ${DEV[local]} ${GID4[local]} ::ffff:${V4[remote]} $FLOWS"
	until_ok 120 on local "grep -q ready $TMP/qps.log" || { fail "$(tail -n 1 $TMP/qps.log)"; return; }
	note "$((SECONDS - began)) s"
	sort -n <(grep '^[0-9]' $TMP/qps.log) >$TMP/qpns
	# their numbers follow each other
	find_flows "$(head -n 1 $TMP/qpns)" $FLOWS
	note "$((SECONDS - began)) s"
	# the kernel fills a page whatever the buffer
	for buffer in 4096 65536; do
		$NL dump $buffer | sort -n >$TMP/dumped
		cmp -s $TMP/qpns $TMP/dumped ||
			fail "buffer of $buffer: $(diff $TMP/qpns $TMP/dumped | head -n 5)"
	done
	note "$((SECONDS - began)) s"
	on local "kill -CONT \$(cat $TMP/client.pid)"
	cnp local --count 20
	await 20 local rp_limited_qps = $((FLOWS + 1))
	alone=$(sending_rate local 2)
	# it should compete for locks, not for CPUs
	start local dumps "exec nice -n 19 $NL dumps"
	until_ok 10 on local "grep -q dumping $TMP/dumps.log"
	cnp local --count 20
	rate=$(sending_rate local 2)
	# a slow host took longer to dump them once
	until_ok 20 on local "grep -q ^[0-9] $TMP/dumps.log" || fail "no QPs dumped"
	stop local dumps
	note "$alone kb/s, and $rate while all is dumped, $(tail -n 1 $TMP/dumps.log) QPs so far"
	check "rate in kb/s" "$rate" -ge $((alone / 2))
}

events()
{
	local out ms
	reload_both
	fixed_rate local 20
	perftest local ib_write_bw -m 1024 -s 65536 || return
	start local events "$NL events 20"
	until_ok 10 on local "grep -q listening $TMP/events.log" || fail "not listening"
	cnp local
	await 5 local rp_limited_qps = 1
	knobs local roce_rp/rpg_max_rate=20
	await 5 local rp_limited_qps = 0
	stop local events
	out=$(on local "cat $TMP/events.log")
	grep -q "dev=${DEV[local]} qpn=${QPN[local]} event=0 old=.* rate=20000000 " <<<"$out" ||
		fail "no cut: $out"
	grep -q "dev=${DEV[local]} qpn=${QPN[local]} event=1 " <<<"$out" || fail "no end: $out"

	# a cut per CNP
	knobs local roce_rp/rpg_max_rate=0 roce_rp/rate_reduce_monitor_period=1
	start local flood "$NL flood 600"
	until_ok 10 on local "grep -q listening $TMP/flood.log" || fail "not listening"
	ms=$((10#${EPOCHREALTIME/./} / 1000))
	cnp local --count 4000
	await 20 local rp_cnp_handled = 4001
	ms=$((10#${EPOCHREALTIME/./} / 1000 - ms))
	# the end of the limiter, in a later period, tells how many were suppressed
	sleep 0.2
	knobs local roce_rp/rpg_max_rate=20
	wait_job local flood 20 || fail "not told of the end"
	out=$(on local "tail -n 1 $TMP/flood.log")
	note "$out, 4000 CNPs in $ms ms"
	eval "$(tr ' ' '\n' <<<"$out" | sed 's/^/E_/')"
	# 100 in 100 ms, and in the periods that begin or end meanwhile; and the end
	check "events told" "$E_told" -le $((ms + 201))
	# CNPs less than 1 us apart cause one cut
	check "events told and suppressed" $((E_told + E_suppressed)) -ge 2000
	check "events told and suppressed" $((E_told + E_suppressed)) -le 4001
}

tracepoints()
{
	local t=$TRACING n
	reload_both
	has_tracepoints || return
	echo >$t/trace
	# names that programs cannot resolve
	grep -l "print fmt:.*DCQCN_" $t/events/rdma_dcqcn/*/format && fail "formats not for programs"
	fixed_rate local 20
	# the remote host answers marks, and so does the local one to what is marked there
	knobs remote roce_np/min_time_between_cnps=$FAST_CNPS
	echo 1 >$t/events/rdma_dcqcn/enable
	perftest local ib_write_bw -m 1024 -s 65536 --tclass=$CE || return
	await 10 local rp_cnp_handled -ge 1
	knobs local roce_rp/rpg_time_reset=1000
	until_ok 10 on local "grep -q dcqcn_rate_increase $t/trace" || fail "no increase"
	knobs local roce_rp/rpg_max_rate=20
	stop_perftest
	await 10 local rp_limited_qps = 0
	# Marks come in thousands, and the buffer forgets what is older.
	cp $t/trace $TMP/trace
	echo >$t/trace
	perftest remote ib_write_bw -m 1024 -s 65536 --tclass=$CE || return
	await 10 local np_cnp_sent -ge 1
	stop_perftest
	echo 0 >$t/events/rdma_dcqcn/enable
	cat $t/trace >>$TMP/trace
	for n in ce_seen cnp_sent cnp_received rate_cut rate_increase packet_held packet_released \
		flow_born flow_dead; do
		grep -q " dcqcn_$n: dev=${DEV[local]} qpn=" $TMP/trace || fail "no $n"
	done
	grep -q " dcqcn_cnp_received: .* verdict=handled" $TMP/trace || fail "no CNP handled"
	grep -q " dcqcn_rate_increase: .* by=timer kind=" $TMP/trace || fail "no kind of increase"
}

run_tests "$@"
