/* SPDX-License-Identifier: GPL-2.0 */
/* Scripts that the program runs. See script.c. */
#ifndef SCRIPT_H
#define SCRIPT_H

const char *script_find(const char *source, const char *name);

#endif /* SCRIPT_H */
