"""What is declared once of an option holds everywhere: a request and its words, its saved form and its record agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_origin

import click
import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ordito.app.requests import REQUESTS, GivenInputs, PartOptions, Request, ScaleRequest
from ordito.base.allowable import ALLOWABLE
from ordito.base.options import NO, Argument, Declared, Option, declared, from_record, recorded, with_paths, words
from ordito.base.portion import Portion
from ordito.cli.request_options import takes
from ordito.work.options import ChangeOptions, HookOptions, JobOptions
from tests.cli.program import Run

NAME = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
PORTIONS = st.builds(Portion, st.integers(1, 100), st.booleans())


def values(field: Declared) -> st.SearchStrategy[object]:
    """What a command line may give a field."""
    by = field.by
    if isinstance(by, Option) and by.choices:
        return st.sampled_from([*by.choices, *([NO] if by.opposite else [])])
    if field.kind is bool:
        return st.booleans()
    if field.kind is Portion:
        return PORTIONS
    if field.name == "allow":
        return st.lists(st.sampled_from([*ALLOWABLE]), max_size=2, unique=True).map(tuple)
    if get_origin(field.kind) is tuple:
        least = 1 if isinstance(by, Argument) and by.is_required else 0
        return st.lists(NAME, min_size=least, max_size=3, unique=True).map(tuple)
    if get_origin(field.kind) is Mapping or field.name == "counts":
        values = st.integers(0, 99) if int in get_args(field.kind) else NAME
        return st.dictionaries(NAME, values, max_size=2)
    if field.kind is int or int in get_args(field.kind):
        return st.integers((by.least if by is not None and by.least is not None else -9), 99)
    return NAME


def filled(kind: type[msgspec.Struct], without: frozenset[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Values for the fields that a command line gives."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for field in declared(kind):
        if field.kind is GivenInputs or field.name in without:
            continue
        if field.group is not None:
            fields[field.name] = made(field.group, without)
        elif field.by is not None:
            fields[field.name] = values(field)
    needed = {field.name for field in declared(kind) if field.default is msgspec.NODEFAULT}
    return st.fixed_dictionaries(
        {name: one for name, one in fields.items() if name in needed},
        optional={name: one for name, one in fields.items() if name not in needed},
    )


def made(kind: type[msgspec.Struct], without: frozenset[str] = frozenset()) -> st.SearchStrategy[Any]:
    """Structs of options that make sense."""

    def build(given: dict[str, Any]) -> msgspec.Struct | None:
        try:
            return kind(**given)
        except ValueError:
            return None

    return filled(kind, without).map(build).filter(lambda found: found is not None)


def parsed(kind: type[Request], line: tuple[str, ...]) -> Request:
    """The request that a command line makes."""
    found: list[Request] = []

    @takes(kind)
    def command(_: object, request: Request) -> None:
        found.append(request)

    def run(**given: Any) -> None:
        command(None, **given, **({"inputs": GivenInputs()} if "inputs" in kind.__struct_fields__ else {}))

    params = list(reversed(command.__click_params__))  # type: ignore[attr-defined]
    click.Command("verb", params=params, callback=run).main([*line], standalone_mode=False)
    return found[0]


@pytest.mark.parametrize("workflow", REQUESTS)
@given(data=st.data())
def test_the_words_of_a_request_make_the_same_request(workflow: str, data: st.DataObject) -> None:
    kind = REQUESTS[workflow]
    wanted = data.draw(made(kind, kind.without))
    try:
        found = parsed(kind, words(wanted))
    except click.UsageError:
        # Together its values make no sense: no command line asks for that.
        assume(False)
    if isinstance(wanted, ScaleRequest):
        named = (wanted.node_id,) if wanted.node_id else ()
        wanted = msgspec.structs.replace(wanted, names=(*wanted.names, *named), node_id="")
    assert found == wanted
    assert parsed(kind, words(found)) == found


@pytest.mark.parametrize("workflow", REQUESTS)
@given(data=st.data())
def test_a_request_is_the_same_after_it_was_saved(workflow: str, data: st.DataObject) -> None:
    kind = REQUESTS[workflow]
    wanted = data.draw(made(kind, kind.without))
    saved = msgspec.json.decode(msgspec.json.encode(with_paths(wanted, lambda path: f"../{path}")))
    restored = with_paths(msgspec.convert(saved, kind), lambda path: path.removeprefix("../"))
    assert restored == wanted


@pytest.mark.parametrize("kind", [ChangeOptions, HookOptions, PartOptions])
@given(data=st.data())
def test_what_is_recorded_with_a_job_is_read_as_it_was_said(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    said = data.draw(made(kind))
    assert from_record(kind, msgspec.json.decode(msgspec.json.encode(recorded(said)))) == said


@pytest.mark.parametrize("wrong", [None, 7, {"a": 1}, ["x", 1], "1000%", True])
def test_what_a_record_holds_of_another_kind_is_taken_for_not_said(wrong: object) -> None:
    record = {"prune": {}, "replace": wrong, "max_unavailable": wrong, "skip_heal": "yes", "check": wrong}
    found = from_record(ChangeOptions, record)
    assert (found.prune, found.replaced, found.max_unavailable.amount, found.skip_heal) == ("", (), 0, False) or (
        wrong == 7 and found.max_unavailable == Portion(7)
    )


def test_a_record_names_options_as_it_always_did() -> None:
    changes = ChangeOptions("last", ("a",), Portion(25, is_percentage=True), may_lose=("b",), checks=True)
    hooks = HookOptions(("cat",), "steps.yaml", "all")
    part = PartOptions(("n",), ("i",), skip_new=True)
    assert recorded(changes) | recorded(hooks) | recorded(part) == {
        "prune": "last",
        "replace": ["a"],
        "max_unavailable": "25%",
        "check": True,
        "allow_data_loss": ["b"],
        "hooks": "all",
        "lifecycle": "steps.yaml",
        "catalog": ["cat"],
        "node": ["n"],
        "instance": ["i"],
        "skip_new": True,
    }
    assert recorded(ChangeOptions(skip_heal=True, prune=NO)) == {"prune": "no", "skip_heal": True}


def test_how_a_job_runs_has_an_option_for_all_but_what_the_workflow_was_told() -> None:
    assert [field.name for field in declared(JobOptions) if field.by is None] == ["told"]


NO_WAY_BACK = {
    "rollback": (),
    "undeploy": (),
    "heal": ("app_1",),
    "stop": ("--all",),
    "start": ("--all",),
    "restart": ("--all",),
    "check": (),
    "discover": (),
    "run": ("Standard.start",),
    "workflow": ("run", "backup"),
}


@pytest.mark.parametrize("workflow", REQUESTS)
def test_what_cannot_be_taken_back_says_so(workflow: str, run: Run) -> None:
    assert bool(REQUESTS[workflow].stays) == (workflow in NO_WAY_BACK)
    if workflow in NO_WAY_BACK:
        told = run(workflow, *NO_WAY_BACK[workflow], "--on-failure", "rollback")
        assert told.code == 64
        assert REQUESTS[workflow].stays in " ".join(told.err.split())
