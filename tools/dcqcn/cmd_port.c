// SPDX-License-Identifier: GPL-2.0
/* dcqcn port: switch ports of the module dcbport, and the switches they share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "commands.h"
#include "fail.h"
#include "json.h"
#include "netlink.h"
#include "port.h"
#include "portkey.h"
#include "port_request.h"

/* Counters of a class, with mlx5's names if it has the counter */
struct counter {
	const char *name;	/* %d is the priority */
	uint16_t attr;
};

#define COUNTER(_name, _attr)	{ _name, DCBPORT_A_CLASS_##_attr }

static const struct counter counters[] = {
	COUNTER("tx_prio%d_in_packets", IN_PACKETS),
	COUNTER("tx_prio%d_in_bytes", IN_BYTES),
	COUNTER("tx_prio%d_packets", OUT_PACKETS),
	COUNTER("tx_prio%d_bytes", OUT_BYTES),
	COUNTER("tx_prio%d_marked", MARKED),
	COUNTER("tx_prio%d_queue_packets", QUEUE_PACKETS),
	COUNTER("tx_prio%d_queue_bytes", QUEUE_BYTES),
	COUNTER("tx_prio%d_queue_bytes_max", QUEUE_BYTES_MAX),
	COUNTER("tx_prio%d_wire_packets", WIRE_PACKETS),
	COUNTER("tx_prio%d_flows", FLOWS),
	COUNTER("tx_prio%d_drop_limit", DROP_LIMIT),
	COUNTER("tx_prio%d_drop_buffer", DROP_BUFFER),
	COUNTER("tx_prio%d_drop_storm", DROP_STORM),
	COUNTER("tx_prio%d_drop_memory", DROP_MEMORY),
	COUNTER("tx_prio%d_drop_reset", DROP_RESET),
	COUNTER("tx_prio%d_drop_wred", DROP_WRED),
	COUNTER("rx_prio%d_pause", RX_PAUSE),
	COUNTER("rx_prio%d_resume", RX_RESUME),
	COUNTER("rx_prio%d_pause_transition", RX_PAUSE_TRANSITION),
	COUNTER("rx_prio%d_pause_duration", RX_PAUSE_DURATION),
	COUNTER("rx_prio%d_paused", PAUSED),
	COUNTER("tx_prio%d_pause", TX_PAUSE),
	COUNTER("tx_prio%d_resume", TX_RESUME),
	COUNTER("tx_prio%d_storm", STORM),
	COUNTER("tx_prio%d_storms", STORMS),
	COUNTER("tx_prio%d_restores", RESTORES),
	COUNTER("tx_prio%d_storm_packets", STORM_OUT),
	COUNTER("rx_prio%d_storm_packets", STORM_IN),
	COUNTER("rx_prio%d_drop_storm", RX_DROP_STORM),
	COUNTER("tx_prio%d_last_storm_packets", LAST_STORM_OUT),
	COUNTER("tx_prio%d_last_storm_drop", LAST_STORM_DROP),
	COUNTER("rx_prio%d_last_storm_packets", LAST_STORM_IN),
	COUNTER("rx_prio%d_last_storm_drop", LAST_STORM_RX_DROP),
	COUNTER("rx_prio%d_buffer_bytes", INGRESS_BYTES),
	COUNTER("rx_prio%d_buffer_bytes_max", INGRESS_BYTES_MAX),
	COUNTER("rx_prio%d_headroom_bytes_max", HEADROOM_BYTES_MAX),
	COUNTER("rx_prio%d_lossy_bytes", LOSSY_BYTES),
	COUNTER("rx_prio%d_lossy_bytes_max", LOSSY_BYTES_MAX),
};

static void show_class_text(const struct port *port, int prio)
{
	printf("    prio %d", prio);
	for (const struct portkey *key = class_keys; key->name; key++) {
		printf(" %s ", key->name);
		portkey_print(key, port->class[prio][key->attr]);
	}
	putchar('\n');
}

