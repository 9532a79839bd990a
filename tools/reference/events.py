"""The page about the stream of events that ``--json`` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

import msgspec
import yaml

from ordito.work.events import FORMAT, Event, OfHook
from ordito.work.invocation import Outcome
from tools.reference.markdown import MADE, cell, joined, table
from tools.reference.structs import FOLDER, fields, meanings

HEAD = f"""\
# Events

This page is good for programs that follow a command: what they read from `--json`.

With `--json`, a command writes one JSON object a line to standard output, and nothing else: events as they happen,
what it has to say itself, its result. The `type` says what an object is. The first one names the format, `{FORMAT}`:
it grows by new types and fields, which a reader has to pass over; what changes its meaning gets a new number.

```sh
ordito init my-app
ordito deploy my-app/service.yaml --yes --json > events.ndjson
```
<!-- run: ordito undeploy --yes -->

The events of each job are kept: `ordito jobs events --json` writes them again, and with `--follow` also while another
command runs the job. There they have one more field, `n`, the number of the record of the job that they tell: an event
with another `n` follows only when all of the last one are told. What operations print is not among them.

Fields that say nothing (empty, zero, false, null) are left out of the events of a job, other than those that are
marked as being there always.

{MADE}
"""
SAID_HEAD = """\
## What a command says

Of these objects all fields are there, if nothing else is said.
"""
JOB_HEAD = """\
## Events of a job
"""
PARTS_HEAD = """\
## Parts of events
"""
TAIL = """\
Next: [exit codes](exit-codes.md), [file formats](file-formats.md), [plans](../plan.md).
"""


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object of the command itself; ``fields`` are types in words and meanings, ``least`` those that are always
    there, where not all are."""

    about: str
    fields: Mapping[str, tuple[str, str]]
    example: str
    least: Sequence[str] = ()


EXAMPLES = {
    "job.started": '{"type":"job.started","job":"A6BM5PEY0000","workflow":"scale","steps":4,"done":0,"instances":'
    '["web_machine_3","web_3"],"at":1795325114.58}',
    "step.started": '{"type":"step.started","job":"A6BM5PEY0000","step":"web_3.Standard.create","instance":"web_3",'
    '"operation":"Standard.create","artifact":"say.sh","host":"web_machine_3","at":1795325114.61,"inputs":{"motto":"Late"}}',
    "step.log": '{"type":"step.log","job":"A6BM5PEY0000","step":"web_3.Standard.create","text":"web_3: create","at":'
    "1795325114.63}",
    "step.succeeded": '{"type":"step.succeeded","job":"A6BM5PEY0000","step":"web_3.Standard.create","instance":"web_3",'
    '"operation":"Standard.create","outcome":{"ending":"succeeded","exit_code":0,"seconds":0.009},"change":'
    '"A6BM5PEY0002","at":1795325114.63}',
    "step.failed": '{"type":"step.failed","job":"A6BM5PEY0000","step":"web_3.Standard.start","instance":"web_3",'
    '"operation":"Standard.start","outcome":{"ending":"failed","exit_code":1,"message":"","tail":["no room left"],'
    '"seconds":0.006},"change":"A6BM5PEY0003","declared":"service.yaml:20:39","artifact":"say.sh","at":1795325114.64}',
    "step.retrying": '{"type":"step.retrying","job":"A6BM5PEY0000","step":"web_3.Standard.start","instance":"web_3",'
    '"operation":"Standard.start","outcome":{"ending":"failed","exit_code":75,"seconds":0.006},"next":2,"attempts":3,'
    '"seconds":1.0,"at":1795325114.64}',
    "step.skipped": '{"type":"step.skipped","job":"A6BM5PEY0000","step":"web_3.Standard.start","instance":"web_3",'
    '"operation":"Standard.start","because":"web_3.Standard.create","at":1795325114.64}',
    "step.warning": '{"type":"step.warning","job":"A6BM5PEY0000","step":"web_3.Standard.create","message":'
    '"input port has no value","at":1795325114.63}',
    "instance.state": '{"type":"instance.state","job":"A6BM5PEY0000","instance":"web_3","state":"started","local":"ok",'
    '"at":1795325114.64}',
    "job.cancelling": '{"type":"job.cancelling","job":"A6BM5PEY0000","by":"ann","now":true,"at":1795325114.64}',
    "job.rollback": '{"type":"job.rollback","job":"A6BM5PEY0000","steps":3,"at":1795325114.64}',
    "job.finished": '{"type":"job.finished","job":"A6BM5PEY0000","workflow":"scale","status":"ok","succeeded":4,'
    '"no_op":1,"seconds":0.087,"at":1795325114.65}',
}


def said() -> Mapping[str, Said]:
    """The objects of the command itself, by type."""
    return msgspec.convert(
        yaml.load((FOLDER / "said.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader), dict[str, Said]
    )


def kinds() -> Mapping[str, type[msgspec.Struct]]:
    """The events of a job, by type."""
    return {str(kind.__struct_config__.tag): kind for kind in get_args(Event)}


def document() -> str:
    """The whole page."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield JOB_HEAD
    of_structs = meanings("events")
    for name, kind in kinds().items():
        meaning = of_structs[kind.__name__]
        yield f"### {name}"
        yield ""
        yield meaning.about
        yield ""
        yield from fields(kind, meaning)
        yield from _example(EXAMPLES[name])
    yield PARTS_HEAD
    for kind in (Outcome, OfHook):
        yield f"### {kind.__name__}"
        yield ""
        yield of_structs[kind.__name__].about
        yield ""
        yield from fields(kind, of_structs[kind.__name__])
    yield SAID_HEAD
    for name, one in said().items():
        yield f"### {name}"
        yield ""
        yield one.about
        yield ""
        yield from table(("field", "holds", "meaning"), [(f"`{n}`", k, cell(m)) for n, (k, m) in one.fields.items()])
        yield from _example(one.example)
    yield TAIL


def _example(line: str) -> Iterator[str]:
    yield "```text"
    yield json.dumps(json.loads(line))
    yield "```"
    yield ""
