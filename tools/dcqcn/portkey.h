/* SPDX-License-Identifier: GPL-2.0 */
/* The settings of a port, its classes and a switch. See portkey.c. */
#ifndef PORTKEY_H
#define PORTKEY_H

#include <libmnl/libmnl.h>
#include <linux/dcbport.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Characters of the name of a device or a switch */
#define PORTKEY_NAME_MAX	15

enum portkey_type {
	PORTKEY_NUMBER,
	PORTKEY_RATE,		/* bit/s, as 40gbit */
	PORTKEY_NSEC,
	PORTKEY_MSEC,		/* 0 is "auto" */
	PORTKEY_BYTES,
	PORTKEY_PRIOS,		/* bits, as 3,4 */
	PORTKEY_ACTION,
	PORTKEY_TRUST,
	PORTKEY_MARK,
	PORTKEY_ONOFF,
	PORTKEY_MAP,		/* priorities of values, as 26:3,48:6 */
	PORTKEY_PMAX,		/* 1 / DCBPORT_PMAX_ONE, as 1% */
	PORTKEY_ALPHA,		/* 1 / DCBPORT_ALPHA_ONE, as 1/8 */
	PORTKEY_OWN_ALPHA,	/* 0 is "switch" */
	PORTKEY_SHARE,		/* 0 is "none" */
	PORTKEY_NAME,
};

struct portkey {
	const char *name;
	enum portkey_type type;
	uint16_t attr;
	uint8_t size;		/* bytes of the attribute */
	const char *help;
};

extern const struct portkey port_keys[];
extern const struct portkey class_keys[];
extern const struct portkey switch_keys[];

const struct portkey *portkey_find(const struct portkey *keys,
				   const char *name);
void portkey_put(struct nlmsghdr *nlh, const struct portkey *key,
		 const char *text);
void portkey_print(const struct portkey *key, const struct nlattr *attr);
void portkey_save(FILE *out, const struct portkey *key,
		  const struct nlattr *attr);
void portkey_range(FILE *out, const struct portkey *key, uint64_t value, uint64_t min,
		   uint64_t max);
void portkey_json(const struct portkey *key, const struct nlattr *attr);

#endif /* PORTKEY_H */
