#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A quick test of everything on this kernel and on NETIF's kind of device. MTU=4096
# selects packets of that size, ADDRIF=eth0.5 the addresses of a VLAN. A slow host needs
# fewer Mb/s than MBPS=20.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

MTU=${MTU:-1024}
MBPS=${MBPS:-20}

TESTS=(
	"present ecn/ and the counters are there, on both hosts"
	"early_end The module says so if rxe does not wait for a QP's packets"
	"loop4 Marked traffic is answered with CNPs and slows down, IPv4"
	"loop6 Marked traffic is answered with CNPs and slows down, IPv6"
	"intact Data arrives through the limiter as it was sent (rping)"
	"unloading Unloading under limited traffic leaves it running"
)

[ -z "$ADDRIF" ] || TESTS+=("pcp CNPs have cnp_802p_prio as their PCP")

WRITE="-m $MTU -s 65536"

present()
{
	local host f wrong

	reload_both
	for host in local remote; do
		check "$host: what is in ecn/" "$(on $host "ls $(ecn $host)" | tr '\n' ' ')" = \
			"roce_np roce_rp "
		wrong=$(on $host "cd $(ecn $host) && for f in */* */enable/*; do
			case \$f in roce_rp/cc_a*) continue ;; esac
			[ -d \$f ] || grep -qxE '[0-9]+' \$f || echo \$f; done")
		check "$host: files that are no number" -z "$wrong"
		for f in np_ecn_marked_roce_packets np_cnp_sent rp_cnp_handled rp_cnp_ignored; do
			check "$host: $f" "$(counter $host $f)" = 0
		done
	done
}

# rxe has a small max_msg_sz where it does not
early_end()
{
	local size said

	reload_both
	size=$(on local "ibv_devinfo -v -d ${DEV[local]} | sed -n 's/.*max_msg_sz:[[:space:]]*//p'")
	check "size of messages" -n "$size"
	said=$(on local "dmesg | grep -c 'rdma_dcqcn: .*soft-RoCE may crash'")
	note "max_msg_sz $size, said $said times"
	if [ "$size" = 0x800000 ]; then
		check "said" "$said" -ge 1
	else
		check "said" "$said" = 0
	fi
}

loop()
{
	local rate

	reload_both
	fixed_rate local $MBPS
	perftest local ib_write_bw $WRITE --tclass=$CE || return
	await 30 remote np_ecn_marked_roce_packets -ge 100
	await 30 remote np_cnp_sent -ge 1
	await 30 local rp_cnp_handled -ge 1
	await 30 local rp_limited_qps = 1
	await 30 local rp_held_bytes -gt 0
	rate=$(sending_rate local 3)
	note "$rate kb/s"
	check "kb/s" "$rate" -gt 0
	check "kb/s at $MBPS Mb/s" "$rate" -le $((MBPS * 1150))
	# CNPs that arrive after the QP is gone are ignored
	check "CNPs that were not for us" "$(counter local rp_cnp_ignored)" = 0
	stop_perftest
	check "errors" "$(counter remote np_cnp_errors)" = 0
}
loop4() { V=4; loop; }
loop6() { V=6; loop; }

# The server reads from the client and writes back, and the client compares
intact()
{
	# Long enough for guests to learn of limits meanwhile
	local host rc size="-C $(((PATIENCE > 1 ? 40 : 4) * MBPS)) -S 60000"

	reload_both
	for host in local remote; do
		fixed_rate $host $((2 * MBPS))
	done
	start remote server "exec rping -s -a ${V4[remote]} $size"
	until_ok 20 on remote "rdma resource show cm_id | grep -q rping" || fail "rping does not listen"
	start local client "exec rping -c -a ${V4[remote]} $size -V"
	CLIENT=local
	until_ok 30 connected || { fail "rping did not connect"; log_of local client; return; }
	trickle local --qpn "${QPN[local]}"
	trickle remote --qpn "${QPN[remote]}"
	await 20 local rp_cnp_handled -ge 1
	await 20 remote rp_cnp_handled -ge 1
	wait_job local client 300; rc=$?
	check "rping's exit status" $rc = 0 || log_of local client
	check "held packets" "$(counter local rp_held_packets)" -gt 0
	check "held packets there" "$(counter remote rp_held_packets)" -gt 0
}

unloading()
{
	local bytes

	reload_both
	fixed_rate local $MBPS
	perftest local ib_write_bw $WRITE || return
	cnp local
	await 20 local rp_held_bytes -gt 0
	unload local
	on local "[ ! -e /sys/module/rdma_dcqcn ]" || fail "the module is still loaded"
	bytes=$(sent_bytes local)
	until_ok 30 has_sent local $((bytes + 1000000)) || fail "nothing is sent any more"
	check "the QP" "$(qpns local)" = "${QPN[local]}"
	stop_perftest
}

pcp()
{
	local seen

	reload_both
	knobs remote roce_np/cnp_802p_prio=6
	perftest local ib_write_bw $WRITE --tclass=$CE || return
	start local tcpdump "exec tcpdump -e -n -l -c 3 -i ${IF[local]} vlan and udp dst port 4791 and udp[8] == 0x81"
	wait_job local tcpdump 40 || fail "no CNPs with a tag"
	stop_perftest
	seen=$(on local "grep -o 'vlan [0-9]*, p [0-9]' $TMP/tcpdump.log" | sort | uniq -c)
	note "$seen"
	[[ $seen =~ ^\ *3\ vlan\ [0-9]+,\ p\ 6$ ]] || fail "PCP: $seen"
}

run_tests "$@"
