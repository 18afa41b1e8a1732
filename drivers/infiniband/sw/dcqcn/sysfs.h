/* SPDX-License-Identifier: GPL-2.0 */
/* The knobs as files. See sysfs.c. */
#ifndef DCQCN_SYSFS_H
#define DCQCN_SYSFS_H

struct dcqcn_dev;

int dcqcn_sysfs_add(struct dcqcn_dev *dev);
void dcqcn_sysfs_remove(struct dcqcn_dev *dev);

#endif /* DCQCN_SYSFS_H */
