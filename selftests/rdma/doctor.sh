#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn doctor: provoke each finding, which must be reported alone; without a fault there
# must be none. DCQCN names the command if it is not in the PATH; it is copied to the
# remote host.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"healthy Nothing is found without a fault"
	"knobs_of_loop Knobs that keep marks from being answered, or CNPs from slowing down"
	"module The module is missing here, there, or on the sender"
	"qdiscs Qdiscs of the host that lose, mark or pace"
	"vlan A VLAN whose egress map has no entry for CNPs"
	"floor A limiter at its ack-timeout floor"
	"loss Loss without marks"
	"order Packets that come later than newer ones"
	"unanswered Marks that cannot be answered"
	"ect ECT that the host itself clears"
	"loopback Traffic from a host to itself"
	"others CNPs that go to another sender are not lost"
	"names Names of devices and hosts that a shell or a terminal would obey"
	"way ECN cleared, DSCP rewritten, CNPs lost between the hosts"
	"path Packets that a switch drops, in both directions, in one, or if they are large"
	"filtered Packets that arrive, and that the receiver's firewall or reverse path filter drops"
	"unreachable No route, no link-layer address"
	"addresses Devices without an address, packets for addresses that are gone, RoCE v1"
	"answers Receivers that are not ready, connections refused, ACKs later than the timeout"
	"failed A QP that has failed"
	"line A line rate below what the path carries"
	"absent A host without an rxe device"
	"tunnel A device without Ethernet addresses"
	"namespace A device in another network namespace, in which rxe may not listen"
	"serve Without ssh, and with facts of anybody"
	"late Doctors whose words take seconds to reach each other"
)

# A module for one of the hosts only, perftest, a device that carries all traffic of a guest,
# WireGuard, macvlan
GUESTS_ONLY="module loopback way tunnel namespace"

DCQCN=${DCQCN:-dcqcn}
command -v "$DCQCN" >/dev/null || skip_all "no command dcqcn"

COPIED=
copy_command()
{
	[ -z "$COPIED" ] || return 0
	! simulated || ssh_by_nsenter
	on remote "command -v dcqcn >/dev/null" ||
		at_remote "cat >/usr/local/bin/dcqcn && chmod +x /usr/local/bin/dcqcn" <"$DCQCN"
	COPIED=1
}

# In simulated time, the doctor reaches the other host as these tests do
ssh_by_nsenter()
{
	mkdir -p $TMP/ssh
	cat >$TMP/ssh/ssh <<-END
		#!/bin/sh
		# OPTION -- HOST COMMAND...
		shift 3
		exec nsenter $REMOTE_ARGS "\$@"
	END
	chmod +x $TMP/ssh/ssh
	PATH=$TMP/ssh:$PATH
}

# finds "FINDING ..." DOCTOR-ARGUMENTS: exactly those, in any order; FINDING@remote is one of
# the other host. A fault may take three looks to show, but no look may find anything else, and
# without a fault the first look must find nothing.
finds()
{
	local want got status name tries=3 try
	want=$(tr ' ' '\n' <<<"$1" | sed '/^$/d' | sort -u); shift
	[ -n "$want" ] || tries=1
	name=$(on remote hostname)
	for ((try = 0; try < tries; try++)); do
		"$DCQCN" -j doctor -i 500ms "$@" >$TMP/doctor 2>$TMP/doctor.err
		status=$?
		got=$(jq -r --arg remote "$name" '.[] | if .host == $remote
			then .finding + "@remote" else .finding end' $TMP/doctor | sort -u)
		check "exit status" "$status" = "$([ -z "$got" ] && echo 0 || echo 2)" || break
		[ "$got" != "$want" ] && [ -z "$(comm -13 <(echo "$want") <(echo "$got"))" ] || break
	done
	if [ "$got" != "$want" ]; then
		fail "found \"$(tr '\n' ' ' <<<"$got")\" instead of \"$(tr '\n' ' ' <<<"$want")\""
		sed 's/^/#   /' $TMP/doctor $TMP/doctor.err
	fi
	check "findings without seen, why or fix" "$(jq '[.[] | select((.seen | not) or
		(.why | not) or (.fix | not))] | length' $TMP/doctor)" = 0
}
peer() { finds "$1" --peer "$REMOTE_ARGS"; }
alone() { finds "$1" "${@:2}"; }

