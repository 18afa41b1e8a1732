// SPDX-License-Identifier: GPL-2.0
/* dcqcn ccc: congestion control contexts, and what bounds them. */
#include <stdio.h>
#include <stdlib.h>

#include "arg.h"
#include "ccc.h"
#include "commands.h"
#include "json.h"
#include "unit.h"

#define V(_name)	((unsigned long long)ccc->value[RDMA_DCQCN_A_CCC_##_name])
#define SIGNED(_name)	((int32_t)ccc->value[RDMA_DCQCN_A_CCC_##_name])

/* Bits of ALGORITHMS */
#define NSCC		1
#define RCCC		2

static bool is_ready(const struct ccc *ccc)
{
	return V(STATE) == RDMA_DCQCN_CCC_STATE_READY;
}

static void ccc_json(const struct ccc *ccc)
{
	json_open_object(NULL);
	json_string("dev", ccc->dev);
	json_string("local", ccc->local);
	json_string("peer", ccc->peer);
	json_number("prio", V(PRIO));
	json_string("state", is_ready(ccc) ? "ready" : "idle");
	json_open_array("algorithms");
	if (V(ALGORITHMS) & NSCC)
		json_string(NULL, "nscc");
	if (V(ALGORITHMS) & RCCC)
		json_string(NULL, "rccc");
	json_close_array();
	json_number("qps", V(QPS));
	json_number("line_rate", V(LINE_RATE));
	json_real("base_rtt", V(BASE_RTT) / 1e9);
	json_real("target_qdelay", V(TARGET_QDELAY) / 1e9);
	json_real("rtt", V(RTT) / 1e9);
	json_real("qdelay", V(QDELAY) / 1e9);
	json_number("bdp", V(BDP));
	json_number("max_window", V(MAX_WINDOW));
	json_number("window", V(WINDOW));
	json_number("in_flight", V(IN_FLIGHT));
	json_exact("credit", SIGNED(CREDIT));
	json_number("received", V(RECEIVED));
	json_number("marked", V(MARKED));
	json_exact("granted", SIGNED(GRANTED));
	json_number("asks", V(ASKS));
	json_number("entropy_changes", V(ENTROPY_CHANGES));
	json_close_object();
}

static const char *signed_bytes(char buf[UNIT_LEN], int64_t bytes)
{
	char size[UNIT_LEN];

	snprintf(buf, UNIT_LEN, "%s%s", bytes < 0 ? "-" : "",
		 unit_bytes(size, bytes < 0 ? -bytes : bytes));
	return buf;
}

/* What is sent */
static void sender_text(const struct ccc *ccc)
{
	char a[UNIT_LEN], b[UNIT_LEN], c[UNIT_LEN], d[UNIT_LEN];

	printf("    line %s base %s target %s bdp %s\n",
	       unit_rate(a, V(LINE_RATE)), unit_nsec(b, V(BASE_RTT)),
	       unit_nsec(c, V(TARGET_QDELAY)), unit_bytes(d, V(BDP)));
	printf("    rtt %s delay %s\n", unit_nsec(a, V(RTT)),
	       unit_nsec(b, V(QDELAY)));
	printf("    flight %s", unit_bytes(a, V(IN_FLIGHT)));
	if (V(ALGORITHMS) & NSCC)
		printf(" window %s max %s", unit_bytes(a, V(WINDOW)),
		       unit_bytes(b, V(MAX_WINDOW)));
	if (V(ALGORITHMS) & RCCC)
		printf(" credit %s", signed_bytes(a, SIGNED(CREDIT)));
	printf(" entropy-changes %llu\n", V(ENTROPY_CHANGES));
}

static void ccc_text(const struct ccc *ccc)
{
	static const char * const algorithms[] = { "", " nscc", " rccc", " nscc rccc" };
	char a[UNIT_LEN], b[UNIT_LEN], c[UNIT_LEN];

	printf("%s peer %s local %s prio %llu qps %llu state %s%s\n", ccc->dev,
	       ccc->peer, ccc->local, V(PRIO), V(QPS),
	       is_ready(ccc) ? "ready" : "idle",
	       algorithms[V(ALGORITHMS) & (NSCC | RCCC)]);
	if (is_ready(ccc))
		sender_text(ccc);
	printf("    received %s marked %s granted %s%s\n",
	       unit_bytes(a, V(RECEIVED)), unit_bytes(b, V(MARKED)),
	       signed_bytes(c, SIGNED(GRANTED)), V(ASKS) ? " asks" : "");
}

int cmd_ccc(int argc __attribute__((unused)), char **argv)
{
	const char *dev = arg_dev(argv + 1);

	if (option_json)
		json_open_array(NULL);
	ccc_dump(dev, option_json ? ccc_json : ccc_text);
	if (option_json)
		json_close_array();
	return EXIT_SUCCESS;
}
