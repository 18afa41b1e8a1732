#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The limiter does no harm: a QP does not run into its ack timeout, and its data stay intact.
# tools/bench/bench measures how exactly packets are paced.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

PROFILE=sigcomm15

POLLERS=''			# only the pacer may slow down the traffic

TESTS=(
	"slow Messages that take longer than the ack timeout are not retransmitted"
	"rping rping's data are intact without pacing"
	"rping_paced rping's data are intact with pacing"
)

# One CNP, then what leaves from 0.2 to 3.9 s after it: before the first
# increase that changes the target. RATE: Mb/s of L2 bytes without FCS; PRESENT: without
# the time by which the host was later than the pacer may make up for.
WINDOW="0.2 3.9"
paced() # MBPS PERFTEST-OPTIONS...
{
	local mbps=$1 unlimited; shift

	reload local
	fixed_rate local "$mbps"
	perftest local ib_write_bw -m 1024 -s 65536 "$@" || return
	unlimited=$(sending_rate local 1)
	check "kb/s without a limit" "$unlimited" -ge $((mbps * 1500)) || return
	sniff local 64 "$ROCE_FILTER"
	RETRIES=$(counter local completer_retry_err)
	cnp local
	await 5 local rp_limited_qps = 1
	sleep 4.5		# the window itself, and a little more
	RETRIES=$(($(counter local completer_retry_err) - RETRIES))
	stop local tcpdump
	stop_perftest
	RATE=$(${PY[local]} rate $TMP/cap.pcap $WINDOW) || { fail "$RATE"; return 1; }
	read -r RATE PRESENT <<<"$RATE"
	note "$RATE Mb/s, $PRESENT while the host was there, $RETRIES retransmissions; $(log_of local tcpdump 3 | tr '\n' ' ')"
}
# within MBPS PERCENT: never more, and less only if the host was late
within()
{
	python3 -c "import sys
sys.exit(not ($RATE <= $1 * (1 + $2 / 100) and $PRESENT >= $1 * (1 - $2 / 100)))" ||
		fail "$RATE Mb/s, or $PRESENT, is not within $2 percent of $1"
	python3 -c "import sys; sys.exit(not $RATE >= 0.9 * $PRESENT)" ||
		fail "packets were late for a tenth of the time: the host, or the pacer"
}

# A message takes 140 ms, and the ack timeout is 67 ms
slow()
{
	paced 4 -u 14 || return
	within 4 3
	# Without ACKs in between, rxe would retransmit 15 times a second. The emulator may
	# stop a guest for a while, now and then.
	check "retransmissions" "$RETRIES" -le 5
}

SIZE=32768
ping_pong() # COUNT
{
	COUNT=$1
	start remote server "exec rping -s -a ${V4[remote]} -C $1 -S $SIZE"
	until_ok 10 on remote "rdma resource show cm_id | grep -q LISTEN" || fail "no listener"
	start local client "exec rping -c -a ${V4[remote]} -V -v -C $1 -S $SIZE"
}

# -V makes rping compare the data that return; its exit status alone says little
rping_ends_well()
{
	local rc
	wait_job local client 90; rc=$?
	check "rping's exit status" $rc = 0
	check "pings" "$(on local "grep -ac ^ping.data $TMP/client.log")" = "$COUNT"
	check "complaints" "$(on local "grep -aciE 'invalid|error|failed' $TMP/client.log")" = 0
	stop remote server
}

rping()
{
	reload_both
	ping_pong 20
	rping_ends_well
}

# The client's share is READ responses: the server reads what it then writes
rping_paced()
{
	reload_both
	fixed_rate local 20
	ping_pong 1000
	until_ok 20 connected || { fail "rping did not connect"; return; }
	cnp local
	await 5 local rp_limited_qps = 1
	rping_ends_well
	check "packets held" "$(counter local rp_held_packets)" -gt 0
}

run_tests "$@"
