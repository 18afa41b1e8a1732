#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A qdisc of the host itself drops packets. From Linux 6.12 on, rxe ends a QP if a packet
# cannot be sent. The module must not make that worse, and rxe never learns the result for
# packets of a limited QP.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

PROFILE=sigcomm15

TESTS=(
	"limited A limited QP survives drops at the host's qdisc"
	"unlimited An unlimited QP behaves as without the module"
)

# rxe gives up after seven ack timeouts of 2 s
WRITE="-m 1024 -s 65536 -u 19"

# Longer packets do not fit, such as all data packets
drop_data() { on local "tc qdisc replace dev ${IF[local]} root bfifo limit 500"; }
drop_nothing() { on local "tc qdisc replace dev ${IF[local]} root pfifo limit 10000"; }
dropped()
{
	[ "$(on local "tc -s -j qdisc show dev ${IF[local]}" | jq '.[0].drops')" -gt 0 ]
}

limited()
{
	local released retries

	reload_both
	fixed_rate local 10
	perftest local ib_write_bw $WRITE || return
	cnp local
	await 20 local rp_held_bytes -gt 0
	retries=$(counter local completer_retry_err)
	drop_data
	until_ok 30 dropped || fail "nothing was dropped"
	# Retransmissions are dropped, too, beginning with packets that need not be held after a pause
	await 20 local completer_retry_err -ge $((retries + 2))
	drop_nothing
	released=$(counter local rp_released_packets)
	await 20 local rp_released_packets -gt $((released + 200))
	check "the QP" "$(qpns local)" = "${QPN[local]}" || log_of local client
	stop_perftest
}

# Return true if the QP survives
survives()
{
	local bytes result=dies

	perftest local ib_write_bw $WRITE || return
	bytes=$(sent_bytes local)
	until_ok 20 has_sent local $((bytes + 200000)) || fail "nothing is sent"
	drop_data
	until_ok 30 dropped_or_dead || fail "nothing was dropped"
	drop_nothing
	bytes=$(sent_bytes local)
	until_ok 20 sent_or_dead $((bytes + 200000)) || fail "it neither sends nor ends"
	dead || result=survives
	stop_perftest
	note "on $(uname -r) the QP $result"
	RESULT=$result
}
# Replacing a qdisc also drops the packets that wait in the old one, which may
dropped_or_dead() { dropped || dead; }
sent_or_dead() { has_sent local "$1" || dead; }
dead() { [ "$(qpns local)" != "${QPN[local]}" ]; }

unlimited()
{
	local stock

	unload local
	unload remote
	survives
	stock=$RESULT
	reload_both
	survives
	check "with the module it" "$RESULT" = "$stock"
}

run_tests "$@"