usual_knobs()
{
	"$DCQCN" profile apply auto
	on remote "dcqcn profile apply auto"
	knobs local roce_rp/rpg_min_rate=8
}

# Traffic that is always marked, and slowed down to a rate well above the floor of its ack
# timeout
marked()
{
	copy_command
	knobs local roce_rp/rpg_min_rate=8
	perftest "${1:-local}" ib_write_bw -m 1024 -s 65536 --tclass=$CE
}

healthy()
{
	reload_both
	copy_command
	peer ""
	grep -q "next to no RoCEv2 traffic" $TMP/doctor.err || fail "no word of there being no traffic"
	marked || return
	peer ""
	alone ""
	OUT=$("$DCQCN" doctor)
	check "text" "$OUT" = "nothing found"
}

# A timer shorter than the round trip, for which the limiter stays nevertheless: it takes
# more than a second without a CNP to rise to the line rate, in which CNPs come by the hundred
slow_recovery()
{
	fixed_rate local 8
	knobs local roce_rp/rpg_time_reset=200
}

knobs_of_loop()
{
	reload_both
	copy_command
	# a round trip of a host with a busy CPU
	! simulated || tc -n $SWITCH qdisc replace dev h2 root netem delay 2ms limit 100000
	# another algorithm has no use for this knob
	"$DCQCN" set dev "${DEV[local]}" cc_algorithm swift rpg_gd 15
	alone ""
	usual_knobs
	"$DCQCN" cc use dcqcn
	marked || return
	knobs local roce_rp/rpg_min_dec_fac=100
	alone no-cut-min-dec-fac
	usual_knobs
	knobs local roce_rp/rpg_gd=15
	alone no-cut-gd
	check "text" "$("$DCQCN" doctor -i 100ms)" = "$(hostname), ${DEV[local]}: CNPs hardly slow anything down. What to do there: dcqcn set dev ${DEV[local]} rpg_gd 11

no-cut-gd: ${DEV[local]} on $(hostname)
    seen  rpg_gd is 15
    why   a cut takes alpha * 1024 / 2^15 of the rate, at most 1/32; with 11 it is up to half
    fix   dcqcn set dev ${DEV[local]} rpg_gd 11"
	usual_knobs
	knobs local roce_rp/rpg_max_rate=8
	alone no-cut-min-rate
	knobs local roce_rp/rpg_max_rate=0
	"$DCQCN" set dev "${DEV[local]}" rp_enable 3
	alone "rp-off cnp-ignored"
	"$DCQCN" set dev "${DEV[local]}" rp_enable all
	knobs local roce_rp/dce_tcp_rtt=1
	alone cnp-interval
	peer cnp-interval
	usual_knobs
	slow_recovery
	alone knob-overrides
	usual_knobs
	knobs remote roce_np/enable/0=0
	peer np-off@remote
	knobs remote roce_np/enable/0=1 roce_np/min_time_between_cnps=131071
	knobs local roce_rp/dce_tcp_rtt=100000
	peer cnp-interval
	usual_knobs

	# after the doctor's capture point, before the module
	# shellcheck disable=SC2086 # words
	tc qdisc add dev "${IF[local]}" clsact &&
		tc filter add dev "${IF[local]}" ingress $IS_CNP action drop || fail "no tc filters"
	alone cnp-filtered
	tc qdisc del dev "${IF[local]}" clsact
	! simulated || switch_queue
}

module()
{
	reload local
	unload remote
	marked || return
	peer one-side@remote
	stop_perftest
	# data from there has no ECT
	perftest remote ib_write_bw -m 1024 -s 65536 || return
	alone not-ect-in
	stop_perftest
	reload remote
	unload local
	perftest local ib_write_bw -m 1024 -s 65536 || return
	alone no-module
}

