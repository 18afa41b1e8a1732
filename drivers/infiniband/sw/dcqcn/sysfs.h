/* SPDX-License-Identifier: GPL-2.0 */
/* The knobs as files. See sysfs.c. */
#ifndef DCQCN_SYSFS_H
#define DCQCN_SYSFS_H

struct dcqcn_dev;

/**
 * enum dcqcn_dir_id - directories below ``ecn/``
 * @DCQCN_DIR_NP: ``roce_np/``
 * @DCQCN_DIR_NP_ENABLE: ``roce_np/enable/``
 * @DCQCN_DIR_RP: ``roce_rp/``
 * @DCQCN_DIR_RP_ENABLE: ``roce_rp/enable/``
 */
enum dcqcn_dir_id {
	DCQCN_DIR_NP,
	DCQCN_DIR_NP_ENABLE,
	DCQCN_DIR_RP,
	DCQCN_DIR_RP_ENABLE,
	DCQCN_NUM_DIRS
};

int dcqcn_sysfs_add(struct dcqcn_dev *dev);
void dcqcn_sysfs_remove(struct dcqcn_dev *dev);

#endif /* DCQCN_SYSFS_H */
