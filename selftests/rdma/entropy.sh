#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Flows of contexts leave congested paths, without a gap that rxe would answer with a NAK.
#
#   h1 eth2 -- r1 ==== r2 -- eth2 h2	two equal routes, through links pa and pb

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"ports Many QPs, IPv4: they leave the source ports whose packets are marked"
	"one_port One QP with much in flight leaves them, too"
	"off With ccc_entropy 0 they stay"
	"routes 64 QPs, IPv6: they leave one of two equal routes, chosen by ports"
	"labels 64 QPs, IPv6: they leave one of two equal routes, chosen by flow label"
)

DCQCN=${DCQCN:-dcqcn}
command -v "$DCQCN" >/dev/null || skip_all "no command dcqcn"

QPS=64
simulated || QPS=16	# perftest does not connect 64 in time in an emulated host

# Much in flight, so that flows do not pause: a window of 94 KB
contexts()
{
	local host
	for host in local remote; do
		knobs $host roce_rp/ccc_algorithms=3 roce_rp/rpg_max_rate=50 \
			roce_rp/ccc_base_rtt=10000 roce_rp/ccc_initial_window=60000 "$@"
	done
}

# As if a hash of the ports chose a path: packets with an odd source port are on the bad one
mark_odd_ports()
{
	on remote "tc qdisc add dev ${IF[remote]} clsact &&
		tc filter add dev ${IF[remote]} ingress protocol ip u32 \
			match ip protocol 17 0xff match ip tos 2 3 \
			match ip sport 1 1 match ip dport 4791 0xffff \
			action pedit ex munge ip tos set 3 retain 3 pipe csum ip" ||
		fail "no marks"
}

unmark() { on remote "tc qdisc del dev ${IF[remote]} clsact"; }

marked() { counter remote np_ecn_marked_roce_packets; }

# More gets through, and none of it is marked
not_marked()
{
	local marked bytes
	marked=$(marked) bytes=$(sent_bytes local)
	until_ok 5 has_sent local $((bytes + 1000000)) && [ "$(marked)" = "$marked" ]
}

# An emulated host may stall for longer than a QP waits, and send again for that
no_gap()
{
	check "QPs" "$(qpns local | wc -l)" = "$4"
	simulated || return 0
	check "packets out of sequence" "$(counter remote out_of_seq_request)" = "$1"
	check "NAKs" "$(counter local rcvd_seq_err)" = "$2"
	check "packets sent again" "$(counter local completer_retry_err)" = "$3"
}

counts() { for c in "remote out_of_seq_request" "local rcvd_seq_err" "local completer_retry_err"; do
	# shellcheck disable=SC2086 # words
	counter $c; done; }

leave() # QPS CHANGES-AT-LEAST
{
	local before changes
	reload_both
	contexts
	before=$(counts)
	mark_odd_ports
	perftest local ib_write_bw -q "$1" -m 1024 -s 65536 -t 2 || { unmark; return; }
	until_ok 60 not_marked || fail "packets are marked still"
	changes=$(counter local rp_entropy_changes)
	note "$changes changes"
	check "changes" "$changes" -ge "$2"
	check "dcqcn ccc" "$("$DCQCN" -j ccc dev "${DEV[local]}" |
		jq "map(.entropy_changes) | add")" = "$changes"
	# shellcheck disable=SC2086 # words
	no_gap $before "$1"
	stop_perftest
	unmark
}

# As many as have an odd port: half of them, more or less
ports() { leave $QPS $((QPS / 8)); }

one_port()
{
	local n
	# one of a few has an odd port
	for n in 1 2 3 4 5 6 7 8; do
		leave 1 0
		[ "$(counter local rp_entropy_changes)" = 0 ] || return
	done
	fail "no QP had an odd port"
}

off()
{
	local before
	reload_both
	contexts roce_rp/ccc_entropy=0
	mark_odd_ports
	perftest local ib_write_bw -q 16 -m 1024 -s 65536 -t 2 || { unmark; return; }
	before=$(sent_bytes local)
	until_ok 20 has_sent local $((before + 20000000)) || fail "nothing is sent"
	check "changes" "$(counter local rp_entropy_changes)" = 0
	not_marked && fail "no packet is marked"
	stop_perftest
	unmark
}

ROUTERS="r1 r2"

