# SPDX-License-Identifier: GPL-2.0
"""The bench: measures what rdma_dcqcn costs and how precisely it paces."""
