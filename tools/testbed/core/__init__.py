# SPDX-License-Identifier: GPL-2.0
"""Common code of the lab, the simulator, the bench and the tests."""
