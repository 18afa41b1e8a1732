/* SPDX-License-Identifier: GPL-2.0 */
/* Files in debugfs. See debugfs.c. */
#ifndef DCQCN_DEBUGFS_H
#define DCQCN_DEBUGFS_H

struct dcqcn_dev;

void dcqcn_debugfs_init(void);
void dcqcn_debugfs_exit(void);
void dcqcn_debugfs_add(struct dcqcn_dev *dev);
void dcqcn_debugfs_remove(struct dcqcn_dev *dev);

#endif /* DCQCN_DEBUGFS_H */
