/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on standard output. See json.c. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>

extern bool json_pretty;

/* Names are NULL inside an array */
void json_open_array(const char *name);
void json_close_array(void);
void json_open_object(const char *name);
void json_close_object(void);
void json_string(const char *name, const char *value);
void json_number(const char *name, uint64_t value);
void json_real(const char *name, double value);
void json_exact(const char *name, double value);
void json_bits(const char *name, uint64_t bits);
void json_error(const char *error);
void json_end(void);

#endif /* JSON_H */