qdiscs()
{
	local nic=${IF[local]}
	reload_both
	tc qdisc replace dev "$nic" root fq_codel || { fail "no fq_codel"; return; }
	alone host-qdisc
	tc qdisc replace dev "$nic" root fq
	alone host-qdisc
	tc qdisc replace dev "$nic" root netem loss 1%
	alone lossy-qdisc
	tc qdisc replace dev "$nic" root tbf rate 100kbit burst 3000 limit 5000
	start local ping "exec ping -f -s 1400 ${V4[remote]}"
	until_ok 20 dropped "$nic" || fail "nothing was dropped"
	alone lossy-qdisc
	stop local ping
	tc qdisc del dev "$nic" root
}

vlan()
{
	local nic=${IF[local]}
	reload_both
	ip link add link "$nic" name "$nic.5" up type vlan id 5
	alone cnp-pcp
	ip link set dev "$nic.5" type vlan egress-qos-map 6:6
	alone ""
	ip link set dev "$nic.5" type vlan egress-qos-map 6:0
	knobs local roce_np/cnp_802p_prio=5
	alone cnp-pcp
	knobs local roce_np/cnp_802p_prio=0
	alone ""
	ip link del "$nic.5"
}

dropped() { tc -s qdisc show dev "$1" | grep -q "dropped [1-9]"; }

# Packets to the RoCE port with opcode 0x81
IS_CNP="protocol ip u32 match ip protocol 17 0xff match u8 0x81 0xff at 28"
IS_ROCE="protocol ip flower ip_proto udp dst_port 4791"

floor()
{
	reload_both
	copy_command
	"$DCQCN" profile apply sigcomm15
	fixed_rate local 5
	perftest local ib_write_bw -m 1024 -s 65536 -u 8 || return
	trickle local --qpn "${QPN[local]}"
	await 20 local rp_limited_qps = 1
	alone ack-timeout-floor
}

loss()
{
	local nic=${IF[remote]}
	reload_both
	copy_command
	perftest local ib_write_bw -m 1024 -s 65536 || return
	on remote "tc qdisc add dev $nic clsact && tc filter add dev $nic ingress $IS_ROCE \
		   action pass random determ drop 300" || { fail "no tc filters"; return; }
	peer loss-without-marks@remote
	alone loss-without-marks
	on remote "tc qdisc del dev $nic clsact"
}

unanswered()
{
	local nic=${IF[local]}
	reload_both
	perftest remote ib_write_bw -m 1024 -s 65536 || return
	# not from the peer of the QP
	trickle local --qpn "${QPN[local]}" --opcode 10 --tos 0x03 --src 10.0.0.77
	await 20 local np_ecn_marked_roce_packets -ge 1
	alone ce-unanswered
	stop remote trickle
	trickle local --qpn "${QPN[local]}" --opcode 10 --tos 0x03 --bad-icrc
	await 20 local np_icrc_errors -ge 1
	alone icrc-errors
	stop_perftest
	stop remote trickle
	perftest remote ib_write_bw -m 1024 -s 65536 --tclass=$CE || return
	await 10 local np_cnp_sent -ge 1
	# shellcheck disable=SC2086 # words
	tc qdisc add dev "$nic" clsact && tc filter add dev "$nic" egress $IS_CNP action drop ||
		{ fail "no tc filters"; return; }
	alone cnp-errors
	tc qdisc del dev "$nic" clsact
}

CLEAR_ECN="action pedit ex munge ip dsfield set 0 retain 0x3 pipe action csum ip4h"
SET_DSCP="action pedit ex munge ip dsfield set 0x28 retain 0xfc pipe action csum ip4h"

ect()
{
	local nic=${IF[local]}
	reload_both
	copy_command
	# Before the traffic: this removes the device's qdisc for a moment. A packet sent then is
	# lost, and from 6.12 on rxe ends its QP
	# shellcheck disable=SC2086 # words
	tc qdisc add dev "$nic" clsact && tc filter add dev "$nic" egress $IS_ROCE $CLEAR_ECN ||
		{ fail "no tc filters"; return; }
	perftest local ib_write_bw -m 1024 -s 65536 || return
	alone not-ect
	tc qdisc del dev "$nic" clsact
}

