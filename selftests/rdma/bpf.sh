#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Congestion control algorithms in eBPF, and in modules of their own. On kernels that cannot have
# those in eBPF, dcqcn says so.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

OWN="swift timely dctcp fast fast-oneway hpcc powertcp"	# of the module

TESTS=(
	"refused Programs that write elsewhere, or do not end, are refused"
	"obeyed A flow obeys an algorithm in eBPF, which goes while it runs, and comes back"
	"module A flow obeys an algorithm in a module of its own, which goes while it runs"
	"same An algorithm does the same in eBPF and as part of the module"
	"hostile An algorithm without rate and window is slow, and harms nothing"
)

GUESTS_ONLY="refused obeyed module same hostile"

DCQCN=${DCQCN:-dcqcn}
command -v "$DCQCN" >/dev/null || skip_all "no command dcqcn"

BPF=$(realpath "$(dirname "$0")/bpf")

# cc_load NAME: whether it was loaded; what it said is in $OUT
cc_load() { OUT=$("$DCQCN" cc load "$BPF/$1.bpf.o" 2>&1); }

# There are algorithms in eBPF; or else it is as it should be that there are none
begin()
{
	reload_both
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
	! grep -q " __register_bpf_struct_ops" /proc/kallsyms || return 0
	! cc_load aimd || fail "an algorithm in eBPF is loaded"
	[[ $OUT == *"does not support algorithms in eBPF"* ]] || fail "$OUT"
	return 1
}

has() { "$DCQCN" cc list | grep -q "^$1\b"; }

refused()
{
	begin || return
	! cc_load line || fail "it may write the line rate"
	[[ $OUT == *"only rate, next_call, window, path and private"* ]] || fail "$OUT"
	! cc_load loop || fail "it need not end"
	[[ $OUT == *"infinite loop"* ]] || fail "$OUT"
	! has line && ! has loop || fail "$("$DCQCN" cc list)"
}

goes_on()
{
	local bytes
	bytes=$(sent_bytes local)
	until_ok 30 has_sent local $((bytes + ${1:-300000})) || fail "nothing is sent"
	check "the QP" "$(qpns local)" = "${QPN[local]}" || log_of local client
}

obeyed()
{
	local alg
	begin || return
	knobs local roce_rp/rpg_max_rate=50
	for alg in aimd $OWN; do
		cc_load $alg || fail "$OUT"
		has $alg-bpf || fail "$("$DCQCN" cc list)"
	done
	! cc_load aimd || fail "it is loaded twice"
	"$DCQCN" cc use aimd-bpf dev "${DEV[local]}" || fail "it cannot be used"
	perftest local ib_write_bw -m 1024 -s 65536 || return
	until_ok 10 limited || fail "$("$DCQCN" qp)"
	goes_on
	"$DCQCN" cc use swift-bpf dev "${DEV[local]}" || fail "it cannot be used"
	goes_on
	! rmmod rdma_dcqcn 2>/dev/null || fail "the module goes before its algorithms"
	"$DCQCN" cc unload swift || fail "it cannot go"
	! has swift-bpf || fail "it is there: $("$DCQCN" cc list)"
	goes_on
	cc_load swift || fail "it does not come back: $OUT"
	goes_on
	stop_perftest
	for alg in aimd $OWN; do
		"$DCQCN" cc unload $alg || fail "$alg cannot go"
	done
	! "$DCQCN" cc unload aimd 2>/dev/null || fail "it goes twice"
}

module()
{
	reload_both
	knobs local roce_rp/rpg_max_rate=50
	insmod "$BPF/cc/aimd.ko" || { fail "$(dmesg | tail -n 4)"; return; }
	"$DCQCN" cc use aimd dev "${DEV[local]}" || fail "it cannot be used"
	perftest local ib_write_bw -m 1024 -s 65536 || return
	until_ok 10 limited || fail "$("$DCQCN" qp)"
	goes_on
	rmmod aimd || fail "it cannot go"
	! has aimd || fail "it is there: $("$DCQCN" cc list)"
	goes_on
	stop_perftest
}

twin() { cat "/sys/module/twin/parameters/$1"; }

twins_met() { [ "$(twin events)" -ge 500 ] && [ "$(twin losses)" -gt 0 ]; }

# Of each algorithm, 500 events of a real flow, of which some are losses
same()
{
	local alg
	begin || return
	tc qdisc add dev "${IF[local]}" root netem loss 1%
	perftest local ib_write_bw -m 1024 -s 65536 || return
	for alg in $OWN; do
		insmod "$BPF/twin.ko" "algorithm=$alg" || { fail "$alg"; break; }
		cc_load $alg || { fail "$OUT"; rmmod twin; break; }
		"$DCQCN" cc use twin dev "${DEV[local]}" || fail "twin cannot be used"
		until_ok 60 twins_met || fail "$alg: $(twin events) events, $(twin losses) losses"
		"$DCQCN" cc use dcqcn dev "${DEV[local]}"
		note "$alg: $(twin events) events, $(twin losses) losses, $(twin changes) changes"
		check "$alg's differences" "$(twin differences)" = 0
		check "$alg's changes" "$(twin changes)" -gt 10
		rmmod twin
		"$DCQCN" cc unload $alg || fail "$alg cannot go"
	done
	stop_perftest
	tc qdisc del dev "${IF[local]}" root
}

limited() { "$DCQCN" -j qp | jq -e '.[] | select(.state == "limited")' >/dev/null; }

hostile()
{
	begin || return
	cc_load zero || fail "$OUT"
	"$DCQCN" cc use zero-bpf dev "${DEV[local]}"
	perftest local ib_write_bw -m 1024 -s 4096 || return
	goes_on 20000
	"$DCQCN" cc use dcqcn dev "${DEV[local]}"
	goes_on 1000000
	stop_perftest
	"$DCQCN" cc unload zero || fail "it cannot go"
}

run_tests "$@"
