# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Common code of the rdma_dcqcn tests. They run on one host and reach the other one
# with ssh, like the kernel's drivers/net selftests:
#
#   NETIF=eth0 REMOTE_TYPE=ssh REMOTE_ARGS=h2 ./cnp.sh [TEST ...]
#
# or with nsenter, if both hosts are namespaces of one kernel and time is simulated
# (selftests/simulated sets that up):
#
#   NETIF=eth0 REMOTE_TYPE=nsenter REMOTE_ARGS="-t PID -n -m -u" TRANSFER="transfer " ./cnp.sh
#
# Then the module is loaded for both or for neither, and time passes only while all
# processes sleep. TRANSFER (transfer.c) replaces perftest, which polls. GUESTS_ONLY names
# the tests of a script that cannot run like that: they need a kernel for each host, kprobes,
# a writable root file system, or perftest itself.
#
# NETIF is connected to an interface of the same name there (or REMOTE_NETIF),
# both have addresses in one IPv4 and one IPv6 network, and an rxe device. The module is
# loaded with modprobe, or from the file that DCQCN_MODULE names on both hosts. ADDRIF is
# the VLAN of NETIF that has the addresses, if one does. POLLERS is a cgroup.procs for
# perftest's clients, which poll without a pause, except those that send datagrams.
#
# Below, HOST is "local" or "remote". "on HOST ..." joins its words with blanks and runs
# them in a shell there.

export LC_ALL=C
KSFT_SKIP=4

NETIF=${NETIF:-eth0}
REMOTE_TYPE=${REMOTE_TYPE:-ssh}
REMOTE_ARGS=${REMOTE_ARGS:-}
REMOTE_NETIF=${REMOTE_NETIF:-$NETIF}
ADDRIF=${ADDRIF:-}
POLLERS=${POLLERS:-}
TRANSFER=${TRANSFER:-}		# and a blank, before the name of perftest's tool
GUESTS_ONLY=

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TMP=${TMPDIR:-/tmp}/dcqcn-selftest
CE=3				# traffic class: perftest marks its own packets
FAST_CNPS=4000			# us between CNPs, if it only matters that there are some

note() { echo "# $*"; }