loopback()
{
	reload_both
	start local server "exec ib_write_bw -F -d ${DEV[local]} -x ${GID4[local]} -p 18999 $(with_defaults)"
	until_ok 20 on local "ss -Hltn sport = :18999 | grep -q ."
	start local client "exec ib_write_bw -F -d ${DEV[local]} -x ${GID4[local]} -p 18999 $(with_defaults) ${V4[local]}"
	until_ok 20 connected_locally || { fail "not connected"; return; }
	alone loopback
}
connected_locally() { [ "$(qpns local | wc -l)" -ge 1 ]; }

# The other sender exists only in the marked packets, which a UD QP takes from anybody, and in
# the receiver's neighbour table: its CNPs reach nobody
others()
{
	local nic=${IF[remote]} other=10.0.0.77

	reload_both
	copy_command
	on remote "ip neigh replace $other lladdr 02:00:00:00:00:77 dev $nic nud permanent"
	perftest local ib_send_bw -c UD -s 1024 && {
		trickle remote --qpn "${QPN[remote]}" --opcode 0x64 --tos $CE --ud-src 17 --src $other
		await 20 remote np_cnp_sent -ge 2
		peer ""
		"$DCQCN" set dev "${DEV[local]}" rp_enable 3
		peer rp-off
	}
	on remote "ip neigh del $other dev $nic"
}

# A finding has commands to copy, so a device whose name a shell would change is left out, and a
# peer that has one is refused
names()
{
	local name said

	mkdir -p $TMP/bin && cat >$TMP/bin/ssh <<-END && chmod +x $TMP/bin/ssh
		#!/bin/sh
		exec cat $TMP/answer
	END
	for name in '$(reboot)' 'a;b' "a'b" 'a"b' 'a\`b' '-r' 'a&b' '>b' '*'; do
		printf 'ready 2\nwatching\nwatched\nhost h2 0\ndev rxe0 %s 0\nend\n' "$name" >$TMP/answer
		said=$(PATH=$TMP/bin:$PATH "$DCQCN" doctor -i 1ms --peer h2 2>&1)
		check "status for a peer's $name" $? = 1
		check "its error" "${said##*$'\n'}" = \
			"dcqcn: rxe0 on $name: the peer's device has a name that is not safe in a shell command"
	done
	printf 'ready 2\nwatching\nwatched\nhost \033[2J\302\233h2 0\ndev rxe0 eth0 0\nend\n' >$TMP/answer
	PATH=$TMP/bin:$PATH "$DCQCN" doctor -i 1ms --peer h2 >$TMP/doctor 2>&1
	check "status for a peer's control characters" $? = 2
	check "them" "$(tr -dc '\033\233' <$TMP/doctor | wc -c)" = 0

	ip link add v0 type veth peer name v1 && ip link set v0 name 'v$(id)' &&
		ip link set 'v$(id)' up && rdma link add rxev type rxe netdev 'v$(id)' ||
		fail "no rxe on a veth"
	said=$("$DCQCN" doctor -i 1ms 2>&1)
	check "left out" "$(grep -c '^rxev on v$(id) is left out' <<<"$said")" = 1
	check "other lines about it" "$(grep -c 'v.(id)' <<<"$said")" = 1
	rdma link delete rxev
	ip link del v1
}

# A switch inside the local host, between its rxe device and its wire
with_switch()
{
	local nic=$NETIF

	BEFORE_SWITCH=${DEV[local]}
	rdma link delete "$BEFORE_SWITCH"
	ip link add sw0 type bridge && ip link add v0 type veth peer name v1 || return
	ip addr flush dev "$nic"
	ip link set "$nic" master sw0
	ip link set v1 master sw0
	# or each CPU would forward its own packets, out of order
	echo 1 >/sys/class/net/v1/queues/rx-0/rps_cpus
	ip link set sw0 up; ip link set v0 up; ip link set v1 up
	ip addr add "${V4[local]}"/24 dev v0
	ip -6 addr add "${V6[local]}"/64 dev v0 nodad
	rdma link add rxev type rxe netdev v0 || return
	probe_host local v0
	until_ok 20 on local "ping -c 1 -W 1 ${V4[remote]} >/dev/null"
}

