/* SPDX-License-Identifier: GPL-2.0 */
/* The table of commands. See command.c. */
#ifndef COMMAND_H
#define COMMAND_H

int command_run(int argc, char **argv);
void command_help(void);
const char *command_name(void);
const char *command_usage(void);

#endif /* COMMAND_H */
