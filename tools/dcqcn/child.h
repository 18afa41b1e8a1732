/* SPDX-License-Identifier: GPL-2.0 */
/* Programs whose output is read. See child.c. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

FILE *child_open(char *const argv[], pid_t *child);
bool child_close(FILE *in, pid_t child);

#endif /* CHILD_H */
