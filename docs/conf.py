"""Configuration of the site: `make docs` builds it into site/. Warnings are errors."""

import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Iterator
from enum import Enum
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
from ctad.persistence import file_schema

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
default_role = "code"  # single backquotes in docstrings mark code, as in Markdown
autodoc_typehints = "none"  # docstrings describe the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # each member has its own entry
numpydoc_attributes_as_param_list = True


def public_modules() -> Iterator[str]:
    """Names of ctad, its packages and the modules beside these; without the command."""
    yield "ctad"
    for module in pkgutil.walk_packages(ctad.__path__, "ctad."):
        is_public = "._" not in module.name and not module.name.startswith("ctad.cli")
        if is_public and (module.ispkg or module.name.count(".") == 1):
            yield module.name


def public_names() -> Iterator[tuple[str, object]]:
    """Everything that a module lists in `__all__`, and the public methods of its classes."""
    for module_name in public_modules():
        module = import_module(module_name)
        for name in module.__all__:
            if module_name != "ctad" and name in ctad.__all__:
                continue  # documented once
            value = getattr(module, name)
            yield f"{module_name}.{name}", value
            for part, member in inspect.getmembers_static(value) if inspect.isclass(value) else ():
                if not part.startswith("_") and is_ours(member) and not isinstance(member, Enum):
                    yield f"{module_name}.{name}.{part}", member


def is_ours(member: object) -> bool:
    """Whether this function, method or property is defined in ctad."""
    for inner in ("fget", "func", "__func__"):
        member = getattr(member, inner, member)
    return (getattr(member, "__module__", None) or "").startswith("ctad.")


def gaps_in_docstring(value: object) -> Iterator[str]:
    """What is missing in the docstring of a function or class."""
    text = inspect.getdoc(value) or ""
    # Named tuples and data classes have a generated docstring, the signature.
    if not text or text.startswith(f"{getattr(value, '__name__', None)}("):
        yield "has no docstring"
    fields = getattr(value, "_fields", ()) if inspect.isclass(value) else ()
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value)]
    for field in fields:
        if not field.startswith("_") and not re.search(rf"\b{field}\b", text):
            yield f"does not document {field}"


def check_public_names(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn about public names without a docstring or without a place in the API pages."""
    documented = env.get_domain("py").objects
    for name, value in public_names():
        if name not in documented:
            logger.warning("%s is public and not in docs/api", name)
        if callable(value) or isinstance(value, property | cached_property):
            for gap in gaps_in_docstring(value):
                logger.warning("%s %s", name, gap)


def skip(_app: Sphinx, _what: str, _name: str, member: object, skip: bool, _options: Any) -> bool:
    """Leave out members that scikit-learn adds; class docstrings document the fields."""
    return skip or not (is_ours(member) or inspect.isclass(member))


def describe_types(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add the tables of all types that a model file can hold to their page."""
    if page == "model-files":
        tables = "\n\n".join(table_of_type(*item) for item in file_schema().items())
        source[0] = source[0].replace("<!-- types -->", tables)


def table_of_type(name: str, schema: dict[str, Any]) -> str:
    """Where in a model a type may be, its parameters and attributes, and what they may be."""
    rows = [
        f"| {part} | `{key}` | {value.replace('|', chr(92) + '|')} |"
        for part in ("parameters", "fitted")
        for key, value in schema[part].items()
    ]
    roles = f"A {' or a '.join(schema['roles'])}."
    return "\n".join([f"### {name}", "", roles, "", "|  | name | value |", "|---|---|---|", *rows])


def show_inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers show without a script."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def show_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula as MathML."""
    writer.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the additions to Sphinx."""
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    app.connect("autodoc-skip-member", skip)
    app.connect("source-read", describe_types)
    app.connect("env-check-consistency", check_public_names)


html_math_renderer = "mathml"
