#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs for real NICs work unchanged: perftest's counter reports, scripts for the ecn/
# directories, and exporters that read every counter file.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"report_counters ib_write_bw --report-counters shows the counters of both ends"
	"mlnx A script for the ecn/ files of NICs sets and reads back"
	"exporter Every counter file is one plain number, as exporters want it"
)

GUESTS_ONLY=report_counters

report_counters()
{
	local list=hw_counters/rp_cnp_handled,hw_counters/np_cnp_sent
	reload_both
	perftest local ib_write_bw -m 1024 -s 65536 --tclass=$CE -D 5 \
		--report-counters=$list || return
	wait_job local client 90 || fail "ib_write_bw failed"
	wait_job remote server 20 || fail "ib_write_bw failed at the server"
	check "CNPs handled" "$(reported local client rp_cnp_handled)" -ge 1
	check "CNPs sent" "$(reported remote server np_cnp_sent)" -ge 1
}
reported() # HOST JOB COUNTER
{
	on "$1" "grep -oE $3[^0-9]*[0-9]+ $TMP/$2.log | grep -oE [0-9]+$ | tail -n 1"
}

# As in administrators' scripts for NICs
mlnx()
{
	reload local
	cat >$TMP/mlnx.sh <<-'END'
	set -e
	dev=$1 prio=3 gap=50
	for role in roce_np roce_rp; do
	    dir=/sys/class/net/$dev/ecn/$role
	    for p in 0 1 2 3 4 5 6 7; do
	        if [ $p = $prio ]; then echo 1; else echo 0; fi > $dir/enable/$p
	    done
	    test "$(cat $dir/enable/$prio)" = 1
	done
	echo $gap > /sys/class/net/$dev/ecn/roce_np/min_time_between_cnps
	echo 46 > /sys/class/net/$dev/ecn/roce_np/cnp_dscp
	echo 6 > /sys/class/net/$dev/ecn/roce_np/cnp_802p_prio
	echo 55 > /sys/class/net/$dev/ecn/roce_rp/rpg_time_reset
	for f in /sys/class/net/$dev/ecn/roce_np/min_time_between_cnps \
		/sys/class/net/$dev/ecn/roce_np/cnp_dscp /sys/class/net/$dev/ecn/roce_rp/rpg_time_reset; do
	    cat $f
	done
	cat /sys/class/net/$dev/ecn/*/enable/* | tr -d '\n'
	END
	check "what it read back" "$(sh $TMP/mlnx.sh "${IF[local]}" 2>&1 | tr '\n' ' ')" = \
		"50 46 55 0001000000010000"
}

exporter()
{
	local f value
	reload local
	for f in "$(hw local)"/*; do
		value=$(cat "$f") || fail "$f cannot be read"
		[[ $value =~ ^[0-9]+$ ]] || fail "$f reads '$value'"
	done
	for f in np_ecn_marked_roce_packets np_cnp_sent rp_cnp_handled rp_cnp_ignored; do
		check "$f" -r "$(hw local)/$f"
	done
}

run_tests "$@"
