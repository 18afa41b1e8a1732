#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tracepoints with common tracers: each must show that a CNP for a QP is handled, and
# how it changes the rate.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"perf perf record and perf script"
	"trace_cmd trace-cmd record and report"
	"bpftrace bpftrace counts and reads the arguments"
)

PATH=$PATH:/usr/sbin

# A flow of 20 Mb/s that gets CNPs all the time
flow()
{
	type -P "$1" >/dev/null || { fail "no $1"; return 1; }
	reload local
	has_tracepoints || return
	fixed_rate local 20
	perftest local ib_write_bw -m 1024 -s 65536 || return
	trickle local --qpn "${QPN[local]}"
	await 10 local rp_cnp_handled -ge 1
}

# Print lines about the flow's QP
has() # FILE PATTERN
{
	grep -qE "$2" "$1" || fail "no \"$2\" in: $(head -n 20 "$1")"
}

DEV_QP() { echo "dev=${DEV[local]} qpn=${QPN[local]}"; }

perf()
{
	flow perf || return
	command perf record -q -e 'rdma_dcqcn:dcqcn_cnp_received,rdma_dcqcn:dcqcn_rate_cut' -a -o $TMP/perf.data \
		sleep 1 >$TMP/perf.log 2>&1 || fail "perf: $(cat $TMP/perf.log)"
	command perf script -i $TMP/perf.data >$TMP/perf.txt 2>>$TMP/perf.log
	has $TMP/perf.txt "rdma_dcqcn:dcqcn_cnp_received: $(DEV_QP) .*verdict=handled"
	has $TMP/perf.txt "rdma_dcqcn:dcqcn_rate_cut: $(DEV_QP) .*rate="
}

trace_cmd()
{
	flow trace-cmd || return
	trace-cmd record -q -e rdma_dcqcn -o $TMP/trace.dat sleep 1 >$TMP/trace.log 2>&1 ||
		fail "trace-cmd: $(cat $TMP/trace.log)"
	trace-cmd report -i $TMP/trace.dat >$TMP/trace.txt 2>>$TMP/trace.log
	has $TMP/trace.txt "cnp_received: +$(DEV_QP) .*verdict=handled"
	has $TMP/trace.txt "packet_released: +$(DEV_QP) "
}

bpftrace()
{
	flow bpftrace || return
	# it needs the kernel's headers, and finds them by a link that not every root file system
	# has
	local modules=/lib/modules/$(uname -r)
	[ -e "$modules/build" ] || { skip "this kernel has no headers"; return; }
	[ -e "$modules/source" ] ||
		export BPFTRACE_KERNEL_BUILD=$modules/build \
			BPFTRACE_KERNEL_SOURCE=/usr/src/linux-headers-$(uname -r | sed 's/[^-]*$/common/')
	timeout 120 bpftrace -e '
		tracepoint:rdma_dcqcn:dcqcn_cnp_received { @cnps[args->qpn] = count(); }
		tracepoint:rdma_dcqcn:dcqcn_rate_cut { @rate[args->qpn] = args->rate; }
		interval:s:2 { exit(); }' >$TMP/bpf.txt 2>&1 || fail "bpftrace"
	has $TMP/bpf.txt "@cnps\[${QPN[local]}\]: [1-9]"
	has $TMP/bpf.txt "@rate\[${QPN[local]}\]: [1-9]"
}

run_tests "$@"