without_switch()
{
	stop_jobs KILL
	rdma link delete rxev
	ip link del v0
	ip link del sw0
	ip addr add "${V4[local]}"/24 dev "$NETIF"
	ip -6 addr add "${V6[local]}"/64 dev "$NETIF" nodad
	rdma link add "$BEFORE_SWITCH" type rxe netdev "$NETIF"
	probe_host local "$NETIF"
}

way()
{
	local nic=$NETIF
	reload_both
	copy_command
	with_switch || { without_switch; fail "no bridge or veth"; return; }
	# so slow that this switch loses nothing
	fixed_rate local 10
	perftest local ib_write_bw -m 1024 -s 65536 && {
		trickle local --qpn "${QPN[local]}"
		await 20 local rp_limited_qps = 1
		tc qdisc add dev "$nic" clsact
		# shellcheck disable=SC2086 # words
		tc filter add dev "$nic" egress $IS_ROCE $CLEAR_ECN
		peer ecn-cleared@remote
		tc filter del dev "$nic" egress
		# shellcheck disable=SC2086 # words
		tc filter add dev "$nic" egress $IS_ROCE $SET_DSCP
		peer dscp-rewritten@remote
		tc filter del dev "$nic" egress
		stop_perftest
		stop remote trickle
	}
	marked && {
		# shellcheck disable=SC2086 # words
		tc filter add dev "$nic" ingress $IS_CNP action drop
		peer cnp-lost@remote
		stop_perftest
	}
	tc qdisc del dev "$nic" clsact
	without_switch
}

# --- why transfers fail ------------------------------------------------------
#
# In simulated time, the switch between the hosts is the namespace s1, with a port for each host
# that has its name.

SWITCH=s1
PORT_OF_local=h1
PORT_OF_remote=h2

# As selftests/simulated makes it
switch_queue() { tc -n $SWITCH qdisc replace dev h2 root handle 10: tbf rate 50mbit burst 20000 limit 10000000; }

has_switch() { ip netns list | grep -q "^$SWITCH\b" || { skip "no switch that can be told to"; return 1; }; }

# at_port HOST FILTER...: what comes from that host
at_port()
{
	local port=PORT_OF_$1; shift
	tc -n $SWITCH filter add dev "${!port}" ingress "$@" || fail "no tc filter at the switch"
}
ports_filter() { tc -n $SWITCH qdisc add dev h1 clsact; tc -n $SWITCH qdisc add dev h2 clsact; }
ports_pass() { tc -n $SWITCH qdisc del dev h1 clsact; tc -n $SWITCH qdisc del dev h2 clsact; }

path()
{
	has_switch || return
	reload_both
	copy_command
	ip -n $SWITCH link set h2 mtu 1500
	peer large-only@remote
	perftest local ib_write_bw -m 4096 -s 65536
	peer large-only@remote
	check "the size that arrives" "$(jq -r '.[0].seen' $TMP/doctor | grep -c 'up to 1500 bytes')" = 1
	stop_perftest
	perftest local ib_write_bw -m 1024 -s 65536
	# what is large is found by probes, though this transfer works
	peer large-only@remote
	ip -n $SWITCH link set h2 mtu 4200
	peer ""

	ports_filter
	# shellcheck disable=SC2086 # words
	at_port local $IS_ROCE action drop
	peer one-way@remote
	# shellcheck disable=SC2086 # words
	at_port remote $IS_ROCE action drop
	peer nothing-arrives@remote
	alone no-answer -i 2s
	stop_perftest
	# without traffic, probes tell, and there is nothing to see at one host
	peer nothing-arrives@remote
	alone ""
	ports_pass
	peer ""
}

