# SPDX-License-Identifier: GPL-2.0
"""What rdma_dcqcn costs and how precisely it paces."""
