#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The loop of smoke.sh on various devices below rxe, and programs above it. Uses a second pair
# of connected interfaces, PATHIF, for itself; NETIF is the first.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

PATHIF=${PATHIF:-eth1}

TESTS=(
	"jumbo MTU 9000, packets of 4096 bytes"
	"vlan The addresses of a VLAN; CNPs have their priority as PCP"
	"bond rxe on a bond"
	"bridge rxe on a bridge"
	"vxlan rxe on a VXLAN, whose packets pass the hook again"
	"several Two rxe devices on a host have settings and counters of their own"
	"cm rdma_server and rdma_client"
	"netns A network namespace has settings of its own, and ends under traffic"
	"nvme NVMe over RDMA: fio finds what it wrote, and congestion control acts"
)

GUESTS_ONLY="vxlan netns nvme"

# A command for both hosts, in which @ is 1 or 2
both()
{
	on local "${1//@/1}" && on remote "${1//@/2}"
}

addresses() { echo "ip addr add 10.1.0.@/24 dev $1 && ip addr add fd01::@/64 dev $1"; }

smoke() # TESTS VARIABLE=VALUE...
{
	# shellcheck disable=SC2086	# a word for each test
	env "${@:2}" "$HERE/smoke.sh" $1 2>&1 | sed 's/^/#   /'
	check "smoke.sh's exit status" "${PIPESTATUS[0]}" = 0
}

# Remove the device and everything created on the interface. An interface that comes up
# again gets a link-local address, which it needs to resolve neighbours.
undo() # [OTHER-INTERFACE]
{
	both "rdma link del rxe1@; [ -z '$1' ] || ip link del $1
	      ip link set $PATHIF nomaster down; ip addr flush dev $PATHIF
	      ip link set $PATHIF mtu 1500 up"
}

jumbo()
{
	both "ip link set $PATHIF mtu 9000 up && $(addresses "$PATHIF") &&
	      rdma link add rxe1@ type rxe netdev $PATHIF" || fail "no rxe device"
	smoke "loop4 loop6 intact" NETIF="$PATHIF" MTU=4096 MBPS=12
	undo
}

vlan()
{
	both "ip link set $PATHIF up && rdma link add rxe1@ type rxe netdev $PATHIF &&
	      ip link add link $PATHIF name $PATHIF.5 type vlan id 5 egress-qos-map 6:6 &&
	      ip link set $PATHIF.5 up && $(addresses "$PATHIF.5")" || fail "no VLAN"
	smoke "loop4 loop6 intact pcp" NETIF="$PATHIF" ADDRIF="$PATHIF.5"
	undo "$PATHIF.5"
}

bond()
{
	both "{ [ -e /sys/module/bonding ] || modprobe bonding max_bonds=0; } && ip link set $PATHIF down &&
	      ip link add bond1 type bond mode active-backup miimon 100 &&
	      ip link set $PATHIF master bond1 && ip link set bond1 up && $(addresses bond1) &&
	      rdma link add rxe1@ type rxe netdev bond1" || fail "no bond"
	smoke "loop4 loop6" NETIF=bond1
	undo bond1
}

bridge()
{
	both "ip link add br1 type bridge && ip link set $PATHIF up master br1 &&
	      ip link set br1 up && $(addresses br1) &&
	      rdma link add rxe1@ type rxe netdev br1" || fail "no bridge"
	smoke "loop4 loop6" NETIF=br1
	undo br1
}

vxlan()
{
	both "ip link set $PATHIF up && ip addr add 10.2.0.@/24 dev $PATHIF &&
	      ip link add vxlan1 type vxlan id 5 dstport 4789 local 10.2.0.@ remote 10.2.0.\$((3 - @)) &&
	      ip link set vxlan1 up && $(addresses vxlan1) &&
	      rdma link add rxe1@ type rxe netdev vxlan1" || fail "no VXLAN"
	smoke "loop4 loop6" NETIF=vxlan1
	undo vxlan1
}

