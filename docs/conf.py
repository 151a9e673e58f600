"""The site of these pages: `make docs` builds it into site/. Warnings are errors."""

import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

import ctad

logger = getLogger(__name__)

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
    found = [module.name for module in pkgutil.iter_modules(ctad.__path__, "ctad.")]
    for package in ["ctad", *(name for name in found if "._" not in name and name != "ctad.cli")]:
        module = import_module(package)
        for name in module.__all__:
            if package != "ctad" and name in ctad.__all__:
                continue  # described once
            value = getattr(module, name)
            yield f"{package}.{name}", value
            for part, member in inspect.getmembers_static(value) if inspect.isclass(value) else ():
                if not part.startswith("_") and is_ours(member):
                    yield f"{package}.{name}.{part}", member


def is_ours(member: object) -> bool:
    """Whether code of ctad wrote this function, method or property."""
    for inner in ("fget", "func", "__func__"):
        member = getattr(member, inner, member)
    return getattr(member, "__module__", "").startswith("ctad.")


def undocumented(value: object) -> Iterator[str]:
    """What the docstring of a function or class does not say."""
    text = inspect.getdoc(value) or ""
    if not text or text.startswith(f"{getattr(value, '__name__', None)}("):  # of named tuples
        yield "has no docstring"
    fields = getattr(value, "_fields", ()) if inspect.isclass(value) else ()
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value)]
    for field in fields:
        if not field.startswith("_") and not re.search(rf"\b{field}\b", text):
            yield f"does not say what {field} is"


def check_public_names(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names without docstring, or without a place in the API pages."""
    described = env.get_domain("py").objects
    for name, value in public_names():
        if name not in described:
            logger.warning("%s is public and not described in docs/api", name)
        if callable(value) or isinstance(value, property | cached_property):
            for fault in undocumented(value):
                logger.warning("%s %s", name, fault)


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
    app.connect("env-check-consistency", check_public_names)


html_math_renderer = "mathml"
