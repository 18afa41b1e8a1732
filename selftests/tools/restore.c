// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn port restore without a kernel, for devices that appear at the same time, as udev runs it:
 * one of the processes makes the switch, the others find it, and each makes its port, while the
 * module is still being loaded. In a second case, a port reserves more than its switch is to have;
 * in a third, ports and a switch are wrong beside one that is not. And dcqcn port save, of a port
 * with a class that has no weight. Prints what is wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "commands.h"
#include "fail.h"
#include "port.h"
#include "replace.h"

#define DEVICES		4
#define MEANWHILE	50000	/* us; the others do as much as this one */

bool option_json;

/* What the kernel has, and what was asked of it. @large: port 3 reserves too much. */
static struct {
	int switches, changes, ports;
	bool large;
} *kernel;

static struct {
	uint8_t cmd;
	char buffer[4096];
} request;

/* Its module is loaded, for this process, which has waited for that */
static bool loaded;

const struct netlink_family port_family;

/* A module has its directory as soon as it is being loaded */
int access(const char *path, int mode)
{
	(void)path;
	(void)mode;
	return 0;
}

unsigned int if_nametoindex(const char *name)
{
	return *name == 'p';
}

struct nlmsghdr *netlink_request(const struct netlink_family *f, uint8_t cmd, const char *object)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(request.buffer);

	(void)f;
	(void)object;
	request.cmd = cmd;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	return nlh;
}

bool netlink_try(struct nlmsghdr *nlh, int error)
{
	(void)nlh;
	if (!loaded)
		fail("dcbport: not loaded");
	usleep(MEANWHILE);
	switch (request.cmd) {
	case DCBPORT_CMD_SWITCH_NEW:
		if (__sync_bool_compare_and_swap(&kernel->switches, 0, 1))
			return true;
		if (error != EEXIST)
			fail("a switch of this name already exists");
		return false;
	case DCBPORT_CMD_SWITCH_SET:
		if (!kernel->switches)
			fail("no such switch");
		if (kernel->large && error != ENOSPC)
			fail("the size is below the reserves and headrooms of the switch's ports");
		if (kernel->large)
			return false;
		__sync_fetch_and_add(&kernel->changes, 1);
		return true;
	case DCBPORT_CMD_PORT_SET:
		if (__sync_add_and_fetch(&kernel->ports, 1) == DEVICES)
			kernel->large = false;
		return true;
	}
	fail("the request %u is unknown", request.cmd);
}

void netlink_do(struct nlmsghdr *nlh)
{
	netlink_try(nlh, 0);
}

void netlink_dump(struct nlmsghdr *nlh, uint16_t max, netlink_message message, void *data)
{
	const struct nlattr *tb[DCBPORT_A_SWITCH_MAX + 1] = {};

	(void)max;
	if (kernel->switches) {
		mnl_attr_put_strz(nlh, DCBPORT_A_SWITCH_NAME, "s");
		tb[DCBPORT_A_SWITCH_NAME] = mnl_nlmsg_get_payload_offset(nlh, sizeof(struct genlmsghdr));
		message(tb, data);
	}
	usleep(MEANWHILE);
}

const char *netlink_string(const struct nlattr *attr)
{
	return mnl_attr_get_str(attr);
}

uint64_t netlink_number(const struct nlattr *attr)
{
	return mnl_attr_get_u32(attr);
}

/* A port whose class 4 has no weight */
void port_dump(const char *dev, port_message message, void *data)
{
	struct nlmsghdr *nlh = netlink_request(&port_family, DCBPORT_CMD_PORT_GET, dev);
	const struct nlattr *tb[DCBPORT_A_PORT_MAX + 1] = {};
	struct port port = { .tb = tb };

	tb[DCBPORT_A_PORT_IFNAME] = mnl_nlmsg_get_payload_tail(nlh);
	mnl_attr_put_strz(nlh, DCBPORT_A_PORT_IFNAME, "p0");
	for (int i = 0; i < PORT_CLASSES; i++) {
		port.class[i][DCBPORT_A_CLASS_WEIGHT] = mnl_nlmsg_get_payload_tail(nlh);
		mnl_attr_put_u32(nlh, DCBPORT_A_CLASS_WEIGHT, i != 4);
	}
	message(&port, data);
}

