// SPDX-License-Identifier: GPL-2.0
/*
 * The neighbour's DCBX settings. They arrive every 30 seconds, too rarely to wait,
 * so lldptool is asked for the last frame that lldpad received, byte by byte.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "neighbour.h"

/* Organizationally specific TLVs: their owners and subtypes */
#define TLV_SPECIFIC	127
#define TLV_HEAD	4
#define OUI_IEEE	"\x00\x80\xc2"
#define OUI_CEE		"\x00\x1b\x21"
#define IEEE_ETS	9
#define IEEE_PFC	11
#define IEEE_APP	12
#define CEE_DCBX	2

/* lldptool's answer: its start, and digits before and after the device's name */
#define ANSWER		"R00C3"
#define ANSWER_COMMAND	10
#define ANSWER_TLV	8

static void take_app(struct neighbour *n, const uint8_t *data, size_t len)
{
	n->app.known = true;
	/* after a reserved byte */
	for (size_t i = 1; i + 3 <= len; i += 3)
		dcb_add(&n->app, data[i] & 7, data[i + 1] << 8 | data[i + 2],
			data[i] >> 5);
}

static void take_tlv(struct neighbour *n, const uint8_t *data, size_t len)
{
	if (len < TLV_HEAD)
		return;
	if (!memcmp(data, OUI_CEE, 3) && data[3] == CEE_DCBX)
		n->cee = true;
	if (memcmp(data, OUI_IEEE, 3))
		return;
	switch (data[3]) {
	case IEEE_PFC:
		if (len < TLV_HEAD + 2)
			return;
		n->has_pfc = true;
		n->pfc = data[TLV_HEAD + 1];
		break;
	case IEEE_APP:
		take_app(n, data + TLV_HEAD, len - TLV_HEAD);
		break;
	case IEEE_ETS:
		break;
	default:
		return;
	}
	n->ieee = true;
}

static void take_tlvs(struct neighbour *n, const uint8_t *data, size_t len)
{
	size_t at = 0;

	while (at + 2 <= len) {
		unsigned int head = data[at] << 8 | data[at + 1];
		size_t size = head & 511;

		at += 2;
		if (!head || at + size > len)
			return;
		if (head >> 9 == TLV_SPECIFIC)
			take_tlv(n, data + at, size);
		at += size;
	}
}

/* Convert pairs of hex digits to bytes, which may overwrite them; returns how many */
static size_t from_hex(char *text, uint8_t *data)
{
	char pair[3] = {};
	size_t len = 0;

	while (isxdigit((unsigned char)text[0]) &&
	       isxdigit((unsigned char)text[1])) {
		memcpy(pair, text, 2);
		data[len++] = strtoul(pair, NULL, 16);
		text += 2;
	}
	return len;
}

/* The TLVs in an answer, or NULL */
static char *answer_tlvs(char *line)
{
	size_t len = strlen(line), at = strlen(ANSWER) + ANSWER_COMMAND;
	unsigned int name;

	if (strncmp(line, ANSWER, strlen(ANSWER)) || len < at + 2 ||
	    sscanf(line + at, "%2x", &name) != 1)
		return NULL;
	at += 2 + name + ANSWER_TLV;
	return at < len ? line + at : NULL;
}

/* If there is no agent, or no neighbour is known, everything stays false */
void neighbour_ask(const char *dev, struct neighbour *n)
{
	char *line = NULL, *text;
	size_t size = 0;
	char *argv[] = { "lldptool", "-t", "-n", "-i", (char *)dev, "-R", NULL };
	pid_t child;
	FILE *in = child_open(argv, &child);

	if (!in)
		return;
	while (getline(&line, &size, in) > 0) {
		text = answer_tlvs(line);
		if (text)
			take_tlvs(n, (uint8_t *)text,
				  from_hex(text, (uint8_t *)text));
	}
	free(line);
	child_close(in, child);
}
