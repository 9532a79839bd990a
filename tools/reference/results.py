"""The page on results for programs: each format, and what its names hold, from the structs of `ordito.results`."""

from __future__ import annotations

import ast
import inspect as python
import pkgutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import inspect

import ordito.results
from ordito.results.answer import Result, ResultData
from tools.reference.markdown import MADE, cell, joined, table
from tools.reference.structs import SIMPLE

HEAD = f"""\
# Results

This page is good for programs that read what a command answers: with `-o json` or `-o yaml`, or as the `result` of
[the events](events.md) with `--json`.

The first name of a result is its `format`, with a number: new names may be added to a format, a change of meaning gets
a new number. Names that are not always there are left out where there is nothing to say. What is sensitive is shown as
`(sensitive)`.

```sh
ordito init my-app
ordito deploy my-app/service.yaml --yes
ordito status -o json
```
<!-- run: ordito undeploy --yes -->

The result of `ordito plan` is described on the page on [plans](../plan.md). `ordito output` answers with the outputs by
their names, `ordito compile` with the [compiled service](../compiled.md), `ordito schema` with a JSON Schema,
`ordito jobs show` with the [record of the job](file-formats.md); none of these has a format of its own.

{MADE}
"""

ELSEWHERE = frozenset({"PlanData", "NothingPlannedData", "RecordedJobData"})
"""Formats that have pages of their own."""

UNTAGGED: Mapping[str, str] = {
    "JobEndData": "Commands that run a job",
    "NoJobData": "Commands that had nothing to do",
    "HealingsData": "Several healings",
    "CancellingData": "Cancelling a job of another process",
    "EditData": "Changes of records",
    "ValidatedData": "Validating a service",
    "ValidatedSeveralData": "Validating several services",
    "MadeFilesData": "Making files",
    "DescribedInstance": "Describing an instance",
    "DescribedNode": "Describing a node",
    "DoneData": "Changes at a server",
    "Done": "Changes of an ensemble on a server",
    "ServicePlace": "Where a service lies",
    "AskedPlan": "A plan of a server",
    "RulesData": "Rules of a server",
    "PlanReport": "The end of the job of a plan of a server",
    "EnsembleNames": "What can be searched for on a server",
    "GivenText": "What is given to an ensemble as text",
    "CheckedText": "Checking such a text",
    "ComparedData": "Comparing an ensemble on a server",
    "ReviewedEdit": "What a change of records would do",
    "ExportedState": "All records of an ensemble on a server",
    "HeldLockData": "A lock that clones share",
    "SecretKept": "Keeping a secret on a server",
    "OutputsData": "Outputs on a server",
    "NoticeStored": "Telling a server of something",
    "NoticesData": "Notices on a server",
    "WebhookData": "A webhook of a server",
    "MadeWebhook": "A new webhook of a server",
    "DeliveryData": "What is posted to a webhook",
    "ScheduleLine": "A schedule of a server",
    "ScheduleShownData": "A schedule of a server, with how its jobs run",
    "SourceData": "The repository that an ensemble of a server follows",
    "PackageLine": "A package of a server",
    "PackageData": "A package of a server, with what is in it",
    "SettingsShownData": "The settings of a server",
}
"""Titles of results whose format is named after the command, as in `ordito.deploy/1`."""


