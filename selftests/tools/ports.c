// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn port without a kernel: what save writes, restore reads, to the bit, for each key and every
 * kind of value that the kernel can have; the bounds that a message gives can be typed; what record
 * writes, plot reads, whatever the device's name; and every kind of loss is one. Prints what is
 * wrong.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "clean.h"
#include "clock.h"
#include "port.h"
#include "port_look.h"
#include "portkey.h"
#include "record.h"
#include "recording.h"

#define VALUES	20000	/* of each key */

bool option_json;
static int wrong;

/* Why the kernel loses packets that it is to send */
static const uint16_t losses[] = {
	DCBPORT_A_CLASS_DROP_LIMIT, DCBPORT_A_CLASS_DROP_BUFFER, DCBPORT_A_CLASS_DROP_STORM,
	DCBPORT_A_CLASS_DROP_MEMORY, DCBPORT_A_CLASS_DROP_RESET, DCBPORT_A_CLASS_DROP_WRED,
};

#define LOSSES	(sizeof(losses) / sizeof(*losses))

uint64_t clock_now(void)
{
	return 0;
}

bool clock_wait(uint64_t due)
{
	(void)due;
	return false;
}

void clock_end_on_signals(void)
{
}

int arg_option(int argc, char **argv, const char *letters, const struct option *names)
{
	(void)argc;
	(void)argv;
	(void)letters;
	(void)names;
	return -1;
}

uint64_t arg_nsec(const char *text)
{
	(void)text;
	return 0;
}

uint64_t arg_interval(const char *text)
{
	return arg_nsec(text);
}

/* One port, whose class 3 has lost a packet for each reason */
void port_dump(const char *dev, port_message message, void *data)
{
	char buffer[256] = {}, name[64] = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer), *has = mnl_nlmsg_put_header(name);
	const struct nlattr *tb[DCBPORT_A_PORT_MAX + 1] = {};
	struct port port = { .tb = tb };

	mnl_attr_put_strz(has, DCBPORT_A_PORT_IFNAME, dev);
	tb[DCBPORT_A_PORT_IFNAME] = mnl_nlmsg_get_payload(has);
	for (size_t i = 0; i < LOSSES; i++) {
		port.class[3][losses[i]] = mnl_nlmsg_get_payload_tail(nlh);
		mnl_attr_put_u64(nlh, losses[i], 1);
	}
	message(&port, data);
}

uint64_t netlink_number(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return mnl_attr_get_u8(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	default:
		return mnl_attr_get_u64(attr);
	}
}

const char *netlink_string(const struct nlattr *attr)
{
	return mnl_attr_get_str(attr);
}

/* From 0 to @most, of all lengths */
static uint64_t some(uint64_t most)
{
	uint64_t value = ((uint64_t)random() << 31 | random()) >> random() % 62;

	return random() % 20 ? value % (most + 1) : random() % 2 ? most : 0;
}

static uint64_t most_of(const struct portkey *key)
{
	switch (key->type) {
	case PORTKEY_RATE:
		return 1000000000000;
	case PORTKEY_PMAX:
	case PORTKEY_NSEC:
		return 1000000000;
	case PORTKEY_MSEC:
		return 60000;
	case PORTKEY_ALPHA:
	case PORTKEY_OWN_ALPHA:
	case PORTKEY_SHARE:
		return 16384;
	case PORTKEY_ONOFF:
	case PORTKEY_MARK:
		return 1;
	case PORTKEY_ACTION:
		return DCBPORT_ACTION_DROP;
	case PORTKEY_TRUST:
		return DCBPORT_TRUST_PCP_DSCP;
	case PORTKEY_BYTES:
		return key->size == 4 ? UINT32_MAX : 1099511627776;
	default:
		return UINT8_MAX;
	}
}

static void put_some(struct nlmsghdr *nlh, const struct portkey *key)
{
	uint64_t value = some(most_of(key));
	uint8_t map[64];

	if (key->type == PORTKEY_NAME) {
		mnl_attr_put_strz(nlh, key->attr, random() % 2 ? "s#1" : "");
	} else if (key->type == PORTKEY_MAP) {
		for (int i = 0; i < key->size; i++)
			map[i] = random() % 2 ? random() : 0;
		mnl_attr_put(nlh, key->attr, key->size, map);
	} else if (key->size == 1) {
		mnl_attr_put_u8(nlh, key->attr, value);
	} else if (key->size == 4) {
		mnl_attr_put_u32(nlh, key->attr, value);
	} else {
		mnl_attr_put_u64(nlh, key->attr, value);
	}
}

