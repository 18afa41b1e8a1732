// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of a port, its classes and a switch: names, and values as people
 * type and read them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "json.h"
#include "netlink.h"
#include "portkey.h"
#include "unit.h"

#define PORT(_name, _type, _size, _attr, _help) \
	{ _name, PORTKEY_##_type, DCBPORT_A_PORT_##_attr, _size, _help }
#define CLASS(_name, _type, _size, _attr, _help) \
	{ _name, PORTKEY_##_type, DCBPORT_A_CLASS_##_attr, _size, _help }
#define SWITCH(_name, _type, _size, _attr, _help) \
	{ _name, PORTKEY_##_type, DCBPORT_A_SWITCH_##_attr, _size, _help }

const struct portkey port_keys[] = {
	PORT("rate", RATE, 8, RATE, "speed of the link; at 0, it takes no time"),
	PORT("delay", NSEC, 4, DELAY, "delay of the link, one way"),
	PORT("overhead", BYTES, 4, OVERHEAD, "bytes on the wire in addition to each frame"),
	PORT("pfc", PRIOS, 1, PFC, "priorities with PFC"),
	PORT("trust", TRUST, 1, TRUST, "what decides the priority"),
	PORT("strict", PRIOS, 1, STRICT, "classes that are sent first"),
	PORT("switch", NAME, 0, SWITCH, "switch whose buffer it shares"),
	PORT("reserve", BYTES, 4, RESERVE, "buffer reserved for each priority with PFC"),
	PORT("xoff", BYTES, 4, XOFF, "bytes buffered when the sender is paused"),
	PORT("xon", BYTES, 4, XON, "bytes buffered when the pause ends"),
	PORT("xon_offset", BYTES, 4, XON_OFFSET, "bytes below the pool's bound when the pause ends"),
	PORT("headroom", BYTES, 4, HEADROOM, "buffer for packets that arrive after xoff"),
	PORT("action", ACTION, 1, ACTION, "what the watchdog does about a PFC storm"),
	PORT("detect", MSEC, 4, DETECT, "time until the watchdog finds a PFC storm"),
	PORT("restore", MSEC, 4, RESTORE, "time without pauses until a PFC storm is over"),
	PORT("mark", MARK, 1, MARK, "when packets are marked"),
	PORT("dscp", MAP, 64, DSCP, "priority of each DSCP"),
	PORT("pcp", MAP, 16, PCP, "priority of each PCP; plus 8 with DEI"),
	PORT("default", PRIOS, 1, OTHER, "priority of all other packets; the highest counts"),
	PORT("stamp", ONOFF, 1, STAMP, "report the queue to senders that ask"),
	{}
};

const struct portkey class_keys[] = {
	CLASS("weight", NUMBER, 1, WEIGHT, "share of the link"),
	CLASS("limit", BYTES, 4, LIMIT, "bytes that may wait"),
	CLASS("kmin", BYTES, 4, KMIN, "queue; no marks up to here"),
	CLASS("kmax", BYTES, 4, KMAX, "queue; above, all are marked"),
	CLASS("pmax", PMAX, 4, PMAX, "probability at kmax"),
	CLASS("flows_min", NUMBER, 4, FLOWS_MIN, "no marks with fewer flows"),
	CLASS("flows_max", NUMBER, 4, FLOWS_MAX, "1.5 times as many marks with more flows"),
	CLASS("wred", ONOFF, 1, WRED, "drop packets that cannot be marked"),
	CLASS("share", SHARE, 4, SHARE, "share of the free buffer that may wait"),
	CLASS("maxrate", RATE, 8, MAXRATE, "bound of the rate"),
	CLASS("tc", NUMBER, 1, TC, "class of the priority"),
	CLASS("reserve", BYTES, 4, RESERVE, "buffer reserved for the priority, with PFC"),
	CLASS("xoff", BYTES, 4, XOFF, "bytes buffered when the sender is paused"),
	CLASS("xon", BYTES, 4, XON, "bytes buffered when the pause ends"),
	CLASS("xon_offset", BYTES, 4, XON_OFFSET, "bytes below the pool's bound when the pause ends"),
	CLASS("headroom", BYTES, 4, HEADROOM, "buffer for packets that arrive after xoff"),
	CLASS("alpha", OWN_ALPHA, 4, ALPHA, "share of the free buffer for the priority"),
	{}
};

const struct portkey switch_keys[] = {
	SWITCH("size", BYTES, 8, SIZE, "buffer for priorities with PFC"),
	SWITCH("lossy", BYTES, 8, LOSSY, "buffer for all other priorities"),
	SWITCH("alpha", ALPHA, 4, ALPHA, "share of the free buffer for one port"),
	{}
};

static const char * const actions[] = {
	[DCBPORT_ACTION_OFF] = "off",
	[DCBPORT_ACTION_ALERT] = "alert",
	[DCBPORT_ACTION_FORWARD] = "forward",
	[DCBPORT_ACTION_DROP] = "drop",
};

static const char * const trusts[] = {
	[DCBPORT_TRUST_NONE] = "none",
	[DCBPORT_TRUST_DSCP] = "dscp",
	[DCBPORT_TRUST_PCP] = "pcp",
	[DCBPORT_TRUST_DSCP_PCP] = "dscp,pcp",
	[DCBPORT_TRUST_PCP_DSCP] = "pcp,dscp",
};

static const char * const marks[] = {
	[DCBPORT_MARK_ENQUEUE] = "enqueue",
	[DCBPORT_MARK_DEQUEUE] = "dequeue",
};

static const char * const switches[] = { "off", "on" };

/* What a value can be, if it has names */
static const struct words {
	const char * const *word;
	size_t num;
} words[] = {
	[PORTKEY_ACTION] = { actions, MNL_ARRAY_SIZE(actions) },
	[PORTKEY_TRUST] = { trusts, MNL_ARRAY_SIZE(trusts) },
	[PORTKEY_MARK] = { marks, MNL_ARRAY_SIZE(marks) },
	[PORTKEY_ONOFF] = { switches, MNL_ARRAY_SIZE(switches) },
};

static const struct words *words_of(const struct portkey *key)
{
	return key->type < MNL_ARRAY_SIZE(words) && words[key->type].num ? &words[key->type] : NULL;
}

const struct portkey *portkey_find(const struct portkey *keys,
				   const char *name)
{
	for (; keys->name; keys++) {
		if (!strcmp(keys->name, name))
			return keys;
	}
	return NULL;
}

static _Noreturn void wrong(const struct portkey *key, const char *text, const char *what)
{
	fail("%s: \"%s\" is not %s", key->name, text, what);
}

static uint64_t parse_unit(const struct portkey *key, enum unit unit,
			   const char *text)
{
	const char *problem;
	uint64_t value;

	if (!unit_parse(unit, text, &value, &problem))
		wrong(key, text, problem);
	return value;
}

static uint64_t parse_prios(const struct portkey *key, const char *text)
{
	uint64_t prios;

	if (!unit_parse_prios(text, &prios))
		wrong(key, text, "a list of priorities, such as 3 or 3,4, all or none");
	return prios;
}

static uint64_t parse_word(const struct portkey *key, const char *text, const struct words *w)
{
	char what[128];
	size_t len = 0;

	for (size_t i = 0; i < w->num; i++) {
		if (!strcmp(w->word[i], text))
			return i;
		len += snprintf(what + len, sizeof(what) - len,
				strchr(w->word[i], ',') ? "%s\"%s\"" : "%s%s",
				!i ? "" : i + 1 < w->num ? ", " : " or ", w->word[i]);
	}
	wrong(key, text, what);
}

static const char *word(uint64_t value, const struct words *w)
{
	return value < w->num ? w->word[value] : "?";
}

/* In units of 1 / @one. What is not 0 must not become 0, which often means the opposite: all. */
static uint64_t parse_share(const struct portkey *key, const char *text,
			    double one, const char *what)
{
	double value;

	if (!unit_parse_share(text, &value))
		wrong(key, text, what);
	if (value * one > UINT32_MAX)
		fail("%s: \"%s\" is too large", key->name, text);
	if (value && value * one < 0.5)
		fail("%s: \"%s\" is too small: the least is %.9g", key->name, text, 1 / one);
	return round(value * one);
}

/* In bit/s: other programs set rates that are not whole Mb/s, and saved ones must be read */
static uint64_t parse_rate(const struct portkey *key, const char *text)
{
	double bps;

	if (!unit_read(UNIT_KIND_RATE, text, 1e6, &bps) || fabs(bps - round(bps)) > 1e-9 * (bps + 1))
		wrong(key, text, "a rate in whole bit/s, such as 1500kbit or 1gbit");
	if (bps > 0x1p53)
		fail("%s: \"%s\" is too large", key->name, text);
	return round(bps);
}

static uint64_t parse_nsec(const struct portkey *key, const char *text)
{
	uint64_t nsec;

	if (!unit_parse_nsec(text, &nsec))
		wrong(key, text, "a time, such as 1us or 200ms");
	return nsec;
}

static uint64_t parse_msec(const struct portkey *key, const char *text)
{
	uint64_t nsec;

	if (!strcmp(text, "auto"))
		return 0;
	nsec = parse_nsec(key, text);
	if (!nsec || nsec % 1000000)
		wrong(key, text, "auto, or whole milliseconds");
	return nsec / 1000000;
}

/* Values and their priorities: a byte for each value, with one bit for each priority */
static void parse_map(const struct portkey *key, const char *text, uint8_t *map)
{
	const char *what = "a list of values and priorities, such as 26:3,48:6, or none";
	unsigned long value, prio;
	char *end;

	if (!strcmp(text, "none"))
		return;
	for (const char *at = text; ; at = end + 1) {
		value = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : key->size;
		if (value >= key->size || *end != ':' || end[1] < '0' || end[1] > '9')
			wrong(key, text, what);
		prio = strtoul(end + 1, &end, 10);
		if (prio > 7 || (*end && *end != ','))
			wrong(key, text, what);
		map[value] |= 1U << prio;
		if (!*end)
			return;
	}
}

static void print_map(FILE *out, const struct portkey *key, const struct nlattr *attr)
{
	const uint8_t *map = mnl_attr_get_payload(attr);
	const char *comma = "";

	for (int i = 0; i < key->size; i++) {
		for (int prio = 0; prio < 8; prio++) {
			if (!(map[i] & 1U << prio))
				continue;
			fprintf(out, "%s%d:%d", comma, i, prio);
			comma = ",";
		}
	}
	if (!*comma)
		fputs("none", out);
}

static uint64_t parse_share_or(const struct portkey *key, const char *text,
			       const char *zero)
{
	if (!strcmp(text, zero))
		return 0;
	return parse_share(key, text, DCBPORT_ALPHA_ONE,
			   *zero == 's' ? "switch, or a share such as 1/8 or 2" :
					  "none, or a share such as 1/8 or 2");
}

static uint64_t parse(const struct portkey *key, const char *text)
{
	const struct words *w = words_of(key);

	if (w)
		return parse_word(key, text, w);
	switch (key->type) {
	case PORTKEY_RATE:
		return parse_rate(key, text);
	case PORTKEY_NSEC:
		return parse_nsec(key, text);
	case PORTKEY_MSEC:
		return parse_msec(key, text);
	case PORTKEY_BYTES:
		return parse_unit(key, UNIT_BYTES, text);
	case PORTKEY_PRIOS:
		return parse_prios(key, text);
	case PORTKEY_OWN_ALPHA:
		return parse_share_or(key, text, "switch");
	case PORTKEY_SHARE:
		return parse_share_or(key, text, "none");
	case PORTKEY_PMAX:
		return parse_share(key, text, DCBPORT_PMAX_ONE,
				   "a probability, such as 1% or 0.01");
	case PORTKEY_ALPHA:
		return parse_share(key, text, DCBPORT_ALPHA_ONE,
				   "a share, such as 1/8 or 2");
	default:
		return parse_unit(key, UNIT_NONE, text);
	}
}

/* Add it to a request; an invalid value ends the program */
void portkey_put(struct nlmsghdr *nlh, const struct portkey *key,
		 const char *text)
{
	uint8_t map[64] = {};
	uint64_t value;

	if (key->type == PORTKEY_NAME) {
		if (strlen(text) > PORTKEY_NAME_MAX)
			fail("%s: names have at most %d characters", key->name,
			     PORTKEY_NAME_MAX);
		mnl_attr_put_strz(nlh, key->attr,
				  strcmp(text, "none") ? text : "");
		return;
	}
	if (key->type == PORTKEY_MAP) {
		parse_map(key, text, map);
		mnl_attr_put(nlh, key->attr, key->size, map);
		return;
	}
	value = parse(key, text);
	if (key->size < sizeof(value) && value >> 8 * key->size)
		fail("%s: \"%s\" is too large", key->name, text);
	if (key->size == 1)
		mnl_attr_put_u8(nlh, key->attr, value);
	else if (key->size == 4)
		mnl_attr_put_u32(nlh, key->attr, value);
	else
		mnl_attr_put_u64(nlh, key->attr, value);
}

/* Whether the value is a number of at most 64 bits */
static bool is_number(const struct portkey *key)
{
	return key->type != PORTKEY_NAME && key->type != PORTKEY_MAP;
}

static void print_number(FILE *out, const struct portkey *key, uint64_t value)
{
	const struct words *w = words_of(key);
	char buf[UNIT_LEN];

	if (w) {
		fputs(word(value, w), out);
		return;
	}
	switch (key->type) {
	case PORTKEY_RATE:
		fprintf(out, "%s", value ? unit_rate(buf, value) : "0");
		break;
	case PORTKEY_NSEC:
		fprintf(out, "%s", unit_nsec(buf, value));
		break;
	case PORTKEY_MSEC:
		fprintf(out, "%s", value ? unit_nsec(buf, value * 1000000) : "auto");
		break;
	case PORTKEY_BYTES:
		fprintf(out, "%s", unit_value(buf, UNIT_BYTES, value));
		break;
	case PORTKEY_PRIOS:
		fprintf(out, "%s", unit_prios(buf, value));
		break;
	case PORTKEY_PMAX:
		fprintf(out, "%.9g%%", value * 100.0 / DCBPORT_PMAX_ONE);
		break;
	case PORTKEY_ALPHA:
		fprintf(out, "%.9g", (double)value / DCBPORT_ALPHA_ONE);
		break;
	case PORTKEY_OWN_ALPHA:
	case PORTKEY_SHARE:
		if (value)
			fprintf(out, "%.9g", (double)value / DCBPORT_ALPHA_ONE);
		else
			fputs(key->type == PORTKEY_SHARE ? "none" : "switch", out);
		break;
	default:
		fprintf(out, "%llu", (unsigned long long)value);
	}
}

static void print(FILE *out, const struct portkey *key, const struct nlattr *attr)
{
	const char *name;

	if (key->type == PORTKEY_MAP) {
		print_map(out, key, attr);
	} else if (key->type == PORTKEY_NAME) {
		name = netlink_string(attr);
		fprintf(out, "%s", *name ? name : "none");
	} else {
		print_number(out, key, netlink_number(attr));
	}
}

/* What portkey_put() reads, exactly */
static void save_number(FILE *out, const struct portkey *key, uint64_t value)
{
	switch (key->type) {
	case PORTKEY_RATE:
		/* it is shown with three decimals */
		if (value % 1000000)
			fprintf(out, "%llubit", (unsigned long long)value);
		else
			print_number(out, key, value);
		break;
	case PORTKEY_NSEC:
		fprintf(out, "%lluns", (unsigned long long)value);
		break;
	case PORTKEY_MSEC:
		if (value)
			fprintf(out, "%llums", (unsigned long long)value);
		else
			fputs("auto", out);
		break;
	default:
		print_number(out, key, value);
	}
}

void portkey_save(FILE *out, const struct portkey *key,
		  const struct nlattr *attr)
{
	if (is_number(key))
		save_number(out, key, netlink_number(attr));
	else
		print(out, key, attr);
}

/* A message about a value that the kernel refuses; the bounds can be typed */
void portkey_range(FILE *out, const struct portkey *key, uint64_t value, uint64_t min,
		   uint64_t max)
{
	fprintf(out, "%s: ", key->name);
	save_number(out, key, value);
	fprintf(out, " is out of range: ");
	/* not the name that shares have for 0 */
	if (key->type == PORTKEY_OWN_ALPHA || key->type == PORTKEY_SHARE)
		fprintf(out, "%.9g", (double)min / DCBPORT_ALPHA_ONE);
	else
		save_number(out, key, min);
	fprintf(out, " to ");
	save_number(out, key, max);
}

void portkey_print(const struct portkey *key, const struct nlattr *attr)
{
	print(stdout, key, attr);
}

void portkey_json(const struct portkey *key, const struct nlattr *attr)
{
	uint64_t value = is_number(key) ? netlink_number(attr) : 0;
	const struct words *w = words_of(key);
	char *text = NULL;
	size_t len;
	FILE *out;

	if (w) {
		json_string(key->name, word(value, w));
		return;
	}
	switch (key->type) {
	case PORTKEY_NAME:
		json_string(key->name, netlink_string(attr));
		break;
	case PORTKEY_MAP:
		out = open_memstream(&text, &len);
		if (!out)
			fail_errno("memory");
		print_map(out, key, attr);
		if (fclose(out))
			fail_errno("memory");
		json_string(key->name, text);
		free(text);
		break;
	case PORTKEY_PMAX:
		json_real(key->name, (double)value / DCBPORT_PMAX_ONE);
		break;
	case PORTKEY_ALPHA:
	case PORTKEY_OWN_ALPHA:
	case PORTKEY_SHARE:
		json_real(key->name, (double)value / DCBPORT_ALPHA_ONE);
		break;
	case PORTKEY_PRIOS:
		json_bits(key->name, value);
		break;
	default:
		json_number(key->name, value);
	}
}
