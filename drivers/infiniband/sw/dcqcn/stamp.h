/* SPDX-License-Identifier: GPL-2.0 */
/* Stamps of switches in data packets. See stamp.c. */
#ifndef DCQCN_STAMP_H
#define DCQCN_STAMP_H

#include <linux/types.h>

struct dcqcn_dev;
struct dcqcn_feedback;
struct sk_buff;

bool dcqcn_stamp_add(struct sk_buff *skb);
void dcqcn_stamps_read(struct dcqcn_dev *dev, bool on);
void dcqcn_stamps_tell(struct dcqcn_dev *dev, u32 qpn, u32 psn, struct dcqcn_feedback *say);
void dcqcn_stamps_exit(struct dcqcn_dev *dev);

#endif /* DCQCN_STAMP_H */
