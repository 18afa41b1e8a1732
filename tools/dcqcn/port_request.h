/* SPDX-License-Identifier: GPL-2.0 */
/* Requests that change ports and switches. See port_request.c. */
#ifndef PORT_REQUEST_H
#define PORT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

void port_set(const char *dev, char **words);
void port_switch(uint8_t cmd, const char *name, char **words);
bool port_switch_restore(const char *name, char **words);

#endif /* PORT_REQUEST_H */
