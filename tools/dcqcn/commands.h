/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of dcqcn, each in cmd_<name>.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

/* Options before the command */
extern bool option_json;

/* argv[0] is the command's name; its result is the exit status */
int cmd_show(int argc, char **argv);
int cmd_qp(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_save(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_port(int argc, char **argv);
int cmd_model(int argc, char **argv);

/* Says how the command is called, and ends the program */
void usage(const char *command) __attribute__((noreturn));

/* The value of an option that is a time; wrong ones end the program */
unsigned long long option_nsec(const char *arg);

#endif /* COMMANDS_H */
