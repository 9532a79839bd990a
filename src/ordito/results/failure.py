"""Why a command has done nothing, or a job stopped: the answer in place of a result, the same at every door."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ordito.app.errors import JobUnfinished, NobodyToAsk, Refused
from ordito.base.diagnostics import Diagnostic, InvalidDocument, Severity
from ordito.base.text import listed
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.owner import Locked
from ordito.planning.refused import PlanRefused
from ordito.results.findings import FindingData, total
from ordito.results.pages import has_page

MOST_NAMED = 12

NEEDS_UNDEPLOY = frozenset({"removed-node"})
"""Errors of a plan that come from what runs, so that changing the documents is not the only solution."""

INTERRUPTING = frozenset({"ensemble", "system"})
"""The codes of errors from outside, which may have interrupted a job that can then be resumed."""


class NextStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that helps, and what it is for."""

    purpose: str
    words: tuple[str, ...] = ()
    """A command about the same ensemble, without the program's name; empty for the same command again."""

    more: tuple[str, ...] = ()
    """What is added to the same command."""

    meant: Mapping[str, str] = {}
    """The unknown inputs of the same command, each with the nearest name that exists."""

    method: str = ""
    """The method of the request that does the same at a server, "" where none is known."""

    path: str = ""
    """The path of that request."""


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why nothing was done."""

    code: str
    """The reason, which `ordito explain` explains."""

    message: str
    hint: str = ""
    """What to do instead, "" where the message says it."""

    next: tuple[NextStep, ...] = ()


class Trouble(msgspec.Struct, frozen=True):
    """Why there is no result, with findings about documents."""

    failure: Failure
    diagnostics: tuple[FindingData, ...] = ()


def failure_of(error: Exception) -> Failure:
    """Why nothing was done, from one of ``EXPECTED``."""
    kind = next(kind for kind in type(error).__mro__ if kind in _FAILURES)
    return _FAILURES[kind](error)


_ABSOLUTE = re.compile(r"(?<![\w./:@-])/(?:[^\s:;,\"'()]*/)?(?=[^\s:;,\"'()])")
"""The folders of an absolute path, without the name at its end."""


def seen_from(failure: Failure, *folders: str) -> Failure:
    """The same for somebody who is not on this machine: what lies in one of the folders is named as seen from there,
    and other files by their names alone."""
    message, hint = (_without_places(text, folders) for text in (failure.message, failure.hint))
    return msgspec.structs.replace(failure, message=message, hint=hint)


def _without_places(text: str, folders: Sequence[str]) -> str:
    for folder in folders:
        for place in {os.path.abspath(folder), os.path.realpath(folder)} - {"/"}:  # noqa: PTH100  (as it was named)
            text = text.replace(f"{place}/", "").replace(place, Path(place).name)
    return _ABSOLUTE.sub("", text)


def _invalid(error: InvalidDocument) -> Failure:
    found = error.diagnostics
    return Failure("invalid", _counted(found), next=_ways(found, _again(found)))


def _plan_refused(error: PlanRefused) -> Failure:
    found, ways = error.diagnostics, []
    if error.more_words:
        ways.append(NextStep(error.purpose, more=error.more_words))
    if error.is_of_deployed:
        ways.append(NextStep("once the template permits it: upgrade to that, then scale again", ("upgrade",)))
    return Failure("plan-refused", _counted(found), next=_ways(found, ways or _again(found)))


def _counted(found: Sequence[Diagnostic]) -> str:
    return f"nothing was done: {total(found)}"


def _ways(found: Sequence[Diagnostic], ways: Sequence[NextStep]) -> tuple[NextStep, ...]:
    if any(one.code in NEEDS_UNDEPLOY for one in found):
        purpose = "remove what runs, with the files that were deployed; then deploy again"
        return (NextStep(purpose, ("undeploy",)),)
    first = next((one.code for one in found if one.severity is Severity.ERROR), "")
    explained = [NextStep(f"what {first} means", ("explain", first))] if has_page(first) else []
    return (*ways, *explained)


def _again(found: Sequence[Diagnostic]) -> tuple[NextStep, ...]:
    return (NextStep("once that is corrected; nothing was done", meant=_meant(found)),)


def _meant(found: Sequence[Diagnostic]) -> Mapping[str, str]:
    """The unknown inputs of the command, with the nearest names that exist."""
    unknown = [one for one in found if one.code == "unknown-input"]
    names = ((UNKNOWN.search(one.message), MEANT.match(one.hint)) for one in unknown)
    return {name[1]: meant[1] for name, meant in names if name is not None and meant is not None}


UNKNOWN, MEANT = re.compile('has no input "([^"]+)"$'), re.compile('did you mean "([^"]+)"')


def _nobody(error: NobodyToAsk) -> Failure:
    if not error.losing:
        return Failure("needs-answer", str(error), next=(NextStep("go ahead without being asked", more=("--yes",)),))
    lost = f"the data of {listed(error.losing, MOST_NAMED)}"
    way = NextStep(f"go ahead without being asked, and lose {lost}", more=("--yes",))
    return Failure("needs-answer", str(error), f"{lost} would be lost: back it up first", (way,))


def _locked(error: Locked) -> Failure:
    way = NextStep("see what exists and which job runs", ("status",))
    return Failure("locked", error.message, error.hint, (way,))


def _unfinished(error: JobUnfinished) -> Failure:
    resume = NextStep("continue it where it stopped", ("jobs", "resume"))
    return Failure("unfinished-job", str(error), next=(resume, NextStep("see what it has done so far", ("status",))))


def _refused(error: Refused) -> Failure:
    is_known = error.next_words or error.more_words
    ways = (NextStep(error.purpose, error.next_words, () if error.next_words else error.more_words),)
    return Failure(error.code, error.message, error.hint, ways if is_known else ())


def _ensemble(error: EnsembleError) -> Failure:
    return Failure("ensemble", error.message, error.hint, (NextStep("once that is corrected"),))


def _system(error: OSError) -> Failure:
    """An error of the operating system that no other code expects: a name too long, no more handles."""
    where = f": {error.filename}" if error.filename else ""
    message = f"the operating system says: {error.strerror or error}{where}"
    return Failure("system", message, next=(NextStep("once that is corrected"),))


_FAILURES: Mapping[type[Exception], Callable[[Any], Failure]] = {
    InvalidDocument: _invalid,
    PlanRefused: _plan_refused,
    NobodyToAsk: _nobody,
    JobUnfinished: _unfinished,
    Refused: _refused,
    Locked: _locked,
    EnsembleError: _ensemble,
    OSError: _system,
}

EXPECTED = tuple(_FAILURES)
"""The errors that are no fault of this program."""
