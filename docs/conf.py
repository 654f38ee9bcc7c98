"""How the documentation is built: Markdown pages, numpydoc docstrings, formulas as MathML; nothing from a network."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "reweight"
author = "The reweight developers"
copyright = "The reweight developers"  # noqa: A001 (Sphinx's own name for it)
release = version = installed_version("grpo-reweight")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "mathml"]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = "reweight"
html_math_renderer = "mathml"
html_copy_source = False

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

default_role = "code"
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

QUOTED_OR_BAR = re.compile(r"(`[^`]*`)|\|")


def _keep_bars(_app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Let |x| in a docstring be an absolute value; Sphinx would look for a substitution of that name."""
    example = False
    for index, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[index] = QUOTED_OR_BAR.sub(lambda found: found[1] or r"\|", line)


def setup(app: Sphinx) -> None:
    """Register the hooks above."""
    app.connect("autodoc-process-docstring", _keep_bars)
