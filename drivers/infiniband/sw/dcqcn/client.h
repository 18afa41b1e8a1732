/* SPDX-License-Identifier: GPL-2.0 */
/* Adds and removes ports. See client.c. */
#ifndef DCQCN_CLIENT_H
#define DCQCN_CLIENT_H

struct dcqcn_dev;
struct ib_device;

int dcqcn_client_init(void);
void dcqcn_client_exit(void);
struct dcqcn_dev *dcqcn_client_dev(struct ib_device *ibdev);

#endif /* DCQCN_CLIENT_H */
