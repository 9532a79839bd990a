"""Writes ``docs/compiled.md`` from the structures of the model: ``python -m tools.compiled``."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec

import ordito.model
from ordito.app.services.compiled import DEFINITIONS, FORMAT

DOCUMENT = Path(__file__).parent.parent / "docs" / "compiled.md"

HEAD = f"""\
# What `ordito compile` writes

One JSON object (with `-o yaml` the same as YAML): `format`, which is {FORMAT}, and the fields of `Service` below. Every
field is always there; what is unknown or unset is `null`, an empty text, list or map. Maps and lists keep the order of
the declarations, except where a list says that it is a set: that is sorted. The same service gives the same bytes.

- `Value` is data, with function calls as TOSCA writes them: `{{"get_attribute": ["SELF", "port"]}}`. Infinite and
  undefined numbers are the texts `.inf`, `-.inf` and `.nan`.
- `Span` is the text `file:line:column`. Fields of this type are there with `--positions` only.
- {" and ".join(f"`{name}`" for name in sorted(DEFINITIONS))} are left out with `--values-only`.
- A `Relationship` is listed among the `requirements` of its source; elsewhere only its `key` is written.
- Types have their full names; `kinds` begins with the type itself, followed by its ancestors.

<!-- Made by `python -m tools.compiled` from src/ordito/model; a test sees that it is up to date. -->
"""


def structures() -> dict[str, type[msgspec.Struct]]:
    """The structures that a service holds, the service first, each before those that its fields name first."""
    modules = [importlib.import_module(f"ordito.model.{m.name}") for m in pkgutil.iter_modules(ordito.model.__path__)]
    known = {
        name: item
        for module in modules
        for name, item in vars(module).items()
        if isinstance(item, type) and issubclass(item, msgspec.Struct) and item.__module__ == module.__name__
    }
    order: dict[str, type[msgspec.Struct]] = {}
    todo = ["Service"]
    while todo:
        name = todo.pop(0)
        if name not in order:
            order[name] = known[name]
            todo += [n for hint in fields(known[name]).values() for n in re.findall(r"\w+", hint) if n in known]
    return order


def fields(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The fields of a structure with their types as they are written."""
    hints = {n: str(h) for base in reversed(kind.__mro__) for n, h in inspect.get_annotations(base).items()}
    return {name: hints[name] for name in kind.__struct_fields__}


def meanings(kind: type[msgspec.Struct]) -> dict[str, str]:
    """What the texts under the fields of a structure say, by field, those of its bases included."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[: kind.__mro__.index(msgspec.Struct)]):
        (written,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(written, ast.ClassDef)
        for field, text in pairwise(written.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                    found[name] = " ".join(said.split()).replace("``", "`")
    return found


def document() -> str:
    """The whole document."""
    return "\n".join([HEAD, *(line for name, kind in structures().items() for line in _section(name, kind))])


def _section(name: str, kind: type[msgspec.Struct]) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    yield inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
    yield ""
    yield "| field | holds | meaning |"
    yield "|---|---|---|"
    said = meanings(kind)
    for field, hint in fields(kind).items():
        held = hint.replace(" | None", " or null").replace("Mapping[str, ", "Map[")
        yield f"| `{field}` | `{held}` | {said.get(field, '')} |".replace("|  |", "| |")
    yield ""


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(document(), encoding="utf-8")
