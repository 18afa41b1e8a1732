/* SPDX-License-Identifier: GPL-2.0 */
/* Text from elsewhere that is safe to print. See clean.c. */
#ifndef CLEAN_H
#define CLEAN_H

#include <stdbool.h>
#include <stddef.h>

size_t clean_len(const char *s);
char *clean(char *text);
bool clean_word(const char *name);
void clean_line(char *line);

#endif /* CLEAN_H */
