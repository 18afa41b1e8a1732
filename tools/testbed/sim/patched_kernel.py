# SPDX-License-Identifier: GPL-2.0
"""The simulator's kernel with patches of what is built in, such as the RDMA core."""

import functools
import subprocess

from ..core.kernel import Kernel, key
from ..core.progress import say
from .patched_rxe import must


class PatchedKernel(Kernel):
    """Its source shares with that of the simulator's kernel the files that no patch changes."""

    kind = "sim-patched"

    def __init__(self, patches):
        super().__init__()
        self.original, self.patches = Kernel(), patches
        contents = []
        for p in patches:
            with open(p, encoding="utf-8") as f:
                contents.append(f.read())
        self.key = key(self.key, contents)

    @functools.cached_property
    def package(self):
        return self.original.package

    def ensure(self):
        self.original.ensure()
        return super().ensure()

    def _prepare(self):
        say("sim: a kernel with patches, for upstream/try")
        subprocess.run(["cp", "-al", self.original.source, self.source], check=True)
        for p in self.patches:
            # writes new files, so those of the other tree stay as they are
            must("patch", "-s", "-d", self.source, "-p1", "-i", p)
