// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of a port, its classes and a switch: names, and values as people
 * type and read them.
 */
#include <stdio.h>
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
	PORT("rate", RATE, 8, RATE, "speed of the link; 0: takes no time"),
	PORT("delay", NSEC, 4, DELAY, "delay of the link, one way"),
	PORT("overhead", BYTES, 4, OVERHEAD, "of each frame on the wire, besides its bytes"),
	PORT("pfc", PRIOS, 1, PFC, "priorities with PFC"),
	PORT("trust", TRUST, 1, TRUST, "what decides the priority"),
	PORT("strict", PRIOS, 1, STRICT, "classes that are sent first"),
	PORT("switch", NAME, 0, SWITCH, "switch whose buffer it shares"),
	PORT("reserve", BYTES, 4, RESERVE, "buffer of each priority with PFC"),
	PORT("xoff", BYTES, 4, XOFF, "buffered, when the sender is paused"),
	PORT("xon", BYTES, 4, XON, "buffered, when the pause ends"),
	PORT("xon_offset", BYTES, 4, XON_OFFSET, "and this much below the pool's bound"),
	PORT("headroom", BYTES, 4, HEADROOM, "buffer for what arrives after xoff"),
	PORT("action", ACTION, 1, ACTION, "what the watchdog does"),
	PORT("detect", MSEC, 4, DETECT, "until the watchdog finds an endless pause"),
	PORT("restore", MSEC, 4, RESTORE, "without pauses, until it is over"),
	{}
};

const struct portkey class_keys[] = {
	CLASS("weight", NUMBER, 1, WEIGHT, "share of the link"),
	CLASS("limit", BYTES, 4, LIMIT, "bytes that may wait"),
	CLASS("kmin", BYTES, 4, KMIN, "queue; no marks up to here"),
	CLASS("kmax", BYTES, 4, KMAX, "queue; above, all are marked"),
	CLASS("pmax", PMAX, 4, PMAX, "probability at kmax"),
	CLASS("flows_min", NUMBER, 4, FLOWS_MIN, "no marks with fewer flows"),
	CLASS("flows_max", NUMBER, 4, FLOWS_MAX, "1.5 times the marks with more flows"),
	{}
};

const struct portkey switch_keys[] = {
	SWITCH("size", BYTES, 8, SIZE, "buffer for priorities with PFC"),
	SWITCH("lossy", BYTES, 8, LOSSY, "buffer for all others"),
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

static uint64_t parse_word(const struct portkey *key, const char *text,
			   const char * const *words, size_t n,
			   const char *what)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(words[i], text))
			return i;
	}
	wrong(key, text, what);
}

static const char *word(uint64_t value, const char * const *words, size_t n)
{
	return value < n ? words[value] : "?";
}

static uint64_t parse_share(const struct portkey *key, const char *text,
			    double one, const char *what)
{
	uint32_t value;

	if (!unit_parse_share(text, one, &value))
		wrong(key, text, what);
	return value;
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

static uint64_t parse(const struct portkey *key, const char *text)
{
	uint64_t value;

	switch (key->type) {
	case PORTKEY_RATE:
		value = parse_unit(key, UNIT_MBPS, text);
		if (value > UINT64_MAX / 1000000)
			fail("%s: \"%s\" is too large", key->name, text);
		return value * 1000000;
	case PORTKEY_NSEC:
		return parse_nsec(key, text);
	case PORTKEY_MSEC:
		return parse_msec(key, text);
	case PORTKEY_BYTES:
		return parse_unit(key, UNIT_BYTES, text);
	case PORTKEY_PRIOS:
		return parse_prios(key, text);
	case PORTKEY_ACTION:
		return parse_word(key, text, actions, MNL_ARRAY_SIZE(actions),
				  "off, alert, forward or drop");
	case PORTKEY_TRUST:
		return parse_word(key, text, trusts, MNL_ARRAY_SIZE(trusts),
				  "dscp, pcp, \"dscp,pcp\", \"pcp,dscp\" or none");
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
	uint64_t value;

	if (key->type == PORTKEY_NAME) {
		if (strlen(text) > NETLINK_NAME_MAX)
			fail("%s: names have at most %d characters", key->name,
			     NETLINK_NAME_MAX);
		mnl_attr_put_strz(nlh, key->attr,
				  strcmp(text, "none") ? text : "");
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

void portkey_print(const struct portkey *key, const struct nlattr *attr)
{
	uint64_t value = key->type == PORTKEY_NAME ? 0 : netlink_number(attr);
	const char *name = netlink_string(attr);
	char buf[UNIT_LEN];

	switch (key->type) {
	case PORTKEY_RATE:
		printf("%s", value ? unit_rate(buf, value) : "0");
		break;
	case PORTKEY_NSEC:
		printf("%s", unit_nsec(buf, value));
		break;
	case PORTKEY_MSEC:
		printf("%s", value ? unit_nsec(buf, value * 1000000) : "auto");
		break;
	case PORTKEY_BYTES:
		printf("%s", unit_value(buf, UNIT_BYTES, value));
		break;
	case PORTKEY_PRIOS:
		printf("%s", unit_prios(buf, value));
		break;
	case PORTKEY_ACTION:
		printf("%s", word(value, actions, MNL_ARRAY_SIZE(actions)));
		break;
	case PORTKEY_TRUST:
		printf("%s", word(value, trusts, MNL_ARRAY_SIZE(trusts)));
		break;
	case PORTKEY_PMAX:
		printf("%.9g%%", value * 100.0 / DCBPORT_PMAX_ONE);
		break;
	case PORTKEY_ALPHA:
		printf("%.9g", (double)value / DCBPORT_ALPHA_ONE);
		break;
	case PORTKEY_NAME:
		printf("%s", *name ? name : "none");
		break;
	default:
		printf("%llu", (unsigned long long)value);
	}
}

void portkey_json(const struct portkey *key, const struct nlattr *attr)
{
	uint64_t value = key->type == PORTKEY_NAME ? 0 : netlink_number(attr);

	switch (key->type) {
	case PORTKEY_NAME:
		json_string(key->name, netlink_string(attr));
		break;
	case PORTKEY_ACTION:
		json_string(key->name,
			    word(value, actions, MNL_ARRAY_SIZE(actions)));
		break;
	case PORTKEY_TRUST:
		json_string(key->name,
			    word(value, trusts, MNL_ARRAY_SIZE(trusts)));
		break;
	case PORTKEY_PMAX:
		json_real(key->name, (double)value / DCBPORT_PMAX_ONE);
		break;
	case PORTKEY_ALPHA:
		json_real(key->name, (double)value / DCBPORT_ALPHA_ONE);
		break;
	case PORTKEY_PRIOS:
		json_bits(key->name, value);
		break;
	default:
		json_number(key->name, value);
	}
}