void replace_file(const char *file, const void *data, size_t len)
{
	static const char wanted[] = "# dcqcn port restore: switches, ports\n"
		"port p0 prio 0 weight 1 prio 1 weight 1 prio 2 weight 1 prio 3 weight 1 "
		"prio 4 weight 0 prio 5 weight 1 prio 6 weight 1 prio 7 weight 1\n";

	if (len != strlen(wanted) || memcmp(data, wanted, len))
		fail("%s: %.*s", file, (int)len, (const char *)data);
}

/* modprobe and tc */
FILE *child_open(char *const argv[], pid_t *child)
{
	*child = !strcmp(argv[0], "modprobe");
	return stdin;
}

bool child_close(FILE *in, pid_t child)
{
	loaded |= child;
	return in;
}

const char *command_name(void)
{
	return "port restore";
}

const char *command_usage(void)
{
	return "";
}

static bool write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	return f && fputs(text, f) != EOF && !fclose(f);
}

/* Lines that fail cost nothing else, and each is reported */
static int restore_some(char **words)
{
	FILE *real = stderr;
	char *said, *wanted;
	size_t len;
	int status;

	if (!write_file(words[1], "switch t size big\nport p0 rate fast\nport p1 colour red\n"
			"port p2 switch s\n") ||
	    asprintf(&wanted, "dcqcn: %1$s:1: size: \"big\" is not bytes, such as 32767 or 10MB\n"
		     "dcqcn: %1$s:2: rate: \"fast\" is not a rate in whole bit/s, such as 1500kbit or 1gbit\n"
		     "dcqcn: %1$s:3: port: \"colour\": no such key here (dcqcn(8) lists them)\n",
		     words[1]) < 0)
		return EXIT_FAILURE;
	kernel->ports = 0;
	stderr = open_memstream(&said, &len);
	status = cmd_port_restore(2, words);
	fclose(stderr);
	stderr = real;
	if (status == EXIT_FAILURE && kernel->ports == 1 && !strcmp(said, wanted))
		return EXIT_SUCCESS;
	printf("status %d, %d ports were set; errors:\n%s", status, kernel->ports, said);
	return EXIT_FAILURE;
}

/* The argument is a file to write */
int main(int argc, char **argv)
{
	char *all[] = { "restore", argv[1], NULL }, *save[] = { "save", "-o", argv[1], NULL };
	int status, failed = 0;

	if (argc != 2 || !write_file(argv[1], "switch s size 1MB\nport p0 switch s\nport p1 switch s\n"
				     "port p2 switch s\nport p3 switch s\n"))
		return EXIT_FAILURE;
	kernel = mmap(NULL, sizeof(*kernel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (kernel == MAP_FAILED)
		return EXIT_FAILURE;
	for (int i = 0; i < DEVICES; i++) {
		char dev[] = { 'p', '0' + i, '\0' };
		char *words[] = { "restore", "dev", dev, argv[1], NULL };

		if (!fork())
			exit(cmd_port_restore(4, words));
	}
	while (wait(&status) > 0)
		failed += !!status;
	if (failed || kernel->changes != DEVICES - 1 || kernel->ports != DEVICES) {
		printf("%d of %d processes failed; the switch was changed %d times; %d ports were set\n",
		       failed, DEVICES, kernel->changes, kernel->ports);
		return EXIT_FAILURE;
	}
	kernel->switches = kernel->changes = kernel->ports = 0;
	/* an error ends the program with its message, here and below */
	cmd_port_save(3, save);
	kernel->switches = 1;
	kernel->large = true;
	if (cmd_port_restore(2, all) || kernel->changes != 1 || kernel->ports != DEVICES) {
		printf("the switch was changed %d times, not once; %d ports were set\n",
		       kernel->changes, kernel->ports);
		return EXIT_FAILURE;
	}
	return restore_some(all);
}
