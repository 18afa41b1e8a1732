# SPDX-License-Identifier: GPL-2.0
"""What the lab, the simulator, the bench and the tests are made of.

    core    what all of them need: scenario files, figures, Debian's archive, kernels
    vm      the lab: virtual machines with stock kernels
    sim     the simulator: User-mode Linux in simulated time
    bench   what the module costs

core imports none of the others, vm and sim import core alone, bench all three. A command
finds this package beside itself, by a symbolic link.
"""

import os
import sys

if sys.version_info < (3, 11):
    sys.exit("%s: needs Python 3.11 or newer (tools/container/run has it)" %
             os.path.basename(sys.argv[0]))