filtered()
{
	local nic=${IF[remote]}
	reload_both
	copy_command
	perftest local ib_write_bw -m 1024 -s 65536 || return
	on remote "tc qdisc add dev $nic clsact && tc filter add dev $nic ingress $IS_ROCE action drop" ||
		{ fail "no tc filters"; return; }
	peer arrives-but-dropped@remote
	check "the cause" "$(jq -r '.[0].why' $TMP/doctor | grep -c firewall)" = 1
	alone no-answer -i 2s
	stop_perftest
	peer arrives-but-dropped@remote
	on remote "tc qdisc del dev $nic clsact"
	peer ""

	has_switch || return
	perftest local ib_write_bw -m 1024 -s 65536 || return
	on remote "ip link set eth1 up && ip route add ${V4[local]}/32 dev eth1 &&
		   sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.$nic.rp_filter=1"
	peer arrives-but-dropped@remote
	check "the cause" "$(jq -r '.[0].seen' $TMP/doctor | grep -c 'reverse path')" = 1
	on remote "ip route del ${V4[local]}/32 dev eth1
		   sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.$nic.rp_filter=0"
	stop_perftest

	# the doctor needs no module
	unload local
	perftest local ib_write_bw -m 1024 -s 65536 || return
	on remote "tc qdisc add dev $nic clsact && tc filter add dev $nic ingress $IS_ROCE action drop"
	peer arrives-but-dropped@remote
	alone no-answer -i 2s
	on remote "tc qdisc del dev $nic clsact"
}

unreachable()
{
	local nic=${IF[local]}

	has_switch || return
	reload_both
	copy_command
	ip route del 10.0.0.0/24 dev "$nic" && ip -6 route del fd00::/64 dev "$nic" || fail "no routes"
	peer no-route
	ip route add 10.0.0.0/24 dev "$nic" scope link src "${V4[local]}"
	ip -6 route add fd00::/64 dev "$nic"
	peer ""

	ports_filter
	at_port local protocol arp matchall action drop
	at_port remote protocol arp matchall action drop
	ip neigh flush dev "$nic"
	on remote "ip neigh flush dev ${IF[remote]}"
	peer "arp-incomplete arp-incomplete@remote"
	ports_pass
}

# A worker of the RDMA core removes it, and the doctor looks at the GIDs first
gid_is_gone()
{
	! on remote "grep -qs ffff: /sys/class/infiniband/${DEV[remote]}/ports/1/gids/${GID4[remote]}"
}

addresses()
{
	local nic=${IF[local]} mac
	reload_both
	copy_command
	has_switch || return
	mac=$(on remote "cat /sys/class/net/${IF[remote]}/address")
	perftest local ib_write_bw -m 1024 -s 65536 || return
	ip neigh replace "${V4[remote]}" lladdr "$mac" dev "$nic" nud permanent
	on remote "ip addr del ${V4[remote]}/24 dev ${IF[remote]}"
	until_ok 10 gid_is_gone || fail "the GID stays without its address"
	peer wrong-gid@remote
	stop_perftest
	on remote "ip addr add ${V4[remote]}/24 dev ${IF[remote]}"
	ip neigh del "${V4[remote]}" dev "$nic"

	start remote v1 "exec ${PY[remote]} v1 ${IF[remote]} --mac ${MAC[local]}"
	alone wrong-gid
	stop remote v1

	ip addr flush dev "$nic" scope global
	alone unusable-device
	ip link add dcqcnbr type bridge && ip link set "$nic" master dcqcnbr
	alone unusable-device
	check "its fix" "$(jq -r '.[0].fix' $TMP/doctor | grep -c 'netdev dcqcnbr')" = 1
	ip link del dcqcnbr
	ip link set "$nic" down
	alone unusable-device
	ip link set "$nic" up
	ip addr add "${V4[local]}/24" dev "$nic"
	ip -6 addr add "${V6[local]}/64" dev "$nic" nodad
	until_ok 20 on local "ping -c 1 -W 1 ${V4[remote]} >/dev/null"
}

