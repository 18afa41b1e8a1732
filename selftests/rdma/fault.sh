#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fault injection by debugfs: the RDMA core takes long to describe a QP.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

PROFILE=sigcomm15

TESTS=(
	"range Values out of range are refused, and the fault is off when the module is loaded"
	"delay_resolve A CNP waits until its QP is resolved, and then acts"
	"starts A QP that sends before it is resolved has a start, and a CNP waits meanwhile"
	"unloading The module unloads while it waits for the RDMA core"
)

WRITE="-m 1024 -s 1024 -l 1"

quiet_qp()
{
	reload_both
	perftest local ib_write_bw $WRITE "$@"
}

range()
{
	local value

	reload local
	check "at the beginning" "$(on local "cat $FAULTS/delay_resolve_ms")" = 0
	for value in 4294967296 1001 x -1; do
		delay local $value 2>/dev/null && fail "delay_resolve_ms takes $value"
	done
	delay local 1000 || fail "delay_resolve_ms does not take 1000"
}

delay_resolve()
{
	local began
	quiet_qp || return
	delay local 1000
	began=10#${EPOCHREALTIME/./}
	cnp local
	await 10 local rp_cnp_handled = 1
	check "us until it is handled" $((10#${EPOCHREALTIME/./} - began)) -ge 1000000
	check "ignored" "$(counter local rp_cnp_ignored)" = 0
	stop_perftest
}

# A start waits for an ACK of its burst, and holds what follows. On an emulated host, a second may be
# over before anybody looks.
starts()
{
	quiet_qp || return
	delay local 1000
	cnp local
	knobs local roce_rp/start_burst=4096
	sleep 0.2
	if simulated; then
		check "CNPs handled before that" "$(counter local rp_cnp_handled)" = 0
		check "held" "$(counter local rp_held_packets)" -gt 0
	fi
	await 10 local rp_cnp_handled = 1
	stop_perftest
}

unloading()
{
	quiet_qp --tclass=$CE || return
	delay local 1000
	delay remote 1000
	await 10 remote np_ecn_marked_roce_packets -gt 10
	cnp local
	unload local || fail "rmmod"
	unload remote || fail "rmmod"
	on local "[ ! -e $FAULTS ]" || fail "$FAULTS is still there"
	stop_perftest
}

run_tests "$@"