static void check_value(const struct portkey *key)
{
	char before[256] = {}, after[256] = {}, *text;
	struct nlmsghdr *had = mnl_nlmsg_put_header(before), *has = mnl_nlmsg_put_header(after);
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		exit(EXIT_FAILURE);
	put_some(had, key);
	portkey_save(out, key, mnl_nlmsg_get_payload(had));
	fclose(out);
	/* an error ends the program with its message */
	portkey_put(has, key, text);
	if (memcmp(before, after, sizeof(before))) {
		printf("%s %s: is another value when it is read\n", key->name, text);
		wrong = 1;
	}
	free(text);
}

static uint64_t typed(const struct portkey *key, const char *text)
{
	char request[256] = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(request);

	portkey_put(nlh, key, text);
	return netlink_number(mnl_nlmsg_get_payload(nlh));
}

/* Of 1 more than the kernel accepts */
static void check_range(const struct portkey *key)
{
	uint64_t most = most_of(key);
	char *text, least[32], last[32];
	size_t len;
	FILE *out;

	/* names, lists, and numbers that have no unit */
	if (key->type == PORTKEY_NAME || key->type == PORTKEY_MAP || most <= UINT8_MAX)
		return;
	out = open_memstream(&text, &len);
	if (!out)
		exit(EXIT_FAILURE);
	portkey_range(out, key, most + 1, 0, most);
	fclose(out);
	if (sscanf(text, "%*s %*s is out of range: %31s to %31s", least, last) != 2 ||
	    typed(key, least) || typed(key, last) != most) {
		printf("\"%s\": not 0 to %llu when it is typed\n", text, (unsigned long long)most);
		wrong = 1;
	}
	free(text);
}

static void check_line(const char *line, const char *want)
{
	char text[64];

	strcpy(text, line);
	clean_line(text);
	if (!strcmp(text, want))
		return;
	printf("\"%s\" is read as \"%s\" instead of \"%s\"\n", line, text, want);
	wrong = 1;
}

static void check_losses(void)
{
	struct port_look look = port_look("a0");

	for (size_t i = 0; i < look.count; i++) {
		const struct port_sample *s = &look.samples[i];
		uint64_t want = s->prio == 3 ? LOSSES : 0;

		if (s->value[PORT_LOST] == want)
			continue;
		printf("class %d has lost %llu packets instead of %llu\n", s->prio,
		       (unsigned long long)s->value[PORT_LOST], (unsigned long long)want);
		wrong = 1;
	}
	port_look_free(&look);
}

static const char *const names[] = { "a0", "a,b", "\"", "\"a\",", "a\"b", ",", "%s", "'a, b'" };

#define NAMES	(sizeof(names) / sizeof(*names))

static void put_header(void)
{
	puts("time,dev,prio,lost");
}

static void put_names(uint64_t time, void *unused)
{
	(void)unused;
	for (size_t i = 0; i < NAMES; i++) {
		record_time(time);
		record_name(names[i]);
		printf(",3,%zu\n", i);
	}
}

/* Takes standard output away */
static void check_names(char *file)
{
	static const char *const columns[] = { "lost", NULL };
	struct record record = { .interval = 1, .file = file };
	char *header = NULL, want[32];
	struct recording r;
	size_t size = 0;
	FILE *in;

	record_write(&record, put_header, put_names, NULL);
	in = fopen(file, "r");
	if (!in || getline(&header, &size, in) < 0)
		exit(EXIT_FAILURE);
	recording_read(&r, in, file, header, "prio", columns);
	for (size_t i = 0; i < NAMES; i++) {
		snprintf(want, sizeof(want), "%s:3", names[i]);
		if (i < r.num_series && !strcmp(r.series[i].name, want) &&
		    r.series[i].rows->value[0] == i)
			continue;
		fprintf(stderr, "%s is recorded, and read as %s\n", want,
			i < r.num_series ? r.series[i].name : "nothing");
		wrong = 1;
	}
	fclose(in);
	free(header);
}

/* The argument is a file to write */
int main(int argc, char **argv)
{
	const struct portkey *const tables[] = { port_keys, class_keys, switch_keys };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct portkey *key = tables[i]; key->name; key++) {
			for (int n = 0; n < VALUES && !wrong; n++)
				check_value(key);
			check_range(key);
		}
	}
	check_line("port a#b rate 1gbit\n", "port a#b rate 1gbit");
	check_line("port a rate 1gbit # 10gbit\n", "port a rate 1gbit ");
	check_line("# switch s\n", "");
	check_line("\t#\n", "\t");
	check_line("", "");
	check_losses();
	fflush(stdout);
	if (argc > 1)
		check_names(argv[1]);
	return wrong;
}
