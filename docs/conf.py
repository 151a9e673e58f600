"""The site of these pages: `make docs` builds it into site/. Warnings are errors."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

import ctad

project = "ctad"
release = version = ctad.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
exclude_patterns = ["site"]

html_theme = "furo"
html_title = "ctad"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
copybutton_exclude = ".linenos, .gp, .go"

nitpicky = False
default_role = "code"  # docstrings have names in single quotes, as Markdown has
autodoc_typehints = "none"  # docstrings have them in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # they follow, each with its own text
numpydoc_attributes_as_param_list = True


def public_names() -> Iterator[tuple[str, object]]:
    """Whatever a package lists in `__all__`, and the public methods of its classes."""
    found = pkgutil.iter_modules(ctad.__path__, "ctad.")
    for package in ["ctad", *(module.name for module in found if "._" not in module.name)]:
        module = import_module(package)
        for name in getattr(module, "__all__", ()):
            if package != "ctad" and name in ctad.__all__:
                continue  # described once
            value = getattr(module, name)
            yield f"{package}.{name}", value
            for part, member in inspect.getmembers_static(value) if inspect.isclass(value) else ():
                if not part.startswith("_") and is_ours(member):
                    yield f"{package}.{name}.{part}", member


def is_ours(member: object) -> bool:
    """Whether code of ctad wrote this function, method or property."""
    function = member.fget if isinstance(member, property) else member
    return getattr(function, "__module__", "").startswith("ctad.")


def check_public_names(app: Sphinx, error: Exception | None) -> None:
    """Fail if a public name has no docstring, or no place in the API pages."""
    if error:
        return
    described = app.env.get_domain("py").objects
    faults = []
    for name, value in public_names():
        if name not in described:
            faults.append(f"{name} is public and not described in docs/api")
        if callable(value) and not inspect.getdoc(value):
            faults.append(f"{name} has no docstring")
    if faults:
        raise ExtensionError("\n".join(faults))


def skip(_app: Sphinx, _what: str, _name: str, member: object, skip: bool, _options: Any) -> bool:
    """Leave out what scikit-learn adds to classes; fields stand in the docstring of their class."""
    return skip or not (is_ours(member) or inspect.isclass(member))


def show_inline(writer: HTML5Translator, node: nodes.math) -> None:
    """A formula as MathML, which browsers show without a script."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def show_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    writer.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """What this site adds to Sphinx."""
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    app.connect("autodoc-skip-member", skip)
    app.connect("build-finished", check_public_names)


html_math_renderer = "mathml"
