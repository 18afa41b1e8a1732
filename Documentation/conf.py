# SPDX-License-Identifier: GPL-2.0
"""Sphinx: "make html" builds these pages in out/html."""

import os
import sys

sys.path.insert(0, os.path.abspath("sphinx"))

project = "rdma_dcqcn"
copyright = "the rdma_dcqcn developers, GPL-2.0"     # no year: builds must be reproducible
extensions = ["links"]
master_doc = "index"
html_theme = "alabaster"
html_theme_options = {"description": "DCQCN congestion control for soft-RoCE",
                      "page_width": "1100px", "show_powered_by": False}
html_show_sphinx = False
html_copy_source = False
nitpicky = True
smartquotes = False             # they would turn --option into a dash and "option"
