"""What the end of each kind of step changes in the records, through what the engine asks of operations.

``data/step_end.yaml`` holds it for one circumstance at a time, in words; ``data/step_end_digests.yaml`` has a digest of
what all circumstances together give, by the kind of step and its ending. ``python -m tests.operations.test_step_end``
makes both again: read the difference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordito.instances.records import Applied, Delta, Instance, Link, Snapshot
from ordito.model.imperative import Workflow
from ordito.model.service import Service
from ordito.operations import end_effects, step_end
from ordito.operations.operations import PlanOperations
from ordito.operations.step_end import OperationEndFacts, StepEndFacts
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import OperationCall, Plan, PlannedRecords, Step, StepCondition, StepEffect, StepFlow
from tests.support.services import Requires, compute, definition, maintain, node, on, operation, service
from tests.support.thorough import some
from tests.support.yaml_files import read_yaml, write_yaml

DATA = Path(__file__).parent / "data"
WORDS, DIGESTS = DATA / "step_end.yaml", DATA / "step_end_digests.yaml"

STANDARD = ("create", "configure", "start", "stop", "delete", "update")
LINK = "web_1.db.db_1"
BEFORE = Applied("before", "digest")


def the_service() -> Service:
    """A node on a host, which it can be configured without, with what is on it and what it is linked with."""
    db = Requires("db", "pre_configure_source", "add_target", "remove_target", "target_changed")
    create = operation("create", outputs={"color": ("SELF", "color")})
    web = node(
        "web",
        on("host"),
        db,
        operations=[create, *STANDARD[1:]],
        declares=[definition("color")],
        metadata={"ordito.Standard.configure.priority": "optional", "ordito.Configure.add_target.priority": "optional"},
    )
    custom = msgspec.structs.replace(web.interfaces["Standard"], name="Custom", kinds=("my.Custom",))
    web = msgspec.structs.replace(web, interfaces={**web.interfaces, **maintain("check"), "Custom": custom})
    made = service(compute("host"), node("db"), web, node("log", on("web")))
    own = Workflow("own", outputs={"color": ("web", "color")})
    return msgspec.structs.replace(made, workflows={"own": own})


def call(owner: str, name: str, side: str = "", *, artifact: str = "run.sh", digest: str = "new") -> OperationCall:
    interface, _, operation_name = name.rpartition(".")
    outputs = ("color",) if name == "Standard.create" else ()
    return OperationCall(owner, side, interface, operation_name, artifact, outputs=outputs, digest=digest)


CALLS: dict[str, OperationCall] = {
    **{name: call("web", f"Standard.{name}") for name in STANDARD},
    "custom": call("web", "Custom.configure", digest=""),
    "custom stop": call("web", "Custom.stop", digest=""),
    "check": call("web", "Maintain.check"),
    "look": call("host", "delegate.look", artifact=""),
    "deploy": call("host", "delegate.deploy", artifact=""),
    "undeploy": call("host", "delegate.undeploy", artifact=""),
    "near": call("web.db", "Configure.pre_configure_source", "source"),
    "link": call("web.db", "Configure.add_target", "source"),
    "unlink": call("web.db", "Configure.remove_target", "source"),
    "tell": call("web.db", "Configure.target_changed", "source"),
    "workflow": call("own", "workflow.own"),
    "output": call("web", "Standard.create"),
}
NUMBERS = {name: number for number, name in enumerate(CALLS)}
PAIR = {"far": "db_1", "link": LINK}


def step(name: str, **more: object) -> Step:
    effect = {field: more.pop(field) for field in StepEffect.__struct_fields__ if field in more}
    given = {"id": name, "instance": "web_1", "call": NUMBERS.get(name, -1), "effect": effect, **more}
    return msgspec.convert(given, Step)


STEPS: Mapping[str, Step] = {
    "join": step("join", action="join"),
    "filter": step("filter", action="filter", call=NUMBERS["create"]),
    "adopt": step("adopt", action="adopt"),
    "workflow": step("workflow", action="workflow", instance=""),
    "output": step("output", action="output", written=("output", "own", "color")),
    **{
        f"set {state}": step(f"set {state}", action="set state", leave=state, call=NUMBERS["create"])
        for state in ("started", "available", "error", "configured", "deleted")
    },
    "set state of a pair": step("set state", action="set state", leave="started", call=NUMBERS["link"], **PAIR),
    "check": step("check"),
    "look": step("look", action="delegate", instance="host_1"),
    "deploy": step("deploy", action="delegate", instance="host_1", enter="creating", leave="started"),
    "undeploy": step("undeploy", action="delegate", instance="host_1", enter="stopping", leave="deleted"),
    "create": step("create", enter="creating", leave="created"),
    "configure": step("configure", enter="configuring", leave="configured"),
    "start": step("start", enter="starting", leave="started"),
    "stop": step("stop", enter="stopping", leave="configured"),
    "delete": step("delete", enter="deleting", leave="deleted"),
    "update": step("update", enter="configuring", leave="started", forms=True),
    "custom": step("custom"),
    "custom stop": step("custom stop"),
    "near": step("near", far="db_1"),
    "tell": step("tell", far="db_1"),
    "link": step("link", **PAIR),
    "unlink": step("unlink", **PAIR),
}
OWN = ("configure", "start", "stop", "delete", "custom", "near", "tell", "link", "deploy", "check")

REPORTS: Mapping[str, Mapping[str, object]] = {
    "": {"changed": None},
    "changed": {"changed": True},
    "unchanged": {"changed": False},
    "says degraded": {"status": "degraded"},
    "says absent": {"status": "absent"},
    "code 0": {"exit_code": 0},
    "code 1": {"exit_code": 1, "message": "it ended with 1", "tail": ("its last line",)},
    "code 3": {"exit_code": 3},
    "gives": {"outputs": {"color": "red"}},
    "gives what does not fit": {"outputs": {"color": ["red"]}},
}

FLAGS: Mapping[str, Mapping[str, object]] = {
    "": {},
    "closes": {"closes": True},
    "non-blocking": {"non_blocking": True},
    "non-blocking closes": {"non_blocking": True, "closes": True},
    "after failure": {"after_failure": True},
    "counts": {"counts": True},
    "replaces": {"replaces": True},
    **{condition.name.lower(): {"condition": condition} for condition in StepCondition if condition},
}

INSTANCES: Mapping[str, Mapping[str, object]] = {
    "": {"local": "ok", "state": "started"},
    "pending": {"local": "pending", "state": "configured"},
    "created": {"local": "pending", "state": "created"},
    "degraded": {"local": "degraded", "state": "started"},
    "unknown": {"local": "unknown", "state": "error"},
    "in error": {"local": "error", "state": "error"},
    "in error and started": {"local": "error", "state": "started"},
    "absent": {"local": "absent", "state": "deleted", "status_reason": "found absent"},
    "new": {"local": "unknown", "state": "initial", "created": "", "applied": {}},
    "failed": {"local": "error", "state": "error", "failed": {"Standard.create": "before"}},
    "failed optional": {"local": "degraded", "state": "started", "failed": {"Standard.configure": "before"}},
    "failed custom": {
        "local": "unknown",
        "state": "started",
        "failed": {"Custom.configure": "before"},
        "before_failure": {"Custom.configure": "ok"},
    },
    "failed to be told": {
        "local": "error",
        "state": "started",
        "failed": {"web.db/Configure.target_changed": "before"},
    },
    "stopped twice": {"applied": {"Standard.stop": BEFORE, "Standard.start": BEFORE}},
    "drifted": {"local": "ok", "state": "started", "drift": {"status": "degraded started", "attribute color": "none"}},
    "of this job": {"local": "ok", "state": "started", "created": "job-0001", "last_config_change": "job-0001"},
}

AROUND: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "": {},
    "its pair has failed": {LINK: {"applied": {}, "failed": {"Configure.add_target": "before"}}},
    "its pair is unlinked": {LINK: {"applied": {"Configure.remove_target": BEFORE}}},
    "its host is lost": {"host_1": {"local": "error", "state": "error", "status_reason": "unreachable"}},
    "its peer is stopped": {"db_1": {"local": "pending", "state": "configured"}},
}
WORKFLOWS = ("deploy", "run", "heal", "undeploy")


USUAL = "as usual"


class Case(msgspec.Struct, frozen=True):
    """The end of a step, and the circumstances: ``begun`` says whether its start was told as well."""

    step: str
    ending: Ending
    report: str = ""
    flags: str = ""
    instance: str = ""
    around: str = ""
    workflow: str = "deploy"
    begun: bool = True

    @property
    def said(self) -> str:
        """The circumstances that are not the usual ones."""
        told = [self.report, self.flags, self.instance, self.around]
        told += [self.workflow] if self.workflow != "deploy" else []
        return ", ".join([*(word for word in told if word), *(() if self.begun else ("not begun",))]) or USUAL


def _as_recorded() -> tuple[list[Instance], Link]:
    """The records before: of a service that was deployed."""
    applied = {f"Standard.{name}": BEFORE for name in ("create", "configure", "start")}
    common = {"local": "ok", "state": "started", "created": "before", "applied": applied}
    hosts = {"host_1": ("host", ""), "db_1": ("db", ""), "web_1": ("web", "host_1"), "log_1": ("log", "web_1")}
    made = [Instance(name, of, 0, host) for name, (of, host) in hosts.items()]
    every = [msgspec.structs.replace(record, **common) for record in made]
    told = {"target_changed": "started 0123456789abcdef before"}
    return every, Link(LINK, "web.db", "web_1", "db_1", applied={"Configure.add_target": BEFORE}, told=told)


SERVICE = the_service()
INSTANCES_BEFORE, LINK_BEFORE = _as_recorded()


def result_of(case: Case) -> str:
    """How the step has ended, and what has changed in the records."""
    which = _with_flags(STEPS[case.step], FLAGS[case.flags])
    around = AROUND[case.around]
    snapshot = Snapshot()
    owner = which.instance or "web_1"
    own = msgspec.convert(INSTANCES[case.instance], dict[str, object])
    records = []
    for record in INSTANCES_BEFORE:
        other = {**(own if record.id == owner else {}), **around.get(record.id, {})}
        records.append(msgspec.convert({**msgspec.structs.asdict(record), **other}, Instance))
    link = msgspec.structs.replace(LINK_BEFORE, **around.get(LINK, {}))
    snapshot.apply(Delta(tuple(records), (link,), attributes={"web_1": {"color": "blue"}, "host_1": {"cpu": 1}}))
    if case.step == "output":
        snapshot.apply(Delta(outputs={"web_1": {"Standard.create": {"color": "red"}}}))
    adopted = {"web_1": {"Standard.create": Applied("", "wanted")}} if case.step in ("adopt", "update") else {}
    steps = (STEPS["create"], which) if case.step == "output" else (which,)
    plan = Plan(case.workflow, steps, (), tuple(CALLS.values()), ("",), records=PlannedRecords(adopted=adopted))
    operations = PlanOperations(SERVICE, snapshot, plan, {}, root="/pinned", job="job", form="form")
    if case.begun:
        snapshot.apply(operations.on_start(which, "now"))
    before = snapshot.copy()
    outcome = Outcome(case.ending, **REPORTS[case.report])  # type: ignore[arg-type]
    ended, delta = operations.on_end(which, outcome, "now")
    snapshot.apply(delta)
    return " | ".join([*_ended(outcome, ended), *_changes(before, snapshot)]) or "nothing"


def _with_flags(step: Step, flags: Mapping[str, object]) -> Step:
    flow = {name: value for name, value in flags.items() if name in StepFlow.__struct_fields__}
    effect = {name: value for name, value in flags.items() if name not in flow}
    replace = msgspec.structs.replace
    return replace(step, flow=replace(step.flow, **flow), effect=replace(step.effect, **effect))


def _ended(outcome: Outcome, ended: Outcome) -> Iterator[str]:
    for name in ("ending", "status", "message"):
        if getattr(ended, name) != getattr(outcome, name):
            yield f"it ends with {name} {getattr(ended, name)}"


def _changes(before: Snapshot, after: Snapshot) -> Iterator[str]:
    for kind in ("instances", "links"):
        was, now = getattr(before, kind), getattr(after, kind)
        for name in sorted({*was, *now}):
            if name not in now:
                yield f"{name}: gone"
            elif name not in was:
                yield f"{name}: {_compact(msgspec.to_builtins(now[name]))}"
            elif was[name] != now[name]:
                yield f"{name}: {', '.join(_differences(was[name], now[name]))}"
    for kind in ("attributes", "outputs"):
        was, now = getattr(before, kind), getattr(after, kind)
        for name in sorted({*was, *now}):
            if was.get(name) != now.get(name):
                yield f"{kind} of {name}: {_compact(now.get(name, {}))}"


def _differences(was: Instance | Link, now: Instance | Link) -> Iterator[str]:
    for field in was.__struct_fields__:
        old, new = getattr(was, field), getattr(now, field)
        if isinstance(old, Mapping):
            gone = [f"-{key}" for key in old if key not in new]
            other = [f"+{key} {_short(value)}" for key, value in new.items() if old.get(key) != value]
            if old != new:
                yield f"{field.removeprefix('last_')} {' '.join([*gone, *sorted(other)])}"
        elif old != new:
            yield f"{field.removeprefix('last_')} {_short(new)}"


def _short(value: object) -> str:
    return (f"{value.change}:{value.digest}" if isinstance(value, Applied) else str(value)) or '""'


def _compact(value: object) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def cases_in_words(name: str, ending: Ending) -> Iterator[Case]:
    """A kind of step and an ending, with at most one circumstance that is not the usual one."""
    reports = [r for r in REPORTS if r.startswith(("gives", "code")) <= (name in _GIVING)]
    yield from (Case(name, ending, report=report) for report in reports)
    yield from (Case(name, ending, flags=flag) for flag in FLAGS if flag)
    yield from (Case(name, ending, instance=instance) for instance in INSTANCES if instance)
    yield from (Case(name, ending, around=around) for around in AROUND if around)
    yield from (Case(name, ending, workflow=workflow) for workflow in WORKFLOWS[1:])
    yield Case(name, ending, begun=False)


_GIVING = ("create", "check", "look", "workflow", "output", "deploy", "undeploy")


def all_cases(name: str, ending: Ending) -> Iterator[Case]:
    """What makes a difference for operations, in all combinations."""
    flags = ("", "closes", "non-blocking", "non-blocking closes", "after failure", "if_unwell", "if_repaired")
    reports = ("", "changed", "unchanged", "says degraded")
    instances = ("", "pending", "created", "unknown", "in error and started", "failed", "failed optional",
                 "failed custom", "failed to be told")  # fmt: skip
    around = ("", "its pair has failed") if name in ("start", "link", "unlink") else ("",)
    for report, flag, instance, other, workflow in product(reports, flags, instances, around, ("deploy", "run")):
        yield Case(name, ending, report, flag, instance, other, workflow)
    for flag, instance, other in product(("if_repaired", "if_healed", "if_there"), INSTANCES, AROUND):
        yield Case(name, ending, flags=flag, instance=instance, around=other, workflow="heal")


def in_words(name: str) -> dict[str, dict[str, str]]:
    """By endings that make no difference: what comes of the usual case, and of those that come to something else."""
    found: dict[str, dict[str, str]] = {}
    endings: dict[str, list[str]] = {}
    for ending in Ending:
        results = {case.said: result_of(case) for case in cases_in_words(name, ending)}
        told = {said: result for said, result in results.items() if said == USUAL or result != results[USUAL]}
        key = write_yaml(told)
        endings.setdefault(key, []).append(str(ending))
        found[key] = told
    return {", ".join(endings[key]): told for key, told in found.items()}


def digest_of(name: str, ending: Ending) -> str:
    """A digest of what comes of all cases."""
    found = hashlib.sha256()
    for case in all_cases(name, ending):
        found.update(f"{case.ending}, {case.said}: {result_of(case)}\n".encode())
    return found.hexdigest()[:12]


@pytest.mark.parametrize("name", STEPS)
def test_every_end_changes_what_it_did(name: str) -> None:
    assert in_words(name) == read_yaml(WORDS.read_bytes())[name]


# The kinds differ by what their operations are, of which the words above show all.
@pytest.mark.parametrize("name", some(OWN, 3))
def test_all_circumstances_together(name: str) -> None:
    known = read_yaml(DIGESTS.read_bytes())
    assert {str(ending): digest_of(name, ending) for ending in Ending} == known[name]


def test_every_row_of_the_tables_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """By some end of some step, as it comes from the engine: no row is dead, and the last one fits what is left."""
    found: tuple[set[StepEndFacts], set[OperationEndFacts]] = set(), set()

    def what_ended(end: StepEndFacts) -> step_end.StepResult:
        found[0].add(end)
        return step_end.what_ended(end)

    def what_comes_of(end: OperationEndFacts) -> step_end.OperationDecision:
        found[1].add(end)
        return step_end.what_comes_of(end)

    monkeypatch.setattr(end_effects, "what_ended", what_ended)
    monkeypatch.setattr(end_effects, "what_comes_of", what_comes_of)
    for name, ending in product(STEPS, Ending):
        for case in cases_in_words(name, ending):
            result_of(case)
    together = [("start", Ending.SUCCEEDED), ("deploy", Ending.SUCCEEDED)]
    for name, ending in [*together, ("link", Ending.SUCCEEDED), ("link", Ending.FAILED)]:
        for case in all_cases(name, ending):
            result_of(case)
    _all_taken(step_end.ENDS, found[0])
    for operations in (step_end.EFFECTS, step_end.EVENTS, step_end.STATUSES, step_end.STATES, step_end.COUNTS):
        _all_taken(operations, found[1])


def _all_taken(table: tuple[step_end.Row[step_end.Facts, Any], ...], ends: set[step_end.Facts]) -> None:
    taken = [step_end.first_row(table, end) for end in ends]
    assert [row.why for row in table if row not in taken] == []


def main() -> None:
    """Write what is so now."""
    WORDS.write_text(write_yaml({name: in_words(name) for name in STEPS}), encoding="utf-8")
    digests = {name: {str(ending): digest_of(name, ending) for ending in Ending} for name in OWN}
    DIGESTS.write_text(write_yaml(digests), encoding="utf-8")


if __name__ == "__main__":
    main()
