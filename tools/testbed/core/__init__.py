# SPDX-License-Identifier: GPL-2.0
"""What the lab, the simulator, the bench and the tests have in common."""
