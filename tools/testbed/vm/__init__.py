# SPDX-License-Identifier: GPL-2.0
"""The lab: a RoCEv2 fabric of virtual machines."""