static void show_text(const struct port *port,
		      void *data __attribute__((unused)))
{
	printf("%s\n", netlink_string(port->tb[DCBPORT_A_PORT_IFNAME]));
	for (const struct portkey *key = port_keys; key->name; key++) {
		printf("    %-10s ", key->name);
		if (port->tb[key->attr])
			portkey_print(key, port->tb[key->attr]);
		else
			fputs("set per priority", stdout);
		printf("  (%s)\n", key->help);
	}
	for (int prio = 0; prio < PORT_CLASSES; prio++)
		show_class_text(port, prio);
}

static void show_json(const struct port *port,
		      void *data __attribute__((unused)))
{
	json_open_object(NULL);
	json_string("dev", netlink_string(port->tb[DCBPORT_A_PORT_IFNAME]));
	json_number("ifindex", netlink_number(port->tb[DCBPORT_A_PORT_IFINDEX]));
	for (const struct portkey *key = port_keys; key->name; key++) {
		if (port->tb[key->attr])
			portkey_json(key, port->tb[key->attr]);
	}
	json_open_array("classes");
	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		json_open_object(NULL);
		json_number("prio", prio);
		for (const struct portkey *key = class_keys; key->name; key++)
			portkey_json(key, port->class[prio][key->attr]);
		json_close_object();
	}
	json_close_array();
	json_close_object();
}

static void stat_counter(const struct counter *counter, int prio,
			 uint64_t value)
{
	char name[64];

	snprintf(name, sizeof(name), counter->name, prio);
	if (option_json)
		json_number(name, value);
	else if (value)
		printf("    %-30s %llu\n", name, (unsigned long long)value);
}

/* As text, counters that are 0 are left out */
static void stat_counters(const struct port *port)
{
	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		for (size_t i = 0; i < MNL_ARRAY_SIZE(counters); i++) {
			const struct nlattr *attr =
				port->class[prio][counters[i].attr];

			if (attr)
				stat_counter(&counters[i], prio,
					     netlink_number(attr));
		}
	}
}

/* Counters of a port */
static const struct counter port_counters[] = {
	{ "rx_pfc_errors", DCBPORT_A_PORT_PFC_ERRORS },
	{ "tx_pfc_errors", DCBPORT_A_PORT_FRAME_ERRORS },
	{ "rx_global_pause", DCBPORT_A_PORT_RX_GLOBAL_PAUSE },
};

static uint64_t port_counter(const struct port *port, size_t i)
{
	const struct nlattr *attr = port->tb[port_counters[i].attr];

	return attr ? netlink_number(attr) : 0;
}

static void stat_text(const struct port *port,
		      void *data __attribute__((unused)))
{
	printf("%s\n", netlink_string(port->tb[DCBPORT_A_PORT_IFNAME]));
	stat_counters(port);
	for (size_t i = 0; i < MNL_ARRAY_SIZE(port_counters); i++)
		printf("    %-30s %llu\n", port_counters[i].name,
		       (unsigned long long)port_counter(port, i));
}

static void stat_json(const struct port *port,
		      void *data __attribute__((unused)))
{
	json_open_object(NULL);
	json_string("dev", netlink_string(port->tb[DCBPORT_A_PORT_IFNAME]));
	for (size_t i = 0; i < MNL_ARRAY_SIZE(port_counters); i++)
		json_number(port_counters[i].name, port_counter(port, i));
	stat_counters(port);
	json_close_object();
}

/* As ethtool -S does: all counters, without the values of 0 left out */
static void stat_ethtool(const struct port *port,
			 void *data __attribute__((unused)))
{
	printf("NIC statistics:\n");
	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		for (size_t i = 0; i < MNL_ARRAY_SIZE(counters); i++) {
			const struct nlattr *attr =
				port->class[prio][counters[i].attr];
			char name[64];

			if (!attr)
				continue;
			snprintf(name, sizeof(name), counters[i].name, prio);
			printf("     %s: %llu\n", name,
			       (unsigned long long)netlink_number(attr));
		}
	}
	for (size_t i = 0; i < MNL_ARRAY_SIZE(port_counters); i++)
		printf("     %s: %llu\n", port_counters[i].name,
		       (unsigned long long)port_counter(port, i));
}

