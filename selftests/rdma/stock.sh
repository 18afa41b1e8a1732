#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A host that has contexts, towards one that has only rxe: all its packets are valid for that.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"packets A host without contexts receives a million packets of one that has them"
)

PACKETS=1000000
simulated || PACKETS=100000	# an emulated host sends a tenth as many in three minutes

# What rxe counts when a packet is missing, or was not valid
ERRORS="out_of_seq_request duplicate_request rcvd_seq_err completer_retry_err \
	retry_exceeded_err rcvd_rnr_err send_err"

# opcodes of vendors; and data packets that offer contexts, which prove that this looks
VENDOR="udp[8] >= 0xc0"
OFFER="udp[12] & 0x30 == 0x30"

captured() { on remote "tcpdump -nr $TMP/cap.pcap '$1' 2>/dev/null" >$TMP/captured; }

packets()
{
	local host name before

	reload_both
	knobs local roce_rp/ccc_algorithms=3 roce_rp/rpg_max_rate=50
	if simulated; then
		on remote "for f in $(ecn remote)/roce_*/enable/*; do echo 0 >\$f; done"
	else
		unload remote
	fi
	before=$(counter remote rcvd_pkts)
	sniff remote 60 "\"udp dst port 4791 and ($VENDOR or $OFFER)\"" || { fail "no capture"; return; }
	perftest local ib_write_bw -m 256 -s 65536 || return
	await 180 remote rcvd_pkts -gt $((before + PACKETS))
	check "the QP" "$(qpns local)" = "${QPN[local]}" || log_of local client
	check "contexts" "$(counter local ccc_contexts)" = 1
	stop_perftest
	stop remote tcpdump INT
	for host in local remote; do
		for name in $ERRORS; do
			check "$host $name" "$(counter $host "$name")" = 0
		done
	done
	check "feedback that came" "$(counter local rp_feedback_handled)" = 0
	captured "$OFFER"
	check "offers" -s $TMP/captured
	captured "$VENDOR"
	check "an opcode of a vendor: $(head -n 1 $TMP/captured)" ! -s $TMP/captured
}

run_tests "$@"