answers()
{
	has_switch || return
	reload_both
	copy_command
	perftest local ib_send_bw -m 1024 -s 1024 -r 0 || return
	peer rnr@remote
	alone rnr
	stop_perftest

	start local rping "while true; do rping -c -C 1 -a ${V4[remote]}; sleep 0.1; done"
	peer cm-refused
	stop local rping

	# the round trip is longer than the timeout, 17 ms, and shorter than all retries
	tc -n $SWITCH qdisc replace dev h2 root netem delay 40ms limit 100000
	perftest local ib_write_bw -m 1024 -s 1024 -t 1 -u 12
	peer ack-timeout
	alone ack-timeout
	stop_perftest
	switch_queue
}

failed()
{
	reload_both
	start local qps "exec $HERE/qps ${DEV[local]} ${GID4[local]} ::ffff:${V4[remote]} 2"
	until_ok 20 on local "grep -q ready $TMP/qps.log" || { fail "no QPs"; return; }
	on local "kill -USR2 \$(cat $TMP/qps.pid)"
	until_ok 20 has_failed || { fail "no failed QP"; return; }
	alone qp-in-error
	check "whose" "$(jq -r '.[0].seen' $TMP/doctor | grep -c '^2 QPs .* of qps ')" = 1
	stop local qps
}
has_failed() { rdma resource show qp link "${DEV[local]}/1" | grep -q "state ERR.*comm qps"; }

line()
{
	reload_both
	knobs local roce_rp/rpg_max_rate=10
	perftest local ib_write_bw -m 1024 -s 65536 || return
	alone line-too-low
	stop_perftest
}

# One packet in a hundred overtakes those of a millisecond. With RC, rxe would wait for its timer
# after a few.
order()
{
	has_switch || return
	reload_both
	copy_command
	perftest local ib_write_bw -c UC -m 1024 -s 65536 || return
	tc -n $SWITCH qdisc replace dev h2 root netem delay 1ms reorder 1% limit 100000
	peer out-of-order@remote
	stop_perftest
	switch_queue
}

absent()
{
	reload_both
	copy_command
	on remote "rdma link delete ${DEV[remote]}"
	peer no-device@remote
	check "its fix" "$(jq -r '.[0].fix' $TMP/doctor | grep -c 'rdma link add')" = 1
	start remote serve "exec dcqcn doctor --serve"
	until_ok 20 on remote "ss -Hltn sport = :4791 | grep -q ."
	finds no-device@remote "${V4[remote]}"
	stop remote serve
	on remote "rdma link add ${DEV[remote]} type rxe netdev ${IF[remote]}"
	probe_host remote "${IF[remote]}"
	peer ""
}

# What rdma_cm says itself depends on the kernel
tunnel()
{
	local want=""

	reload_both
	ip link add wg0 type wireguard && ip link set wg0 up && ip addr add 10.77.0.1/24 dev wg0 &&
		rdma link add rxewg type rxe netdev wg0 || fail "no rxe on WireGuard"
	timeout 5 rping -s -a 10.77.0.1 >$TMP/rping 2>&1
	! grep -q rdma_bind_addr $TMP/rping || want=unusable-device
	note "rping: $(head -n 1 $TMP/rping)"
	finds "$want" dev rxewg
	[ -z "$want" ] || check "the cause" "$(jq -r '.[0].seen' $TMP/doctor | grep -c "rdma_cm finds no")" = 1
	alone "" dev "${DEV[local]}"
	rdma link delete rxewg
	ip link del wg0
}

# Before Linux 7.2, rxe listens in the initial network namespace only
namespace()
{
	local want="" inside="ip netns exec dcqcn_other"

	reload_both
	copy_command
	ip netns add dcqcn_other
	ip link add link "${IF[local]}" name mv0 netns dcqcn_other type macvlan mode bridge &&
		ip -n dcqcn_other link set lo up && ip -n dcqcn_other link set mv0 up &&
		ip -n dcqcn_other addr add 10.0.0.9/24 dev mv0 &&
		$inside rdma link add rxemv type rxe netdev mv0 || fail "no rxe in a namespace"
	$inside grep -q ":12B7 " /proc/net/udp || want=arrives-but-dropped
	printf '#!/bin/sh\nexec %s %s "$@"\n' "$inside" "$(command -v "$DCQCN")" >$TMP/inside
	chmod +x $TMP/inside
	start remote serve "exec dcqcn doctor --serve"
	until_ok 20 on remote "ss -Hltn sport = :4791 | grep -q ."
	until_ok 20 $inside ping -c 1 -W 1 "${V4[remote]}" >/dev/null
	DCQCN=$TMP/inside finds "$want" "${V4[remote]}"
	[ -z "$want" ] || check "the cause" "$(jq -r '.[0].seen' $TMP/doctor | grep -c "nothing listens")" = 1
	stop remote serve
	$inside rdma link delete rxemv
	ip netns del dcqcn_other
}

