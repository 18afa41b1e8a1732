// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor's findings, as text or JSON. A finding has three parts: what was
 * seen, why it matters, and the shell command that fixes it, or shows more. A
 * comment, or a fix for which there is no command, comes after a #. The most important
 * finding is said first, in one sentence.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "finding.h"
#include "json.h"

/* In one sentence, the most important first: as long as packets do not arrive, nothing else
 * matters; what keeps a transfer from working comes before what keeps the loop from working.
 */
static const struct {
	const char *id, *title;
} titles[] = {
	{ "no-device", "no soft-RoCE device exists" },
	{ "unusable-device", "its network device cannot carry RoCE" },
	{ "no-route", "it has no route to the peer that soft-RoCE can use" },
	{ "arp-incomplete", "the peer's link-layer address is unknown, so nothing can be sent" },
	{ "wrong-gid", "RoCE packets have an address or a type that the receiver does not accept" },
	{ "arrives-but-dropped", "RoCE packets arrive, and are dropped before soft-RoCE accepts them" },
	{ "nothing-arrives", "no RoCE packet arrives" },
	{ "one-way", "RoCE packets arrive in one direction only" },
	{ "large-only", "large packets do not arrive, small ones do" },
	{ "no-answer", "the peer answers no request" },
	{ "icrc-errors", "packets arrive with a wrong ICRC" },
	{ "out-of-order", "packets arrive out of order" },
	{ "cm-refused", "the peer refuses connections" },
	{ "rnr", "the receiver has no receive buffers posted" },
	{ "ack-timeout", "the ACK timeout is shorter than the round trip" },
	{ "qp-in-error", "a queue pair has failed" },
	{ "lossy-qdisc", "its own qdisc loses packets" },
	{ "loopback", "sender and receiver are the same host" },
	{ "no-module", "rdma_dcqcn is not loaded" },
	{ "one-side", "rdma_dcqcn is loaded on the other host only" },
	{ "loss-without-marks", "packets are lost before any is marked" },
	{ "not-ect", "packets leave without ECT" },
	{ "ecn-cleared", "the path clears ECN" },
	{ "not-ect-in", "packets arrive without ECT" },
	{ "rp-off", "the reaction point is off for the data" },
	{ "np-off", "the notification point is off for the data" },
	{ "ce-unanswered", "marks are not answered" },
	{ "cnp-errors", "CNPs cannot be sent" },
	{ "cnp-lost", "CNPs are lost on the path" },
	{ "cnp-filtered", "CNPs arrive, and are dropped" },
	{ "cnp-ignored", "CNPs are ignored" },
	{ "dscp-rewritten", "the path changes the DSCP" },
	{ "line-too-low", "the line rate is set below what the path carries" },
	{ "no-cut-min-rate", "no CNP can slow a queue pair down" },
	{ "no-cut-min-dec-fac", "CNPs hardly slow anything down" },
	{ "no-cut-gd", "CNPs hardly slow anything down" },
	{ "ack-timeout-floor", "the ACK timeout keeps a queue pair from slowing down further" },
	{ "knob-overrides", "a timer is shorter than the round trip" },
	{ "cnp-interval", "CNPs come too rarely for the sender's timer" },
	{ "host-qdisc", "its own qdisc marks or paces" },
	{ "cnp-pcp", "CNPs have no priority in their VLAN" },
	{ "pause-storm", "a PFC storm stops a priority" },
	{ "pfc-mismatch", "the ends of a link enable PFC for different priorities" },
	{ "headroom-short", "the headroom is too small" },
	{ "cnp-lossless", "CNPs are in a class that PFC pauses" },
	{ "pfc-without-ecn", "a class has PFC, but marks no packets" },
	{ "no-marks", "a class can never mark packets" },
	{ "cnp-starved", "CNPs wait behind data" },
	{ "dscp-untrusted", "the DSCP does not decide the priority" },
	{ "dscp-one-side", "one end of a link maps DSCPs, the other does not" },
	{ "dscp-mismatch", "the ends of a link map DSCPs differently" },
	{ "cee-neighbour", "the neighbour speaks CEE DCBX, which ports do not support" },
	{ "paused", "a class is paused most of the time" },
};

#define TITLES	(sizeof(titles) / sizeof(titles[0]))

static struct finding {
	const char *id;
	char *host, *dev, *seen, *why, *fix;
} *findings;

static int count;

static char *text(const char *format, va_list args)
{
	char *s;

	if (vasprintf(&s, format, args) < 0)
		abort();
	return s;
}

static char *copy(const char *s)
{
	char *new = strdup(s);

	return new ?: (abort(), new);
}

/* The rest of a finding follows */
void finding_seen(const char *id, const char *host, const char *dev,
		  const char *format, ...)
{
	struct finding *f;
	va_list args;

	findings = reallocarray(findings, count + 1, sizeof(*findings));
	if (!findings)
		abort();
	f = &findings[count];
	*f = (struct finding) { .id = id, .host = copy(host), .dev = copy(dev) };
	va_start(args, format);
	f->seen = text(format, args);
	va_end(args);
	count++;
}

void finding_why(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	findings[count - 1].why = text(format, args);
	va_end(args);
}

void finding_fix(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	findings[count - 1].fix = text(format, args);
	va_end(args);
}

/* Worth knowing, but not a fault */
void finding_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static size_t rank(const char *id)
{
	size_t i = 0;

	while (i < TITLES && strcmp(titles[i].id, id))
		i++;
	return i;
}

static const char *title(const char *id)
{
	return rank(id) < TITLES ? titles[rank(id)].title : id;
}

static void print_json(const struct finding *f)
{
	json_open_object(NULL);
	json_string("finding", f->id);
	json_string("host", f->host);
	json_string("dev", f->dev);
	json_string("summary", title(f->id));
	json_string("seen", f->seen);
	json_string("why", f->why);
	json_string("fix", f->fix);
	json_close_object();
}

static void print_text(const struct finding *f)
{
	printf("%s: %s on %s\n", f->id, f->dev, f->host);
	printf("    seen  %s\n", f->seen);
	printf("    why   %s\n", f->why);
	printf("    fix   %s\n", f->fix);
}

static void print_summary(void)
{
	const struct finding *first = findings;
	const char *fix;

	for (int i = 1; i < count; i++) {
		if (rank(findings[i].id) < rank(first->id))
			first = &findings[i];
	}
	fix = first->fix;
	printf("%s, %s: %s. What to do there: %s\n\n", first->host, first->dev,
	       title(first->id), strncmp(fix, "# ", 2) ? fix : fix + 2);
}

/* Print them; return the number of findings */
int finding_close(void)
{
	if (option_json)
		json_open_array(NULL);
	else if (count)
		print_summary();
	for (int i = 0; i < count; i++)
		(option_json ? print_json : print_text)(&findings[i]);
	if (option_json)
		json_close_array();
	else if (!count)
		printf("nothing found\n");
	return count;
}
