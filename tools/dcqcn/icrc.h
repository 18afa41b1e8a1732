/* SPDX-License-Identifier: GPL-2.0 */
/* The ICRC of a RoCEv2 packet. See icrc.c. */
#ifndef ICRC_H
#define ICRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t icrc_compute(const uint8_t *packet, size_t header, size_t len);

#endif /* ICRC_H */
