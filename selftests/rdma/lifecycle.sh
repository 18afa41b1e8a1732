#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Add and remove the module, the rxe device, its network device and QPs under traffic.
# Nothing may hang, leak or get lost, and perftest must survive an unload of the module.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"load_unload Loading and unloading under traffic leaves perftest running"
	"qp_killed A killed program's limited QP is freed, with its held packets"
	"qp_destroyed A slow QP is destroyed within three ack timeouts, with its held packets"
	"link_deleted The rxe device is deleted and added again under limited traffic"
	"netdev_down The network device goes down under limited traffic"
	"netdev_deleted The network device is deleted under limited traffic"
	"directory_first The network device's sysfs directory is removed before the rxe device"
	"dummy_up A dummy with rxe goes up and down without a hang"
	"link_flap A port whose link is down keeps its speed, and follows a new one"
	"foreign TCP connections survive reloads of the module and of the rxe device"
	"receiver_only With the module on the receiver only, traffic continues"
	"sender_only With the module on the sender only, traffic continues"
)

GUESTS_ONLY="receiver_only sender_only"

WRITE="-m 1024 -s 65536"

RATE=4	# Mb/s: less than slow hosts send, more than the floor

# A local QP, held at RATE: limited SECONDS
limited()
{
	fixed_rate local $RATE
	perftest local ib_write_bw $WRITE -D "$1" || return
	cnp local || { fail "no CNP is sent"; return 1; }
	await 20 local rp_limited_qps = 1
	await 20 local rp_held_bytes -gt 0
}

# Every packet that was held is sent, dropped and counted, or still held
adds_up()
{
	counters local C_
	check "held packets add up" "$C_rp_held_packets" = \
	      $((C_rp_released_packets + C_rp_drop_stale_packets + C_rp_drop_dead_packets))
	check "nothing is held" "$C_rp_held_bytes" = 0
	check "nothing is limited" "$C_rp_limited_qps" = 0
}

job_ends() # NAME SECONDS: well or with an error, but it does
{
	local rc
	wait_job local "$1" "$2"; rc=$?
	[ $rc != 124 ] || fail "$1 still runs after $2 s"
}

is_free() { [ "$(sending_rate local 1)" -gt $((RATE * 1200)) ]; }

loaded() { on "$1" "grep -q ^rdma_dcqcn /proc/modules"; }

load_unload()
{
	local i rc

	unload local
	unload remote
	perftest local ib_write_bw $WRITE || return
	for i in 1 2 3; do
		load remote
		load local
		fixed_rate local $RATE
		cnp local
		await 20 local rp_limited_qps = 1
		await 20 local rp_held_bytes -gt 0
		unload local
		loaded local && fail "the module is still loaded"
		unload remote
	done
	until_ok 5 is_free || fail "without the module it sends no more than with it"
	wait_job local client 0; rc=$?
	check "perftest still runs" $rc = 124 || log_of local client
}

qp_killed()
{
	reload local
	limited 60 || return
	stop local client KILL
	until_ok 10 no_qp || fail "the QP is still there"
	until_ok 10 counter_is local rp_limited_qps = 0 || fail "the flow is still there"
	adds_up
}
no_qp() { [ -z "$(qpns local)" ]; }

