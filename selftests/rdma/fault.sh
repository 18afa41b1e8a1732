#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Faults on purpose (debugfs), and what becomes of them.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"range Values out of range are refused, and all faults are off at first"
	"drop_cnps CNPs that are to be lost never arrive, the next one does"
	"mark_ce Unmarked packets count as marked, and are answered"
	"delay_resolve A CNP waits for a QP that takes time to be known, and acts"
	"fail_allocs Where there is no memory, nothing is done and the QP works on"
	"unloading The module unloads with all faults on"
)

WRITE="-m 1024 -s 1024 -l 1"

faults() { on "$1" "cat $FAULTS/$2"; }

quiet_qp()
{
	reload_both
	perftest local ib_write_bw $WRITE
}

range()
{
	local name

	reload local
	for name in drop_cnps fail_allocs mark_ce delay_resolve_ms; do
		check "$name at first" "$(faults local $name)" = 0
		fault local $name 4294967296 2>/dev/null && fail "$name takes 2^32"
		fault local $name x 2>/dev/null && fail "$name takes x"
	done
	fault local delay_resolve_ms 1001 2>/dev/null && fail "delay_resolve_ms takes 1001"
	fault local delay_resolve_ms 1000 || fail "delay_resolve_ms does not take 1000"
}

drop_cnps()
{
	quiet_qp || return
	fault local drop_cnps 3
	inject local --qpn "${QPN[local]}" --count 4
	await 10 local rp_cnp_handled = 1
	check "left to be lost" "$(faults local drop_cnps)" = 0
	check "ignored" "$(counter local rp_cnp_ignored)" = 0
	stop_perftest
}

mark_ce()
{
	quiet_qp || return
	check "marked before" "$(counter remote np_ecn_marked_roce_packets)" = 0
	fault remote mark_ce 1
	await 10 remote np_cnp_sent -gt 0
	await 10 local rp_cnp_handled -gt 0
	fault remote mark_ce 0
	stop_perftest
}

delay_resolve()
{
	local began
	quiet_qp || return
	fault local delay_resolve_ms 1000
	began=${EPOCHREALTIME/./}
	cnp local
	await 10 local rp_cnp_handled = 1
	check "us until it is handled" $((${EPOCHREALTIME/./} - began)) -ge 1000000
	check "ignored" "$(counter local rp_cnp_ignored)" = 0
	stop_perftest
}

fail_allocs()
{
	quiet_qp || return
	fault local fail_allocs 1
	cnp local
	await 10 local qp_errors = 1
	check "ignored for want of memory" "$(counter local rp_cnp_ignored)" = 1
	fault local fail_allocs 1
	on local "echo 5 >$(ecn local)/roce_rp/rpg_ai_rate" 2>/dev/null &&
		fail "a knob changed without memory"
	check "left to fail" "$(faults local fail_allocs)" = 0
	fault remote mark_ce 1
	fault remote fail_allocs 1
	# the first is for the entry, or for the CNP
	await 10 remote np_cnp_sent -gt 0
	check "left to fail" "$(faults remote fail_allocs)" = 0
	await 10 local rp_cnp_handled -gt 0
	stop_perftest
}

unloading()
{
	quiet_qp || return
	for host in local remote; do
		fault $host mark_ce 1
		fault $host delay_resolve_ms 200
		fault $host fail_allocs 10
		fault $host drop_cnps 10
	done
	await 10 remote np_ecn_marked_roce_packets -gt 100
	on local "rmmod rdma_dcqcn" || fail "rmmod"
	on remote "rmmod rdma_dcqcn" || fail "rmmod"
	on local "[ ! -e $FAULTS ]" || fail "$FAULTS is still there"
	stop_perftest
}

run_tests "$@"
