/* SPDX-License-Identifier: GPL-2.0 */
/* Arguments that commands share. See arg.c. */
#ifndef ARG_H
#define ARG_H

#include <getopt.h>
#include <stdint.h>

int arg_option(int argc, char **argv, const char *letters,
	       const struct option *names);
uint64_t arg_nsec(const char *text);
uint64_t arg_interval(const char *text);
unsigned long arg_number(const char *what, const char *text, unsigned long least,
			 unsigned long most);
unsigned long arg_count(const char *text);
const char *arg_dev(char **argv);
void arg_none(char **argv);
void arg_unexpected(const char *word) __attribute__((noreturn));
void arg_missing(const char *what) __attribute__((noreturn));
void arg_missing_value(const char *name) __attribute__((noreturn));

#endif /* ARG_H */
