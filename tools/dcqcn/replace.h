/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are written as a whole. See replace.c. */
#ifndef REPLACE_H
#define REPLACE_H

#include <stddef.h>

void replace_file(const char *file, const void *data, size_t len);

#endif /* REPLACE_H */
