#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Generic netlink: what it accepts, what it says to what it does not accept,
# dumps of many QPs while they are busy, events and tracepoints.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"range Settings take their least and greatest value, and ERANGE is what lies outside"
	"fuzz Wrong types, lengths, values and unknown attributes do nothing"
	"atomic A request is done as a whole or not at all"
	"errors Errors come with a message"
	"unprivileged Anyone may look, only root may set"
	"resume A dump of 100 QPs in small pieces names each once"
	"busy Dumping without a pause does not disturb limited flows"
	"events Cuts and the end of a limiter are told, at a bounded rate"
	"tracepoints Each tracepoint fires"
)

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

atomic() { nl atomic "${DEV[local]}"; }
errors() { nl errors "${DEV[local]}"; }
unprivileged() { nl unprivileged "${DEV[local]}"; }

# As many QPs as perftest makes, each with a CNP
resume()
{
	local n=100 buffer
	reload local
	# none is freed while the others are found
	fixed_rate local 1
	perftest local ib_write_bw -q $n -m 1024 -s 1024 -l 1 -t 1 -u 20 -D 120 || return
	qpns local | sort -n >$TMP/qpns
	check "QPs" "$(wc -l <$TMP/qpns)" = $n
	# their numbers follow each other
	inject local --qpn "$(head -n 1 $TMP/qpns)" --count $n --step 1
	await 20 local rp_limited_qps = $n
	# the kernel fills a page whatever the buffer
	for buffer in 4096 16384 65536; do
		$NL dump $buffer >$TMP/dumped
		cmp -s $TMP/qpns $TMP/dumped ||
			fail "buffer of $buffer: $(diff $TMP/qpns $TMP/dumped | head -n 5)"
	done
}

busy()
{
	local rate out
	reload_both
	fixed_rate local 20
	perftest local ib_write_bw -m 1024 -s 65536 -u 18 -D 60 || return
	cnp local
	await 5 local rp_limited_qps = 1
	start local dumps "$NL dumps 4"
	rate=$(sending_rate local 2)
	note "$rate kb/s of 20000 while dumping"
	check "rate in kb/s" "$rate" -ge 14000
	check "rate in kb/s" "$rate" -le 22000
	wait_job local dumps 20 || fail "dumping failed"
	out=$(on local "cat $TMP/dumps.log")
	note "$out"
}

events()
{
	local out
	reload_both
	fixed_rate local 20
	perftest local ib_write_bw -m 1024 -s 65536 -u 18 -D 60 || return
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
	start local flood "$NL flood 8"
	until_ok 10 on local "grep -q listening $TMP/flood.log" || fail "not listening"
	cnp local --count 4000
	wait_job local flood 20
	out=$(on local "tail -n 1 $TMP/flood.log")
	note "$out, $(counter local rp_cnp_handled) CNPs handled"
	check "events told" "${out#told=}" != 0
	# 100 in 100 ms
	eval "$(tr ' ' '\n' <<<"$out" | sed 's/^/E_/')"
	check "events told" "$E_told" -le 8100
}

tracepoints()
{
	local t=/sys/kernel/tracing n
	mountpoint -q $t || mount -t tracefs none $t || { skip "no tracefs"; return; }
	reload_both
	[ -d $t/events/rdma_dcqcn ] || { skip "a kernel without tracepoints"; return; }
	echo >$t/trace
	fixed_rate local 20
	# the remote host answers marks, and so does the local one to what is marked there
	knobs remote roce_np/min_time_between_cnps=$FAST_CNPS
	echo 1 >$t/events/rdma_dcqcn/enable
	perftest local ib_write_bw -m 1024 -s 65536 -u 18 --tclass=$CE -D 60 || return
	await 10 local rp_cnp_handled -ge 1
	knobs local roce_rp/rpg_time_reset=1000
	sleep 0.2
	knobs local roce_rp/rpg_max_rate=20
	stop_perftest
	perftest remote ib_write_bw -m 1024 -s 65536 --tclass=$CE -D 60 || return
	await 10 local np_cnp_sent -ge 1
	stop_perftest
	await 10 local rp_limited_qps = 0
	echo 0 >$t/events/rdma_dcqcn/enable
	cp $t/trace $TMP/trace
	for n in ce_seen cnp_sent cnp_received rate_cut rate_increase packet_held packet_released \
		flow_born flow_dead; do
		grep -q " $n: dev=${DEV[local]} qpn=" $TMP/trace || fail "no $n"
	done
	grep -q " cnp_received: .* verdict=handled" $TMP/trace || fail "no CNP handled"
	grep -q " rate_increase: .* by=timer kind=" $TMP/trace || fail "no kind of increase"
}

run_tests "$@"
