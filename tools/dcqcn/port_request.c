// SPDX-License-Identifier: GPL-2.0
/* Requests that change ports and switches, of words: KEY VALUE ... prio PRIO KEY VALUE ... */
#include <errno.h>
#include <string.h>

#include "arg.h"
#include "fail.h"
#include "port.h"
#include "portkey.h"
#include "port_request.h"

/* Add KEY VALUE pairs up to the word "prio" or the end; return the rest */
static char **put_keys(struct nlmsghdr *nlh, const struct portkey *keys,
		       char **words)
{
	uint64_t given = 0;

	for (; *words && strcmp(*words, "prio"); words += 2) {
		const struct portkey *key = portkey_find(keys, *words);

		if (!key)
			fail("port: \"%s\": no such key here (dcqcn(8) lists them)",
			     *words);
		if (!words[1])
			arg_missing_value(key->name);
		if (given & 1ULL << key->attr)
			fail("port: %s is given twice", key->name);
		given |= 1ULL << key->attr;
		portkey_put(nlh, key, words[1]);
	}
	return words;
}

static char **put_class(struct nlmsghdr *nlh, char **words, unsigned int *given)
{
	unsigned long prio;
	struct nlattr *nest;

	if (!words[1])
		arg_missing_value("prio");
	prio = arg_number("priority", words[1], 0, PORT_CLASSES - 1);
	if (*given & 1U << prio)
		fail("port: prio %lu is given twice", prio);
	*given |= 1U << prio;
	nest = mnl_attr_nest_start(nlh, DCBPORT_A_PORT_CLASS);
	mnl_attr_put_u8(nlh, DCBPORT_A_CLASS_PRIO, prio);
	words = put_keys(nlh, class_keys, words + 2);
	mnl_attr_nest_end(nlh, nest);
	return words;
}

/* Set keys of a port and its classes */
void port_set(const char *dev, char **words)
{
	struct nlmsghdr *nlh = netlink_request(&port_family,
					       DCBPORT_CMD_PORT_SET, dev);
	unsigned int given = 0;

	mnl_attr_put_strz(nlh, DCBPORT_A_PORT_IFNAME, dev);
	words = put_keys(nlh, port_keys, words);
	while (*words)
		words = put_class(nlh, words, &given);
	netlink_do(nlh);
}

/* The kernel takes any name of a switch, but port restore reads words, and a port in the switch
 * none is in no switch.
 */
static struct nlmsghdr *switch_request(uint8_t cmd, const char *name, char **words)
{
	struct nlmsghdr *nlh = netlink_request(&port_family, cmd, name);

	if (cmd == DCBPORT_CMD_SWITCH_NEW &&
	    (!*name || *name == '#' || name[strcspn(name, " \t\n")] || !strcmp(name, "none")))
		fail("port: \"%s\" cannot be the name of a switch: choose one word other than none", name);
	mnl_attr_put_strz(nlh, DCBPORT_A_SWITCH_NAME, name);
	words = put_keys(nlh, switch_keys, words);
	if (*words)
		arg_unexpected(*words);
	return nlh;
}

/* Create, change or remove a switch */
void port_switch(uint8_t cmd, const char *name, char **words)
{
	netlink_do(switch_request(cmd, name, words));
}

/* Create a switch, or change the one that has this name. Only the kernel knows which, because
 * another process may do the same now. Return false if its ports reserve more at present.
 */
bool port_switch_restore(const char *name, char **words)
{
	return netlink_try(switch_request(DCBPORT_CMD_SWITCH_NEW, name, words), EEXIST) ||
	       netlink_try(switch_request(DCBPORT_CMD_SWITCH_SET, name, words), ENOSPC);
}