def document() -> str:
    """The whole page. Raises ``ValueError`` where a struct cannot be described."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    tagged, others = _results()
    parts: dict[str, type[msgspec.Struct]] = {}
    for kind in tagged:
        yield f"## {_tag(kind)}"
        yield from _about(kind, parts)
    for other in others:
        yield f"## {UNTAGGED[other.__name__]}"
        yield from _about(other, parts)
    yield "## Parts of results"
    yield ""
    told: set[str] = set()
    while left := [name for name in parts if name not in told]:
        for name in sorted(left):
            told.add(name)
            yield f"### {name}"
            yield from _about(parts[name], parts)
    yield "Next: [events](events.md), [exit codes](exit-codes.md), [file formats](file-formats.md)."


def _results() -> tuple[list[type[ResultData]], list[type[Result]]]:
    """The results with a format of their own by its name, and the others in the order of their titles."""
    modules = [
        import_module(f"ordito.results.{module.name}") for module in pkgutil.iter_modules(ordito.results.__path__)
    ]
    found = {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, Result) and kind not in (Result, ResultData)
    }
    kinds = [kind for name, kind in found.items() if name not in ELSEWHERE]
    tagged = sorted(
        (kind for kind in kinds if issubclass(kind, ResultData)), key=lambda kind: (_tag(kind), kind.__name__)
    )
    others = {kind.__name__: kind for kind in kinds if not issubclass(kind, ResultData)}
    if set(others) != set(UNTAGGED):
        raise ValueError(f"these results have no title, or do not exist: {set(others) ^ set(UNTAGGED)}")
    return tagged, [others[name] for name in UNTAGGED]


def _tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


def _about(kind: type[msgspec.Struct], parts: dict[str, type[msgspec.Struct]]) -> Iterator[str]:
    """What a struct is, and the table of its names; the structs in it are added to ``parts``."""
    yield ""
    yield _plain(python.cleandoc(kind.__doc__ or ""))
    yield ""
    info = inspect.type_info(kind)
    if not isinstance(info, inspect.StructType):
        raise ValueError(f"{kind.__name__} is no struct")
    rows = [
        (
            f"`{field.encode_name}`",
            _words(field.type, parts),
            "yes" if _is_always(field, kind) else "",
            _said(kind, field.name),
        )
        for field in info.fields
        if field.encode_name != "format"
    ]
    if rows:
        yield from table(("name", "holds", "always", "meaning"), rows)


def _is_always(field: inspect.Field, kind: type[msgspec.Struct]) -> bool:
    """Whether a name is always there: what is unset by default has no default here."""
    is_unset = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
    return field.required or not (is_unset or kind.__struct_config__.omit_defaults)


def _words(kind: Any, parts: dict[str, type[msgspec.Struct]]) -> str:
    """A type in words."""
    if type(kind) in SIMPLE:
        return SIMPLE[type(kind)]
    if isinstance(kind, inspect.ListType | inspect.VarTupleType | inspect.SetType | inspect.FrozenSetType):
        return f"list: {_words(kind.item_type, parts)}"
    if isinstance(kind, inspect.TupleType):
        return f"list of {' and '.join(_words(item, parts) for item in kind.item_types)}"
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, inspect.DictType):
        return f"map: {_words(kind.value_type, parts)}"
    if isinstance(kind, inspect.UnionType):
        return " or ".join(dict.fromkeys(_words(each, parts) for each in kind.types))
    if isinstance(kind, inspect.EnumType):
        return "text"
    if isinstance(kind, inspect.StructType):
        name = kind.cls.__name__
        parts.setdefault(name, kind.cls)
        return f"[{name}](#{name.lower()})"
    raise ValueError(f"no words for {kind}")


def _said(kind: type[msgspec.Struct], name: str) -> str:
    """What the docstring below a field says, "" where its name says all."""
    owner = next(owner for owner in kind.__mro__ if name in python.get_annotations(owner))
    return cell(_plain(_docstrings(owner).get(name, "")))


@cache
def _docstrings(kind: type) -> dict[str, str]:
    """The docstrings of the fields of a class, by their names."""
    tree = ast.parse(textwrap.dedent(python.getsource(kind)))
    body: Sequence[ast.stmt] = next(node.body for node in tree.body if isinstance(node, ast.ClassDef))
    found: dict[str, str] = {}
    for before, after in pairwise(body):
        if (
            isinstance(before, ast.AnnAssign)
            and isinstance(before.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            found[before.target.id] = python.cleandoc(str(after.value.value))
    return found


def _plain(text: str) -> str:
    """A docstring as Markdown: literals have one backtick there."""
    return " ".join(text.replace("``", "`").split())
