"""The page about the formats of files: those that a user writes, and those that the program does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import yaml

from ordito.app.inputs.user_part import KNOWN
from ordito.app.plan_basis import PlanBasis
from ordito.app.saved_plan import SavedPlan
from ordito.ensemble.entity_change import AppliedChange, EntityChange
from ordito.ensemble.job_format import ConfigChange, HookDone, JobFile, JobHead
from ordito.ensemble.manifest_rows import (
    AppliedRow,
    EndRow,
    InstanceRow,
    LastJobRow,
    LinkRow,
    ReadyState,
    StatusRow,
)
from ordito.model.choices import Choices, SelectedNode
from ordito.model.step_policies import KEYS, MOMENTS, TRANSITIONS
from ordito.providers.connection import CONNECTION
from ordito.providers.pool.hosts import STATIC
from ordito.providers.registry import BUILT_IN
from ordito.work.hooks import Block, Hook, HookResult
from ordito.work.plan import KeptCount
from ordito.work.records import Form, GivenService, GivenValue, LeftBehind
from tools.reference.markdown import MADE, cell, joined, table
from tools.reference.structs import FOLDER, fields, meanings

TEMPLATE = Path(__file__).parent / "file_formats.md"
"""The page, in which a line that begins with @ says what is put in its place."""

OF_STATUS = (
    *(StatusRow, InstanceRow, ReadyState, AppliedRow, LinkRow, EndRow, LastJobRow),
    *(Form, Choices, SelectedNode, GivenValue, GivenService, KeptCount, LeftBehind),
)
OF_JOBS = (JobFile, JobHead, ConfigChange, EntityChange, AppliedChange, HookDone, Hook, Block, HookResult)
OF_PLANS = (SavedPlan, PlanBasis)

PARTS: Mapping[str, Iterable[str]] = {
    "user": KNOWN,
    "sections": ("defaults", *(section for section, _ in BUILT_IN.values()), "provide"),
    "connection": CONNECTION,
    "host": STATIC,
    "step": KEYS,
    "columns": (
        *("changeId", "kind", "parent", "workflow", "target", "outcome", "changed", "start", "seconds", "summary"),
    ),
}
STRUCTS = {"status": OF_STATUS, "jobs": OF_JOBS, "plans": OF_PLANS}


def written() -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """The keys of what a user writes, and the columns of `jobs.tsv`: what each holds and means."""
    data = yaml.load((FOLDER / "written.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    return msgspec.convert(data, dict[str, dict[str, tuple[str, str]]])


def document() -> str:
    """The whole page."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    for line in TEMPLATE.read_text(encoding="utf-8").splitlines():
        word, _, what = line.partition(" ")
        if word == "@keys":
            yield from _keys(what, PARTS[what])
        elif word == "@structs":
            yield from _structs(STRUCTS[what])
        elif word == "@phases":
            yield f"A transition is one of {_listed(TRANSITIONS)}, a moment one of {_listed(MOMENTS)}. A step holds:"
        else:
            yield MADE if line == "MADE" else line


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _keys(part: str, known: Iterable[str]) -> Iterator[str]:
    """The table of keys. Raises ``ValueError`` where what is said is not about those that are known."""
    told = written()[part]
    if set(told) != set(known):
        raise ValueError(f"{part}: what is said of its keys does not fit them: {set(told).symmetric_difference(known)}")
    rows = [(f"`{name}`", cell(holds), cell(meaning)) for name, (holds, meaning) in told.items()]
    yield from list(table(("column" if part == "columns" else "key", "holds", "meaning"), rows))[:-1]


def _structs(kinds: Sequence[type[msgspec.Struct]]) -> Iterator[str]:
    told = meanings("files")
    for kind in kinds:
        yield f"### {kind.__name__}"
        yield ""
        yield told[kind.__name__].about
        yield ""
        # The page has the empty line behind the last one itself.
        yield from list(fields(kind, told[kind.__name__]))[: -1 if kind is kinds[-1] else None]
