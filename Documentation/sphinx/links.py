# SPDX-License-Identifier: GPL-2.0
"""Link what pages mention, and warn of what does not exist.

Pages are also read as plain text, so they name each other by path, as the kernel's do:
"Documentation/lab.rst", or "lab.rst" in the same directory. This turns such a path into a
link. A path that begins with a directory of this tree must exist, in Markdown files, too.
External links are listed in external-links.txt of the output; "make linkcheck" fetches them.
"""

import glob
import os
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ROOMS = "|".join(d for d in sorted(os.listdir(TOP))
                 if os.path.isdir(os.path.join(TOP, d)) and d[0] != "." and d != "out")

PAGE = re.compile(r"(?<![\w./-])(?:Documentation/)?(?:[\w-]+/)*[\w-]+\.rst\b")
PLACE = re.compile(r"(?<![\w./-])(?:%s)/[\w./*{},-]*[\w/*}]" % ROOMS)
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)\)")

# The page that shows files which are not pages
SHOWN = {"Documentation/ABI/": "reference", "Documentation/netlink/": "reference"}

log = logging.getLogger(__name__)


def exists(path):
    """@path is in the tree, or a program that the build makes of its source."""
    path = os.path.join(TOP, path.rstrip("/"))
    if path.endswith(".ko"):
        return os.path.exists(os.path.join(os.path.dirname(path), "Makefile"))
    return bool(glob.glob(path)) or os.path.exists(path + ".c")


def check_places(text, location):
    for place in PLACE.findall(text):
        if "{" not in place and not exists(place):
            log.warning("no %s in this tree", place, location=location)


def page_of(path, docname, env):
    """The name Sphinx has for the page at @path, as @docname writes it; None without one."""
    if path.startswith("Documentation/"):
        names = [path[len("Documentation/"):-len(".rst")]]
    else:
        names = [os.path.normpath(os.path.join(os.path.dirname(docname), path[:-len(".rst")]))]
    return next((n for n in names if n in env.found_docs), None)


class Mentions(SphinxTransform):
    default_priority = 700      # after inline markup, before references are resolved

    def apply(self, **kwargs):
        for node in list(self.document.findall(nodes.Text)):
            parents = []
            parent = node.parent
            while parent is not None:
                parents.append(parent)
                parent = parent.parent
            if any(isinstance(p, (nodes.reference, nodes.comment, nodes.literal_block,
                                  nodes.raw)) for p in parents):
                if any(isinstance(p, nodes.literal_block) and "source" not in p for p in parents):
                    check_places(node.astext(), node.parent)
                continue
            check_places(node.astext(), node.parent)
            if isinstance(node.parent, nodes.literal) or \
               any(isinstance(p, nodes.title) for p in parents):
                continue
            self.link(node)

    def link(self, node):
        text, done, out = node.astext(), 0, []
        for match in re.finditer("%s|%s" % (PAGE.pattern, PLACE.pattern), text):
            path = match.group()
            if path.endswith(".rst"):
                page = page_of(path, self.env.docname, self.env)
                if page is None and not path.startswith("Documentation/"):
                    log.warning("no page %s", path, location=node.parent)
            else:
                page = next((p for place, p in SHOWN.items() if path.startswith(place)), None)
            if page is None:
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, page)
            out += [nodes.Text(text[done:match.start()]),
                    nodes.reference("", path, internal=True, refuri=uri)]
            done = match.end()
        if out:
            node.parent.replace(node, out + [nodes.Text(text[done:])])


def collect_external(app, doctree, docname):
    for node in doctree.findall(nodes.reference):
        if "://" in node.get("refuri", ""):
            app.env.external_links.add((node["refuri"], "Documentation/%s.rst" % docname))


def check_markdown(app):
    app.env.external_links = set()
    for path in sorted(glob.glob(os.path.join(TOP, "*.md"))):
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        check_places(text, name)
        for target in MARKDOWN_LINK.findall(text):
            if "://" in target:
                app.env.external_links.add((target, name))
            elif not exists(target.partition("#")[0]):
                log.warning("no %s in this tree", target, location=name)


def write_external(app, exception):
    if exception is None:
        with open(os.path.join(app.outdir, "external-links.txt"), "w", encoding="utf-8") as f:
            f.writelines("%s %s\n" % link for link in sorted(app.env.external_links))


def setup(app):
    app.add_transform(Mentions)
    app.connect("builder-inited", check_markdown)
    app.connect("doctree-resolved", collect_external)
    app.connect("build-finished", write_external)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
