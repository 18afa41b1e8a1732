/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of dcqcn, in cmd_<first word>.c, except port_watch.c, port_record.c and port_save.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

/* -j, before the command */
extern bool option_json;

/* argv[0] is the command's last word; the result is the exit status */
int cmd_show(int argc, char **argv);
int cmd_qp(int argc, char **argv);
int cmd_ccc(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_profile_list(int argc, char **argv);
int cmd_profile_show(int argc, char **argv);
int cmd_profile_apply(int argc, char **argv);
int cmd_cc_list(int argc, char **argv);
int cmd_cc_use(int argc, char **argv);
int cmd_cc_load(int argc, char **argv);
int cmd_cc_unload(int argc, char **argv);
int cmd_save(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_try(int argc, char **argv);
int cmd_port_show(int argc, char **argv);
int cmd_port_stat(int argc, char **argv);
int cmd_port_watch(int argc, char **argv);
int cmd_port_record(int argc, char **argv);
int cmd_port_set(int argc, char **argv);
int cmd_port_clear(int argc, char **argv);
int cmd_port_save(int argc, char **argv);
int cmd_port_restore(int argc, char **argv);
int cmd_switch_show(int argc, char **argv);
int cmd_switch_new(int argc, char **argv);
int cmd_switch_set(int argc, char **argv);
int cmd_switch_del(int argc, char **argv);
int cmd_model(int argc, char **argv);

#endif /* COMMANDS_H */