several()
{
	local there=/sys/class/infiniband/rxe1@/ports/1/hw_counters

	both "ip link set $PATHIF up && $(addresses "$PATHIF") &&
	      rdma link add rxe1@ type rxe netdev $PATHIF" || fail "no rxe device"
	reload_both
	knobs local roce_rp/rpg_ai_rate=44
	on local "echo 55 >/sys/class/net/$PATHIF/ecn/roce_rp/rpg_ai_rate" || fail "no knob"
	check "one's knob" "$(on local "cat $(ecn local)/roce_rp/rpg_ai_rate")" = 44
	check "the other's" \
		"$(on local "cat /sys/class/net/$PATHIF/ecn/roce_rp/rpg_ai_rate")" = 55
	perftest local ib_write_bw -m 1024 -s 65536 --tclass=$CE || return
	await 30 remote np_cnp_sent -ge 1
	await 30 local rp_cnp_handled -ge 1
	stop_perftest
	check "the other's CNPs" "$(on remote "cat ${there/@/2}/np_cnp_sent")" = 0
	check "the other's CNPs" "$(on local "cat ${there/@/1}/rp_cnp_handled")" = 0
	smoke "loop4 loop6" NETIF="$PATHIF"
	undo
}

cm()
{
	local rc

	reload_both
	start remote server "exec rdma_server -p 7471"
	until_ok 20 on remote "rdma resource show cm_id | grep -q rdma_server" ||
		fail "rdma_server does not listen"
	start local client "exec rdma_client -s ${V4[remote]} -p 7471"
	# It succeeds if both have received. rdma_server may go on for ever: rxe completes a
	# receive before it acknowledges it, and the client destroys its QP in between.
	wait_job local client 60; rc=$?
	check "rdma_client's exit status" $rc = 0 || { log_of local client; log_of remote server; }
	stop remote server
}

in_ns() { on local "ip netns exec dcqcn $*"; }

netns()
{
	local hw1=/sys/class/infiniband/rxe1@/ports/1/hw_counters
	local knob=/sys/class/net/$PATHIF/ecn/roce_rp/rpg_ai_rate
	local gid here

	both "ip link set $PATHIF down"
	on local "ip netns add dcqcn && ip link set $PATHIF netns dcqcn" || fail "no namespace"
	in_ns "ip link set lo up"
	on remote "ip link set $PATHIF up && ip addr add 10.1.0.2/24 dev $PATHIF &&
		   rdma link add rxe12 type rxe netdev $PATHIF" || fail "no rxe device"
	in_ns "sh -c \"ip link set $PATHIF up && ip addr add 10.1.0.1/24 dev $PATHIF &&
		       rdma link add rxe11 type rxe netdev $PATHIF\"" ||
		fail "no rxe device in the namespace"
	# older rxe adds a device there, too, but listens only in the initial namespace
	in_ns "ss -Huln sport = :4791" | grep -q . || {
		skip "this kernel's rxe knows no network namespaces"
		on local "ip netns del dcqcn"
		until_ok 30 on local "[ -e /sys/class/net/$PATHIF ]"
		undo
		return
	}
	reload_both
	in_ns "sh -c \"echo 55 >$knob\"" || fail "no knob in the namespace"
	check "its knob" "$(in_ns "cat $knob")" = 55
	check "the other's" "$(on local "cat $(ecn local)/roce_rp/rpg_ai_rate")" != 55
	on local "[ -e $knob ]" && fail "the namespace's device is seen outside"

	here=$(in_ns "python3 $HERE/roce_packet.py gid-index rxe11 10.1.0.1")
	gid=$(on remote "${PY[remote]} gid-index rxe12 10.1.0.2")
	start remote server "exec ${TRANSFER}ib_write_bw -F -d rxe12 -x $gid -p 18590 -m 1024 -s 65536 $(with_defaults)"
	until_ok 20 on remote "ss -Hltn sport = :18590 | grep -q ." || fail "no server"
	start local client "exec ip netns exec dcqcn ${TRANSFER}ib_write_bw -F -d rxe11 -x $here -p 18590 -m 1024 -s 65536 --tclass=$CE $(with_defaults) 10.1.0.2"
	until_ok 30 on remote "[ \$(cat ${hw1/@/2}/np_cnp_sent) -ge 1 ]" || fail "no CNP was sent"
	until_ok 30 on local "[ \$(cat ${hw1/@/1}/rp_held_packets) -ge 100 ]" || fail "nothing was limited"
	check "the other's CNPs" "$(counter local rp_cnp_handled)" = 0

	# It ends with the last process in it
	on local "ip netns del dcqcn"
	stop local client KILL
	until_ok 60 on local "[ -e /sys/class/net/$PATHIF ]" || fail "the namespace does not end"
	until_ok 30 on local "! rdma link show | grep -q rxe11" || fail "its rxe1 does not end"
	stop remote server KILL
	on local "rdma link add rxe11 type rxe netdev $PATHIF"
	undo
}