skip_all()
{
	echo "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

# --- the two hosts ----------------------------------------------------------

on()
{
	local host=$1; shift

	if [ "$host" = local ]; then
		bash -c "$*"
	else
		at_remote "$*" </dev/null
	fi
}

# Like on(), with our standard input
at_remote()
{
	# shellcheck disable=SC2086,SC2029 # REMOTE_ARGS is words; expand here
	if [ "$REMOTE_TYPE" = nsenter ]; then
		nsenter $REMOTE_ARGS bash -c "$*"
	else
		ssh $REMOTE_ARGS "$*"
	fi
}

# Return true if both hosts share a kernel, in simulated time
simulated() { [ "$REMOTE_TYPE" = nsenter ]; }

other() { [ "$1" = local ] && echo remote || echo local; }

# Poll until a command succeeds: until_ok SECONDS COMMAND... On an emulated host, which
# may share its machine with others, seconds may be ten times as long.
PATIENCE=10
! simulated || PATIENCE=1
until_ok()
{
	local end=$((SECONDS + PATIENCE * $1)); shift

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

declare -A DEV IF AIF MAC V4 V6 GID4 GID6 PY

probe_host()
{
	local host=$1 nic=$2

	IF[$host]=$nic
	AIF[$host]=${ADDRIF:-$nic}
	DEV[$host]=$(on "$host" "rdma -j link show" |
		     jq -r ".[] | select(.netdev == \"$nic\") | .ifname")
	[ -n "${DEV[$host]}" ] || skip_all "no rxe device on $nic ($host)"
	MAC[$host]=$(on "$host" "cat /sys/class/net/${AIF[$host]}/address")
	until_ok 5 checked "$host" || skip_all "an address on ${AIF[$host]} is a duplicate ($host)"
	read_addresses "$host"
	PY[$host]="python3 $HERE/roce_packet.py"
	if [ "$host" = remote ]; then
		at_remote "mkdir -p $TMP && cat >$TMP/roce_packet.py" <"$HERE/roce_packet.py"
		PY[$host]="python3 $TMP/roce_packet.py"
	fi
	GID4[$host]=$(on "$host" "${PY[$host]} gid-index ${DEV[$host]} ${V4[$host]}")
	GID6[$host]=$(on "$host" "${PY[$host]} gid-index ${DEV[$host]} ${V6[$host]}")
}

# Return true if the kernel has checked all addresses for duplicates. Before, a host cannot resolve
# an IPv6 neighbour: the RDMA core asks for it from the link-local address, and only for a second.
checked() { [ -z "$(on "$1" "ip -6 addr show dev ${AIF[$1]} tentative")" ]; }

read_addresses()
{
	local host=$1 nic=${AIF[$1]}

	V4[$host]=$(on "$host" "ip -j -4 addr show dev $nic" | jq -r '.[].addr_info[0].local')
	V6[$host]=$(on "$host" "ip -j -6 addr show dev $nic scope global" |
		    jq -r '[.[].addr_info[]? | select(.local)][0].local')
}

# --- the module -------------------------------------------------------------

# A script that turns single knobs sets PROFILE, for the other knobs; the rest test the
# default profile
PROFILE=
MODULE_ARGS=
load()
{
	! simulated || ! on "$1" "grep -q ^rdma_dcqcn /proc/modules" || return 0
	on "$1" "if [ -n '$DCQCN_MODULE' ]; then insmod $DCQCN_MODULE $2;
		 else modprobe rdma_dcqcn $2; fi"
}

unload() { on "$1" "! grep -q ^rdma_dcqcn /proc/modules || rmmod rdma_dcqcn"; }

# Default knobs, no entries, counters at zero
reload()
{
	local host

	! simulated || set -- local
	for host in "${@:-local}"; do
		on "$host" "! grep -q ^rdma_dcqcn /proc/modules || rmmod rdma_dcqcn || exit
			    if [ -n '$DCQCN_MODULE' ]; then insmod $DCQCN_MODULE $MODULE_ARGS;
			    else modprobe rdma_dcqcn $MODULE_ARGS; fi" ||
			fail "$host: the module cannot be loaded again"
	done
}
reload_both() { reload local remote; }

ecn() { echo "/sys/class/net/${IF[$1]}/ecn"; }

# knobs HOST NAME=VALUE ...
knobs()
{
	local host=$1 k cmd=; shift

	for k in "$@"; do
		cmd+="echo ${k#*=} >$(ecn "$host")/${k%%=*} || exit 1; "
	done
	on "$host" "$cmd"
}

hw() { echo "/sys/class/infiniband/${DEV[$1]}/ports/1/hw_counters"; }
counter() { on "$1" "cat $(hw "$1")/$2"; }

# Read a host's counters into shell variables: counters HOST PREFIX
counters()
{
	eval "$(on "$1" "cd $(hw "$1"); grep . *" | sed "s/^\([a-z_0-9]*\):/$2\1=/")"
}

counter_is() { [ "$(counter "$1" "$2")" "$3" "$4" ]; }

# A constant rate, once a flow has seen a CNP: recovery is as slow as possible, and keeps
# the target, which is the rate itself, for four seconds after each CNP. It is also the
# lowest rate, so it stays while a trickle() runs. Alpha decays slowly, so that the first
# CNPs of a trickle that begins later than that bring the rate back.
fixed_rate() # HOST MBPS
{
	# a flow that starts again after a pause would find another rate
	knobs "$1" roce_rp/start_burst=0 \
		roce_rp/rate_to_set_on_first_cnp="$2" roce_rp/rpg_min_rate="$2" \
		roce_rp/rpg_time_reset=131071 roce_rp/rpg_byte_reset=0 \
		roce_rp/rpg_threshold=31 roce_rp/rpg_ai_rate=1 roce_rp/rpg_hai_rate=1 \
		roce_rp/dce_tcp_rtt=131071
}

# --- jobs -------------------------------------------------------------------

JOBS=()

# start HOST NAME COMMAND: run in the background, with output to $TMP/NAME.log there.
# COMMAND has no single quotes.
start()
{
	local host=$1 name=$2; shift 2

	note "$host: $*"
	JOBS+=("$host:$name")
	on "$host" "mkdir -p $TMP && cd $TMP && rm -f $name.rc $name.pid
		    (setsid bash -c '$* >$name.log 2>&1 & echo \$! >$name.pid; wait \$!
				     echo \$? >$name.rc' </dev/null >/dev/null 2>&1 &)
		    until [ -s $name.pid ]; do sleep 0.02; done"
}

# Wait for a job; return its exit status, or 124 if it takes longer
wait_job() # HOST NAME SECONDS
{
	return "$(on "$1" "cd $TMP; end=\$((SECONDS + $PATIENCE * $3))
		  until [ -s $2.rc ]; do
			[ \$SECONDS -lt \$end ] || { echo 124; exit; }
			sleep 0.1
		  done; cat $2.rc")"
}

# End a job, and only its processes: stop HOST NAME [SIGNAL]
stop()
{
	on "$1" "cd $TMP; [ -s $2.pid ] || exit 0
		 [ -s $2.rc ] || kill -${3:-TERM} \$(cat $2.pid) 2>/dev/null
		 end=\$((SECONDS + 10))
		 until [ -s $2.rc ]; do
			[ \$SECONDS -lt \$end ] || kill -KILL \$(cat $2.pid) 2>/dev/null
			[ \$SECONDS -lt \$((end + $PATIENCE * 10)) ] || exit 1
			sleep 0.05
		 done"
}

stop_jobs()
{
	local job

	for job in "${JOBS[@]}"; do
		stop "${job%%:*}" "${job#*:}" "$1" || fail "${job%%:*}: the job ${job#*:} does not end"
	done
	JOBS=()
}

log_of() { on "$1" "tail -n ${3:-8} $TMP/$2.log" | sed 's/^/#   /'; }

# --- traffic ----------------------------------------------------------------

PORT=18600
CLIENT=local			# side that runs the client, and sends unless it reads

# perftest HOST-OF-CLIENT TOOL OPTIONS...; V=6 for IPv6. Returns when it is connected:
# QPN[local] and QPN[remote] are the QPs. Without -D in OPTIONS it runs until it is
# stopped; each test's jobs are stopped at its end.
declare -A QPN
perftest()
{
	local client=$1 tool=$2 server; shift 2
	local cgid sgid to options
	options=$(with_defaults "$@")
	server=$(other "$client")
	PORT=$((PORT + 1))
	CLIENT=$client
	if [ "${V:-4}" = 6 ]; then
		cgid=${GID6[$client]} sgid=${GID6[$server]}
	else
		cgid=${GID4[$client]} sgid=${GID4[$server]}
	fi
	to=${V4[$server]}
	start "$server" server "exec $TRANSFER$tool -F -d ${DEV[$server]} -x $sgid -p $PORT $options"
	on "$server" "end=\$((SECONDS + $PATIENCE * 20))
		until ss -Hltn sport = :$PORT | grep -q .; do
			[ \$SECONDS -lt \$end ] || exit 1; sleep 0.05; done" || {
		fail "$tool does not listen"
		log_of "$server" server
		return 1
	}
	start "$client" client "exec $TRANSFER$tool -F -d ${DEV[$client]} -x $cgid -p $PORT $options $to"
	if ! until_ok 20 begun || client_failed; then
		fail "$tool did not connect"
		log_of "$client" client
		log_of "$server" server
		return 1
	fi
	case $POLLERS:$tool in
	:*|*:ib_send_bw) ;;
	*) on "$client" "cat $TMP/client.pid >$POLLERS" 2>/dev/null ;;	# or it has ended
	esac
	return 0
}

