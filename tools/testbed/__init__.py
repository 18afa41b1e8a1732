# SPDX-License-Identifier: GPL-2.0
"""The parts of the lab, the simulator, the bench and the tests.

    core    common parts: scenario files, figures, Debian's archive, kernels
    vm      the lab: virtual machines with stock kernels
    sim     the simulator: User-mode Linux in simulated time
    bench   what the module costs

core imports none of the others, vm and sim import only core, and bench imports all three. A command
finds this package through a symbolic link beside itself.
"""

import os
import sys

if sys.version_info < (3, 11):
    sys.exit("%s: needs Python 3.11 or newer (tools/container/run has it)" %
             os.path.basename(sys.argv[0]))