# What a server says is what its command says; and it is bounded
serve()
{
	reload_both
	copy_command
	start remote serve "exec dcqcn doctor --serve"
	until_ok 20 on remote "ss -Hltn sport = :4791 | grep -q ." || { fail "it does not serve"; return; }
	check "its user" "$(on remote "ps -o user= -p \$(cat $TMP/serve.pid)")" = nobody
	finds "" "${V4[remote]}"
	perftest local ib_write_bw -m 1024 -s 65536 || return
	finds "" "${V4[remote]}"
	on remote "tc qdisc add dev ${IF[remote]} clsact &&
		   tc filter add dev ${IF[remote]} ingress $IS_ROCE action drop"
	finds arrives-but-dropped@remote "${V4[remote]}"
	# what a person sees: what happens meanwhile, and one sentence before the rest
	script -qec "$DCQCN doctor -i 500ms ${V4[remote]}" /dev/null </dev/null | tr -d '\r' >$TMP/seen
	check "progress" "$(head -n 2 $TMP/seen)" = "asking the doctor at ${V4[remote]}
watching RoCE packets at both hosts, for 500ms"
	check "the sentence" "$(sed -n 3p $TMP/seen)" = "$(on remote hostname), \
${DEV[remote]}: RoCE packets arrive, and are dropped before soft-RoCE accepts them. What to do there: \
nft insert rule inet filter input udp dport 4791 accept  # or iptables -I INPUT -p udp --dport 4791 -j ACCEPT; \
ufw allow 4791/udp; firewall-cmd --add-port=4791/udp; tc filter show dev ${IF[remote]} ingress"
	on remote "tc qdisc del dev ${IF[remote]} clsact"
	check "the answer to another word" -z "$(asked "reboot")"
	check "the answer to too long an interval" -z "$(asked "dcqcn doctor 2 10000000001")"
	check "too long an interval" "$($DCQCN doctor -i 11s "${V4[remote]}" 2>&1 | grep -c 'at most 10 seconds')" = 1
	check "the answer to nothing" -z "$(asked "")"
	check "the beginning of an answer" "$(asked "dcqcn doctor 2 1000" | grep -cE "^(address|ready|end)")" -ge 3
	stop remote serve
	finds "" "${V4[remote]}"
}

# What the server says to a line, and to the words of a doctor that keeps step
asked()
{
	exec 3<>"/dev/tcp/${V4[remote]}/4791" && printf '%s\nwatching\nwatched\n' "$1" >&3 && cat <&3
	exec 3<&-
}

# The interval of each begins and ends while the other one watches
late()
{
	reload_both
	copy_command
	mkdir -p $TMP/late
	cat >$TMP/late/ssh <<-END && chmod +x $TMP/late/ssh
		#!/bin/sh
		PATH='$PATH'
		{ sleep 2; cat; } | ssh "\$@" | { sleep 3; cat; }
	END
	perftest local ib_write_bw -m 1024 -s 65536 || return
	PATH=$TMP/late:$PATH peer ""
	check "a note" "$(wc -l <$TMP/doctor.err)" = 0
	# one that has ended is not waited for
	printf '#!/bin/sh\nprintf "ready 2\\nwatching\\n"\n' >$TMP/late/ssh
	check "what is said of one that has ended" "$(PATH=$TMP/late:$PATH "$DCQCN" doctor --peer h2 2>&1 | tail -n 1)" = \
		"dcqcn: h2: the doctor there has ended without a report"
}

run_tests "$@"