static int print_ports(char **argv, port_message text, port_message json)
{
	const char *dev = arg_dev(argv + 1);

	if (option_json)
		json_open_array(NULL);
	port_dump(dev, option_json ? json : text, NULL);
	if (option_json)
		json_close_array();
	return EXIT_SUCCESS;
}

int cmd_port_show(int argc __attribute__((unused)), char **argv)
{
	return print_ports(argv, show_text, show_json);
}

int cmd_port_stat(int argc, char **argv)
{
	static const struct option names[] = {
		{ "as", required_argument, NULL, 'a' }, {}
	};
	port_message text = stat_text;

	while (arg_option(argc, argv, "+", names) != -1) {
		if (strcmp(optarg, "ethtool"))
			fail("--as: \"%s\" is not ethtool", optarg);
		text = stat_ethtool;
	}
	return print_ports(argv + optind - 1, text, stat_json);
}

int cmd_port_set(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "dev"))
		arg_unexpected(argv[1]);
	if (argc < 3)
		arg_missing("the device");
	if (argc < 4)
		arg_missing("a key");
	port_set(argv[2], argv + 3);
	return EXIT_SUCCESS;
}

/* Shows the counters as they were */
int cmd_port_clear(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "dev"))
		arg_unexpected(argv[1]);
	if (argc < 3)
		arg_missing("the device");
	arg_none(argv + 3);
	if (option_json)
		json_open_array(NULL);
	port_clear(argv[2], option_json ? stat_json : stat_text, NULL);
	if (option_json)
		json_close_array();
	return EXIT_SUCCESS;
}

static const struct portkey switch_figures[] = {
	{ "ports", PORTKEY_NUMBER, DCBPORT_A_SWITCH_PORTS, 4, "" },
	{ "room", PORTKEY_BYTES, DCBPORT_A_SWITCH_ROOM, 8, "" },
	{ "used", PORTKEY_BYTES, DCBPORT_A_SWITCH_USED, 8, "" },
	{ "lossy_used", PORTKEY_BYTES, DCBPORT_A_SWITCH_LOSSY_USED, 8, "" },
	{}
};

static void switch_values(const struct nlattr **tb, const struct portkey *keys)
{
	for (; keys->name; keys++) {
		if (option_json) {
			portkey_json(keys, tb[keys->attr]);
		} else {
			printf(" %s ", keys->name);
			portkey_print(keys, tb[keys->attr]);
		}
	}
}

static void switch_message(const struct nlattr **tb,
			   void *data __attribute__((unused)))
{
	const char *name = netlink_string(tb[DCBPORT_A_SWITCH_NAME]);

	if (option_json) {
		json_open_object(NULL);
		json_string("switch", name);
	} else {
		printf("%s", name);
	}
	switch_values(tb, switch_keys);
	switch_values(tb, switch_figures);
	if (option_json)
		json_close_object();
	else
		putchar('\n');
}

int cmd_switch_show(int argc __attribute__((unused)), char **argv)
{
	arg_none(argv + 1);
	if (option_json)
		json_open_array(NULL);
	netlink_dump(netlink_request(&port_family, DCBPORT_CMD_SWITCH_GET, NULL),
		     DCBPORT_A_SWITCH_MAX, switch_message, NULL);
	if (option_json)
		json_close_array();
	return EXIT_SUCCESS;
}

static int switch_do(uint8_t cmd, char **argv)
{
	if (!argv[1])
		arg_missing("the switch");
	port_switch(cmd, argv[1], argv + 2);
	return EXIT_SUCCESS;
}

int cmd_switch_new(int argc __attribute__((unused)), char **argv)
{
	return switch_do(DCBPORT_CMD_SWITCH_NEW, argv);
}

int cmd_switch_set(int argc, char **argv)
{
	if (argc == 2)
		arg_missing("a key");
	return switch_do(DCBPORT_CMD_SWITCH_SET, argv);
}

int cmd_switch_del(int argc, char **argv)
{
	if (argc > 2)
		arg_unexpected(argv[2]);
	return switch_do(DCBPORT_CMD_SWITCH_DEL, argv);
}
