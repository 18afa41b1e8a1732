# SPDX-License-Identifier: GPL-2.0
#
# Two rxe devices that a veth pair connects
#
# The tests that follow all need two rxe devices, one of them in a network
# namespace of its own, and a program that sends from one to the other and
# fails if anything is missing. Those of rdma-core are enough. Each test is
# skipped if one of its programs or modules is missing.
# shellcheck shell=bash

KSFT_SKIP=4
NS=rxe_far
NEAR=10.0.0.1
FAR=10.0.0.2
PINGPONG_PORT=18515

skip()
{
	echo "SKIP: $*"
	exit $KSFT_SKIP
}

fail()
{
	echo "FAULT: $*"
	exit 1
}

# Poll for up to ten seconds until a command succeeds
poll()
{
	local i

	for i in {1..100}; do
		"$@" && return
		sleep 0.1
	done
	return 1
}

in_far()
{
	ip netns exec $NS "$@"
}

cleanup()
{
	rdma link del rxe_near 2>/dev/null
	in_far rdma link del rxe_far 2>/dev/null
	ip link del near 2>/dev/null
	ip link del top 2>/dev/null
	ip netns del $NS 2>/dev/null
}

# need PROGRAM...
need()
{
	local p

	[ "$(id -u)" -eq 0 ] || skip "must be run as root"
	for p in ip ping rdma ss "$@"; do
		command -v "$p" >/dev/null || skip "missing command: $p"
	done
	for p in veth rdma_rxe; do
		modprobe "$p" || skip "module $p not found"
	done
	trap cleanup EXIT
}

setup_veth()
{
	ip netns add $NS || fail "no namespace"
	ip link add near type veth peer name far netns $NS || fail "no veth"
	ip addr add $NEAR/24 dev near
	ip addr add fd00::1/64 dev near nodad
	ip link set near up
	in_far ip addr add $FAR/24 dev far
	in_far ip addr add fd00::2/64 dev far nodad
	in_far ip link set far up
	in_far ip link set lo up
}

# add_links [NEAR_DEVICE [FAR_DEVICE]]
add_links()
{
	rdma link add rxe_near type rxe netdev "${1:-near}" || fail "no rxe on ${1:-near}"
	in_far rdma link add rxe_far type rxe netdev "${2:-far}" || fail "no rxe on ${2:-far}"
}

# gid DEVICE GID: its index, of those for RoCEv2
gid()
{
	local dir=/sys/class/infiniband/$1/ports/1 f gid type

	# there are a thousand: start no program for each
	for f in "$dir"/gids/*; do
		read -r gid <"$f" && [ "$gid" = "$2" ] &&
			read -r type <"$dir/gid_attrs/types/${f##*/}" &&
			[ "$type" = "RoCE v2" ] && echo "${f##*/}" && return
	done 2>/dev/null
	return 1
}

# gids of the two ends
V4_NEAR=0000:0000:0000:0000:0000:ffff:0a00:0001
V4_FAR=0000:0000:0000:0000:0000:ffff:0a00:0002
V6_NEAR=fd00:0000:0000:0000:0000:0000:0000:0001
V6_FAR=fd00:0000:0000:0000:0000:0000:0000:0002

has_gid()
{
	[ -n "$(gid "$@")" ]
}

listens()
{
	[ -n "$(in_far ss -Hltn "sport = :$PINGPONG_PORT")" ]
}

# pingpong V4|V6 PROGRAM [OPTION...]: one of rdma-core's ibv_*_pingpong, both ends of it. They
# wait for events (-e), and do not keep the CPU from rxe.
pingpong()
{
	local near=$1_NEAR far=$1_FAR program=$2 server status; shift 2

	poll has_gid rxe_near "${!near}" && poll has_gid rxe_far "${!far}" || return
	# over IPv6, INIT to RTR fails while the neighbour is not resolved
	[ "$near" = V4_NEAR ] || poll ping -c 1 -W 1 fd00::2 >/dev/null || return
	in_far timeout 60 "$program" -e -d rxe_far -g "$(gid rxe_far "${!far}")" "$@" >/dev/null &
	server=$!
	poll listens || return
	timeout 60 "$program" -e -d rxe_near -g "$(gid rxe_near "${!near}")" "$@" $FAR >/dev/null
	status=$?
	wait $server && return $status
}