# Some versions of perftest refuse an option that is given twice. The ack timeout, -u 18,
# is 1 s, for hosts that stall for a moment.
with_defaults() # OPTIONS
{
	local options=" $* " option

	for option in "-D 3600" "-u 18"; do
		[[ $options == *" ${option% *} "* ]] || options+="$option "
	done
	echo "$options"
}

# Jobs that end by themselves may have ended already
begun() { connected || [ -n "$(client_status)" ]; }
client_failed() { [ "$(client_status)" -gt 0 ] 2>/dev/null; }
client_status() { on "$CLIENT" "cat $TMP/client.rc 2>/dev/null"; }

qpns() # HOST: numbers of its RC, UC and UD QPs that can send
{
	on "$1" "rdma -j resource show qp link ${DEV[$1]}/1" |
		jq -r '.[] | select(.type != "GSI" and .type != "SMI" and .state == "RTS" and
				    .comm != null and .comm != "[ib_core]") | .lqpn'
}

connected()
{
	QPN[$CLIENT]=$(qpns "$CLIENT" | head -n 1)
	[ -n "${QPN[$CLIENT]}" ] || return 1
	# the server's stays in RTR if it never sends
	QPN[$(other "$CLIENT")]=$(on "$(other "$CLIENT")" \
		"rdma -j resource show qp link ${DEV[$(other "$CLIENT")]}/1" |
		jq -r '[.[] | select(.type == "RC" or .type == "UC" or .type == "UD") |
			select(.state == "RTS" or .state == "RTR")][0].lqpn // empty')
	[ -n "${QPN[$(other "$CLIENT")]}" ]
}

