# SPDX-License-Identifier: GPL-2.0
"""The simulator: User-mode Linux in simulated time."""