routers() # HASH-POLICY
{
	local there=${REMOTE_ARGS#*-t } n r
	there=${there%% *}
	for r in $ROUTERS; do
		ip netns add "$r" && ip -n "$r" link set lo up &&
			ip netns exec "$r" sh -c "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
				echo $1 >/proc/sys/net/ipv6/fib_multipath_hash_policy" || return
	done
	ip -n r1 link add name edge type veth peer name eth2 netns $$ &&
		ip -n r2 link add name edge type veth peer name eth2 netns "$there" &&
		ip -n r1 link add name pa type veth peer name pa netns r2 &&
		ip -n r1 link add name pb type veth peer name pb netns r2 || return
	for n in 1 2; do
		for r in "edge fd02:$n::fe" "pa fd02:a::$n" "pb fd02:b::$n"; do
			ip -n r$n link set "${r% *}" up &&
				ip -n r$n addr add "${r#* }/64" dev "${r% *}" nodad &&
				tc -n r$n qdisc add dev "${r% *}" root tbf rate 50mbit \
					burst 20000 limit 10000000 || return
		done
		ip -n r$n route add "fd02:$((3 - n))::/64" nexthop via "fd02:a::$((3 - n))" dev pa \
			nexthop via "fd02:b::$((3 - n))" dev pb || return
	done
	for n in 1 2; do
		on "$([ $n = 1 ] && echo local || echo remote)" "ip link set eth2 up &&
			ip addr add fd02:$n::$n/64 dev eth2 nodad &&
			ip route add fd02::/16 via fd02:$n::fe &&
			tc qdisc add dev eth2 root tbf rate 50mbit burst 60000 limit 10000000 &&
			rdma link add rxe2$n type rxe netdev eth2" || return
	done
	# neighbours are solicited from link-local addresses
	until_ok 10 on local "! ip -6 addr show tentative | grep -q ." &&
		until_ok 10 on remote "! ip -6 addr show tentative | grep -q ." || return
	for r in $ROUTERS; do
		until_ok 10 on local "! ip -n $r -6 addr show tentative | grep -q ." || return
	done
	IF=([local]=eth2 [remote]=eth2)
	DEV=([local]=rxe21 [remote]=rxe22)
	for n in "local 1" "remote 2"; do
		GID6[${n% *}]=$(on "${n% *}" "${PY[${n% *}]} gid-index rxe2${n#* } fd02:${n#* }::${n#* }")
	done
}

no_routers()
{
	local r
	on local "rdma link del rxe21; ip link del eth2"
	on remote "rdma link del rxe22; ip link del eth2"
	for r in $ROUTERS; do
		ip netns del "$r"
	done
	probe_host local "$NETIF"
	probe_host remote "$REMOTE_NETIF"
}

# Packets that r1 has sent through a link
carried() { ip -n r1 -s -j link show dev "$1" | jq ".[0].stats64.tx.packets"; }
has_carried() { [ "$(carried "$1")" -ge "$2" ]; }

carry() { [ $(($(carried pa) + $(carried pb))) -ge "$1" ]; }

# The good link carries packets, and the bad one nothing but neighbours' solicitations
have_left() # BAD GOOD
{
	local bad good
	bad=$(carried "$1") good=$(carried "$2")
	until_ok 5 has_carried "$2" $((good + 1000)) && ! has_carried "$1" $((bad + 10))
}

leave_a_route() # HASH-POLICY
{
	local before changes bad=pb good=pa

	if ! simulated; then
		skip "it needs two hosts that are namespaces of one kernel"
		return
	fi
	routers "$1" || { fail "no routers"; no_routers; return; }
	reload_both
	contexts
	before=$(counts)
	V=6
	perftest local ib_write_bw -q 64 -m 1024 -s 65536 -t 2 || { no_routers; return; }
	# by flow label, all of them have one path
	until_ok 20 carry 3000 || fail "nothing is sent"
	has_carried pb 500 || { bad=pa good=pb; }
	note "before: $(carried pa) and $(carried pb) packets"
	{ tc -n r2 qdisc add dev $bad clsact &&
		tc -n r2 filter add dev $bad ingress protocol ipv6 flower ip_proto udp \
			dst_port 4791 action pedit ex munge ip6 traffic_class set 3 retain 3; } ||
		fail "no marks"
	until_ok 60 have_left $bad $good || fail "$bad carries packets still"
	changes=$(counter local rp_entropy_changes)
	note "after: $(carried pa) and $(carried pb) packets, $changes changes"
	check "changes" "$changes" -ge 16
	# shellcheck disable=SC2086 # words
	no_gap $before 64
	stop_perftest
	no_routers
}

routes() { leave_a_route 1; }
labels() { leave_a_route 0; }

run_tests "$@"