# End the traffic of perftest() early, as a user would
stop_perftest()
{
	stop "$CLIENT" client "${1:-TERM}"
	stop "$(other "$CLIENT")" server "${1:-TERM}"
}

# Have the other host send packets to HOST: inject HOST OPTIONS...
inject() { on "$(other "$1")" "$(injection "$@")"; }

injection()
{
	local to=$1 from; shift
	local src dst
	from=$(other "$to")
	if [ "${V:-4}" = 6 ]; then
		src=${V6[$from]} dst=${V6[$to]}
	else
		src=${V4[$from]} dst=${V4[$to]}
	fi
	echo "${PY[$from]} send ${AIF[$from]} --src $src --dst $dst --mac ${MAC[$to]} $*"
}

# The same ten times a second, until the test ends or "stop HOST trickle"
trickle() { start "$(other "$1")" trickle "exec $(injection "$@" --count 100000 --gap 100)"; }

# One good CNP for the QP that perftest() connected on HOST
cnp() { inject "$1" --qpn "${QPN[$1]}" "${@:2}"; }

# Delay the RDMA core's description of each QP: delay HOST MILLISECONDS
FAULTS=/sys/kernel/debug/rdma_dcqcn
delay() { on "$1" "echo $2 >$FAULTS/delay_resolve_ms"; }