# rxe repeats the requests of a QP that it destroys, after each ack timeout, until all are freed.
# At the second time, what is held is dropped.
qp_destroyed()
{
	local began took

	reload local
	fixed_rate local 1
	perftest local ib_write_bw $WRITE -u 14 || return
	cnp local || fail "no CNP is sent"
	await 20 local rp_limited_qps = 1
	await 20 local rp_held_bytes -gt 100000
	began=$(on local "date +%s%N")
	stop local client KILL
	took=$(((10#$(on local "date +%s%N") - 10#$began) / 1000000))
	# Older kernels in guests know the QP until it is gone, and their clocks may be late. stop()
	# looks each 50 ms.
	if simulated; then
		check "ms until it is destroyed" $took -le $((3 * 67 + 50))
		# where rxe does not wait for them, all have left by then
		on local "dmesg | grep -q 'soft-RoCE may crash'" ||
			check "held packets that are dropped" \
				"$(counter local rp_drop_dead_packets)" -gt 0
	fi
	until_ok 10 counter_is local rp_limited_qps = 0 || fail "the flow is still there"
	adds_up
}

link_deleted()
{
	local rc

	reload local
	limited 60 || return
	# Removing rxe's device waits for the programs that use it. Our part does not wait: it is
	# removed first, and releases held packets.
	start local link_del "exec rdma link del ${DEV[local]}"
	until_ok 10 on local "[ ! -e $(ecn local) ]" || fail "ecn/ is still there"
	stop local client KILL
	wait_job local link_del 30; rc=$?
	check "rdma link del's exit status" $rc = 0
	stop_jobs KILL
	on local "rdma link add ${DEV[local]} type rxe netdev ${IF[local]}" || fail "rdma link add"
	on local "[ -d $(ecn local)/roce_rp ]" || fail "no ecn/ for the new rxe device"
	until_ok 10 gids_are_back || fail "the GIDs are not back"
	limited $((3 * PATIENCE)) || return
	job_ends client 60
}
gids_are_back()
{
	[ "$(on local "${PY[local]} gid-index ${DEV[local]} ${V4[local]}")" = "${GID4[local]}" ]
}

netdev_down()
{
	reload local
	limited 60 || return
	on local "ip link set ${IF[local]} down"
	await 20 local rp_held_bytes = 0
	# Up again before the QP is destroyed: only then does virtio free sent packets
	on local "ip link set ${IF[local]} up
		  ip addr replace ${V6[local]}/64 dev ${IF[local]}"
	stop local client KILL
	until_ok 10 counter_is local rp_limited_qps = 0 || fail "the flow is still there"
	adds_up
	until_ok 20 on local "ping -c 1 -W 1 ${V4[remote]}" >/dev/null || fail "no link"
	until_ok 10 gids_are_back || fail "the GIDs are not back"
}

# On a macvlan of its own, which can be deleted
netdev_deleted()
{
	local host nic=$NETIF n=0

	reload local
	for host in local remote; do
		n=$((n + 1))
		# probe_host() wants an address of each family
		on "$host" "[ -e /sys/module/macvlan ] || modprobe macvlan
			ip link add dcqcn0 link ${IF[$host]} type macvlan mode bridge &&
			ip addr add 10.99.0.$n/24 dev dcqcn0 && ip addr add fd99::$n/64 dev dcqcn0 &&
			ip link set dcqcn0 up &&
			rdma link add rxe_dcqcn$n type rxe netdev dcqcn0" || fail "macvlan on $host"
		probe_host "$host" dcqcn0
	done
	if limited 60; then
		on local "timeout 30 ip link del dcqcn0" || fail "ip link del"
		until_ok 30 on local "[ ! -e /sys/class/infiniband/rxe_dcqcn1 ]" ||
			fail "the rxe device stays"
		# A newer perftest waits for its server's answer, over a device that is gone. When killed, it
		# ends, unless something keeps its QP.
		stop local client KILL || fail "the client cannot be killed"
		loaded local || fail "the module is gone"
	fi
	stop_jobs KILL
	on local "ip link del dcqcn0 2>/dev/null"
	on remote "ip link del dcqcn0"
	probe_host local "$nic"
	probe_host remote "$REMOTE_NETIF"
}

# rxe unregisters its device from a workqueue. On one CPU and with a real-time priority, "ip
# link del" removes the network device's directory before a worker gets to run.
directory_first()
{
	local cpu=/sys/devices/system/cpu/cpu1/online i

	reload local
	on local "[ ! -e $cpu ] || echo 0 >$cpu"
	on local "dmesg -C"
	for i in 1 2 3 4 5; do
		on local "ip link add dcqcn0 type dummy && ip link set dcqcn0 up &&
			  rdma link add rxe_dcqcn type rxe netdev dcqcn0" || fail "no rxe on a dummy"
		on local "[ -e /sys/class/net/dcqcn0/ecn/roce_np/enable/0 ]" || fail "no knobs"
		on local "chrt -f 50 ip link del dcqcn0"
		until_ok 30 on local "[ ! -e /sys/class/infiniband/rxe_dcqcn ]" ||
			fail "the rxe device stays"
	done
	on local "[ ! -e $cpu ] || echo 1 >$cpu"
	on local "dmesg | grep 'WARNING:'" && fail "the kernel warns"
	loaded local || fail "the module is gone"
}

# A hang here holds rtnl, so the clean-up would hang too
dummy_up()
{
	local state rc

	reload local
	on local "ip link add dcqcn0 type dummy &&
		  rdma link add rxe_dcqcn type rxe netdev dcqcn0" || fail "no rxe on a dummy"
	for state in up down up; do
		start local dummy "exec ip link set dcqcn0 $state"
		wait_job local dummy 3; rc=$?
		if [ $rc = 124 ]; then
			note "ip link set dcqcn0 $state hangs:"
			on local "cat /proc/\$(cat $TMP/dummy.pid)/stack" | sed 's/^/#   /'
			echo "Bail out! The lock of the host's network devices is never released"
			trap - EXIT
			exit 1
		fi
		check "ip link set dcqcn0 $state" $rc = 0
	done
	on local "[ -e /sys/class/infiniband/rxe_dcqcn/ports/1/hw_counters/rp_cnp_handled ]" ||
		fail "the dummy's port is gone"
	on local "rdma link del rxe_dcqcn && ip link del dcqcn0" || fail "it cannot be deleted"
}

line_rate() { on local "${DCQCN:-dcqcn} -j show dev rxe_dcqcn" | jq '.[0].line_rate'; }
line_rate_is() { [ "$(line_rate)" = "$1" ]; }
operstate_is() { [ "$(cat /sys/class/net/dcqcn0/operstate)" = "$1" ]; }

# A bond is as fast as those of its links that are up, and does not know how fast if none is
link_flap()
{
	local i

	reload local
	on local "{ [ -e /sys/module/bonding ] || modprobe bonding max_bonds=0; } &&
		  ip link add dcqcn0 type bond mode balance-rr miimon 10" || fail "no bond"
	for i in 1 2; do
		on local "ip link add dcqcn_a$i type veth peer name dcqcn_b$i &&
			  ip link set dcqcn_a$i master dcqcn0 && ip link set dcqcn_b$i up" ||
			fail "no veth"
	done
	on local "ip link set dcqcn0 up" || fail "the bond does not come up"
	until_ok 5 operstate_is up
	on local "rdma link add rxe_dcqcn type rxe netdev dcqcn0" || fail "no rxe on a bond"
	check "line rate of two links" "$(line_rate)" = 20000000000
	on local "ip link set dcqcn_b1 down"
	until_ok 5 line_rate_is 10000000000 || fail "line rate of one link: $(line_rate)"
	on local "ip link set dcqcn_b2 down"
	until_ok 5 operstate_is down || fail "the bond has a link"
	check "speed without a link" "$(on local "cat /sys/class/net/dcqcn0/speed")" = -1
	until_ok 1 line_rate_is 1000000000 && fail "the port forgets its speed"
	check "line rate while the link is down" "$(line_rate)" = 10000000000
	on local "ip link set dcqcn_b2 up && ip link set dcqcn_b1 up"
	until_ok 5 line_rate_is 20000000000 || fail "line rate of both links again: $(line_rate)"
	on local "ip link set dcqcn_a1 nomaster"
	until_ok 5 line_rate_is 10000000000 || fail "line rate without one: $(line_rate)"
	on local "rdma link del rxe_dcqcn && ip link del dcqcn0 &&
		  ip link del dcqcn_a1 && ip link del dcqcn_a2" || fail "it cannot be deleted"
}

# TCP connections from each host to the other; streams.py compares the data that returns
foreign()
{
	local host i rc

	reload local
	for host in local remote; do
		[ $host = local ] || at_remote "cat >$TMP/streams.py" <"$HERE/streams.py"
		[ $host = remote ] || cp "$HERE/streams.py" $TMP/
		start $host echo "exec python3 $TMP/streams.py serve 18500"
		until_ok 5 on $host "ss -Hltn sport = :18500 | grep -q ." || fail "no listener"
	done
	for host in local remote; do
		start $host streams "exec python3 $TMP/streams.py ask ${V4[$(other $host)]} 18500"
	done
	for i in 1 2 3 4 5; do
		on local "rdma link del ${DEV[local]} &&
			  rdma link add ${DEV[local]} type rxe netdev ${IF[local]}" || fail "rdma link"
		unload local
		load local || fail "the module does not load"
	done
	until_ok 10 gids_are_back || fail "the GIDs are not back"
	for host in local remote; do
		stop $host streams
		wait_job $host streams 5; rc=$?
		check "streams from $host: exit status" $rc = 0
		log_of $host streams
	done
}

receiver_only()
{
	local rc

	unload local
	reload remote
	perftest local ib_write_bw $WRITE --tclass=$CE -D 5 || return
	await 10 remote np_cnp_sent -gt 0
	wait_job local client 60; rc=$?
	check "perftest's exit status" $rc = 0 || log_of local client
}

sender_only()
{
	local rc

	unload remote
	reload local
	perftest local ib_write_bw $WRITE --tclass=$CE -D 5 || return
	wait_job local client 60; rc=$?
	check "perftest's exit status" $rc = 0 || log_of local client
	check "CNPs" "$(counter local rp_cnp_handled)" = 0
}

run_tests "$@"
