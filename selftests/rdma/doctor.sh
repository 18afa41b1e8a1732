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
	"floor A limiter at its ack-timeout floor"
	"loss Loss without marks"
	"unanswered Marks that cannot be answered"
	"ect ECT that the host itself clears"
	"loopback Traffic from a host to itself"
	"others CNPs that go to another sender are not lost"
	"names Names of devices and hosts that a shell or a terminal would obey"
	"way ECN cleared, DSCP rewritten, CNPs lost between the hosts"
)

DCQCN=${DCQCN:-dcqcn}
command -v "$DCQCN" >/dev/null || skip_all "no command dcqcn"

COPIED=
copy_command()
{
	[ -z "$COPIED" ] || return 0
	on remote "command -v dcqcn >/dev/null" ||
		at_remote "cat >/usr/local/bin/dcqcn && chmod +x /usr/local/bin/dcqcn" <"$DCQCN"
	COPIED=1
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

knobs_of_loop()
{
	reload_both
	copy_command
	marked || return
	knobs local roce_rp/rpg_min_dec_fac=100
	alone no-cut-min-dec-fac
	usual_knobs
	knobs local roce_rp/rpg_gd=15
	alone no-cut-gd
	check "text" "$("$DCQCN" doctor -i 100ms)" = "no-cut-gd: ${DEV[local]} on $(hostname)
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
	# shorter than a round trip, and long enough for the limiter to stay
	knobs local roce_rp/rpg_time_reset=200
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
		printf 'ready\nhost h2 0\ndev rxe0 %s 0\nend\n' "$name" >$TMP/answer
		said=$(PATH=$TMP/bin:$PATH "$DCQCN" doctor -i 1ms --peer h2 2>&1)
		check "status for a peer's $name" $? = 1
		check "its error" "${said##*$'\n'}" = \
			"dcqcn: rxe0 on $name: the peer's device has a name that a shell would change"
	done
	printf 'ready\nhost \033[2J\302\233h2 0\ndev rxe0 eth0 0\nend\n' >$TMP/answer
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

run_tests "$@"