CONFIGFS=/sys/kernel/config/nvmet
nvme_target()
{
	on remote "mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
		modprobe -a nvmet-rdma && modprobe brd rd_nr=1 rd_size=32768 || exit
		cd $CONFIGFS && mkdir subsystems/dcqcn subsystems/dcqcn/namespaces/1 ports/1 || exit
		echo 1 >subsystems/dcqcn/attr_allow_any_host
		echo -n /dev/ram0 >subsystems/dcqcn/namespaces/1/device_path
		echo 1 >subsystems/dcqcn/namespaces/1/enable
		cd ports/1 && echo rdma >addr_trtype && echo ipv4 >addr_adrfam &&
		echo ${V4[remote]} >addr_traddr && echo 4420 >addr_trsvcid &&
		ln -s ../../subsystems/dcqcn subsystems/"
}
nvme_undo()
{
	on local "for c in /sys/class/nvme/*/delete_controller; do
			[ ! -e \$c ] || echo 1 >\$c; done"
	on remote "cd $CONFIGFS && rm -f ports/1/subsystems/dcqcn
		   rmdir ports/1 subsystems/dcqcn/namespaces/1 subsystems/dcqcn
		   modprobe -r nvmet-rdma brd; tc qdisc del dev ${IF[remote]} clsact"
	on local "modprobe -r nvme-rdma; tc qdisc del dev ${IF[local]} clsact"
}

nvme()
{
	local host rc

	# nvmet (7.3) takes its mutex and rdma_cm's in both orders. Lockdep reports it and stops.
	if on remote "[ -e /proc/lockdep ]"; then
		skip "this kernel's nvmet takes locks in both orders, and lockdep ends"
		return
	fi
	reload_both
	nvme_target || { fail "no NVMe target"; nvme_undo; return; }
	for host in local remote; do
		# like a switch that is always congested
		on $host "tc qdisc add dev ${IF[$host]} clsact &&
			  tc filter add dev ${IF[$host]} ingress protocol ip flower \
				ip_proto udp dst_port 4791 action skbmod ecn" || fail "no marks"
		fixed_rate $host 40
		knobs $host roce_rp/rpg_min_rate=20
	done
	on local "modprobe nvme-rdma && echo transport=rdma,traddr=${V4[remote]},trsvcid=4420,nqn=dcqcn,nr_io_queues=1 >/dev/nvme-fabrics" ||
		fail "cannot connect"
	until_ok 60 on local "ls /dev/nvme*n1 >/dev/null 2>&1" || fail "no disk"
	start local fio "exec fio --name=verify --filename=/dev/nvme0n1 --rw=randwrite --bs=64k --size=12M --direct=1 --ioengine=psync --verify=crc32c --do_verify=1 --verify_fatal=1"
	wait_job local fio 240; rc=$?
	check "fio's exit status" $rc = 0
	log_of local fio 4
	for host in local remote; do
		check "$host: CNPs handled" "$(counter $host rp_cnp_handled)" -ge 1
		check "$host: held packets" "$(counter $host rp_held_packets)" -ge 100
	done
	nvme_undo
}

run_tests "$@"
