/* SPDX-License-Identifier: GPL-2.0 */
/* Settings under the names of other systems. See dialect.c. */
#ifndef DIALECT_H
#define DIALECT_H

#include <stdint.h>

#include "dev.h"

struct dialect;

const struct dialect *dialect_find(const char *name);
void dialect_print(const struct dialect *dialect, const struct dev *dev);
uint32_t dialect_read(const char *file, struct dev *dev);

#endif /* DIALECT_H */