# kb/s that HOST sends over about SECONDS. The real time is measured, and no process is
# started between reading the clock and the bytes: on a busy host that may take a tenth of
# the time.
sending_rate()
{
	on "$1" "f=/sys/class/net/${IF[$1]}/statistics/tx_bytes
		 read -r b <\$f; t=10#\${EPOCHREALTIME/./}; sleep $2
		 read -r e <\$f; t=\$((10#\${EPOCHREALTIME/./} - t))
		 echo \$(((e - b) * 8000 / t))"
}

# Return true if the local, loaded module has tracepoints; otherwise the test fails, or is
# skipped if the kernel has none at all
TRACING=/sys/kernel/tracing
has_tracepoints()
{
	mountpoint -q $TRACING || mount -t tracefs none $TRACING || { fail "no tracefs"; return 1; }
	[ -d $TRACING/events ] || { skip "this kernel has no tracepoints"; return 1; }
	[ -d $TRACING/events/rdma_dcqcn ] || { fail "the module has no tracepoints"; return 1; }
}

# L2 bytes that HOST has sent; return true if they exceed a number
sent_bytes() { on "$1" "cat /sys/class/net/${IF[$1]}/statistics/tx_bytes"; }
has_sent() { [ "$(sent_bytes "$1")" -gt "$2" ]; }

# tcpdump on HOST into $TMP/cap.pcap: sniff HOST SNAPLEN FILTER...
sniff()
{
	local host=$1 len=$2; shift 2

	start "$host" tcpdump "exec tcpdump -i ${IF[$host]} -s $len -B 16384 --immediate-mode -U -w $TMP/cap.pcap $*"
	until_ok 10 on "$host" "grep -q 'listening on' $TMP/tcpdump.log"
}
CNP_FILTER='"udp dst port 4791 and (udp[8] == 0x81 or ip6[48] == 0x81)"'
ROCE_FILTER='"udp dst port 4791"'

# --- tests ------------------------------------------------------------------

FAILED=0
SKIPPED=

fail() { note "FAIL: $*"; FAILED=1; }
skip() { SKIPPED="$*"; }

# check "what must hold" A -op B: test(1) with numbers
check()
{
	local what=$1; shift

	# shellcheck disable=SC2074 # the operator is an argument
	if [ "$@" ]; then
		return 0
	fi
	fail "$what: not so: $*"
	return 1
}

# Wait for a counter: await SECONDS HOST COUNTER -op VALUE
await()
{
	local seconds=$1; shift

	until_ok "$seconds" counter_is "$@" || fail "$1: $2 is $(counter "$1" "$2"), not $3 $4"
}

cleanup()
{
	stop_jobs KILL
	unload local
	unload remote
}

need()
{
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	[[ $REMOTE_TYPE =~ ^(ssh|nsenter)$ ]] && [ -n "$REMOTE_ARGS" ] ||
		skip_all "set REMOTE_TYPE=ssh REMOTE_ARGS=host"
	# If ssh shares connections, the first one stays in the background and would keep our
	# output open.
	on remote true >/dev/null 2>&1 || skip_all "cannot reach $REMOTE_ARGS"
	local tool
	for tool in rdma jq tcpdump ${TRANSFER:-ib_write_bw} python3 ss; do
		on local "command -v $tool >/dev/null" || skip_all "$tool is missing"
	done
	mkdir -p $TMP
	probe_host local "$NETIF"
	probe_host remote "$REMOTE_NETIF"
	note "local: ${DEV[local]} on ${IF[local]}, ${V4[local]}, ${V6[local]}"
	note "remote: ${DEV[remote]} on ${IF[remote]}, ${V4[remote]}, ${V6[remote]}"
}

# run_tests "$@" with TESTS=("function description" ...): run all tests, or those named; with
# --list before them, print their names instead
run_tests()
{
	local name t list=() n=0 failures=0 skips=0 began listed=

	name=$(basename "$0" .sh)
	[ "${1:-}" != --list ] || { listed=y; shift; }
	for t; do
		[[ " ${TESTS[*]%% *} " == *" $t "* ]] || { echo "Bail out! $name has no test $t"; exit 1; }
	done
	for t in "${TESTS[@]}"; do
		[ $# -eq 0 ] || [[ " $* " == *" ${t%% *} "* ]] || continue
		if simulated && [[ " $GUESTS_ONLY " == *" ${t%% *} "* ]]; then
			[ -z "$listed" ] || continue
			note "only in guests: $name: ${t#* }"
			continue
		fi
		list+=("$t")
	done
	[ -z "$listed" ] || { printf '%s\n' "${list[@]%% *}"; exit; }
	echo "TAP version 13"
	need
	trap cleanup EXIT
	echo "1..${#list[@]}"
	for t in "${list[@]}"; do
		n=$((n + 1))
		began=$SECONDS
		FAILED=0 SKIPPED='' V=4 MODULE_ARGS=${PROFILE:+profile=$PROFILE}
		"${t%% *}"
		stop_jobs KILL
		if [ $FAILED != 0 ]; then
			echo "not ok $n $name: ${t#* }"
			failures=$((failures + 1))
		elif [ -n "$SKIPPED" ]; then
			echo "ok $n $name: ${t#* } # SKIP $SKIPPED"
			skips=$((skips + 1))
		else
			echo "ok $n $name: ${t#* }"
		fi
		note "${t%% *}: $((SECONDS - began)) s"
	done
	echo "# Totals: pass:$((n - failures - skips)) fail:$failures xfail:0 xpass:0 skip:$skips error:0"
	[ $failures = 0 ] || exit 1
	[ $skips -lt $n ] || exit $KSFT_SKIP
	exit 0
}
