"""Saved plans: a plan as a file with everything that it depends on, so that exactly this plan is carried out or none.

The file is one JSON object that begins with its format and a digest of the rest. It contains no secrets: sensitive
values of the command are sealed, those from other places are read again. To carry it out, the plan is made again and
compared, so that nothing runs that nobody has seen.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito import __version__
from ordito.app.errors import Refused
from ordito.app.place import Place, relative_to
from ordito.app.plan_basis import PlanBasis
from ordito.app.proposal import Grounds, PlanningContext, Proposal, proposer
from ordito.app.proposals import run, workflow
from ordito.app.proposals.description import service_to_keep
from ordito.app.requests import (
    DeployRequest,
    DescriptionRequest,
    GivenInputs,
    Request,
    RunRequest,
    TemplateWorkflowRequest,
    request_type,
)
from ordito.base.options import with_paths
from ordito.base.sensitive import replaced, restored
from ordito.base.text import listed
from ordito.ensemble.files import digest_of
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import read_manifest, state_digest
from ordito.ensemble.vault import Vault
from ordito.source.new_files import open_regular, read_regular
from ordito.work.former_plans import plan_of_former, step_of_former
from ordito.work.hooks import DoneHook
from ordito.work.plan import Change, ChangeCause, Plan

FORMAT = "ordito.saved-plan/"
VERSION = 2

OLDEST = 1
"""The oldest version that can be read."""

BEGINNING = f'{{"format":"{FORMAT}'.encode()
"""The beginning of every saved plan, of any version."""

_HEAD = re.compile(rb'\{"format":"ordito\.saved-plan/([0-9]{1,6})",\n"digest":"([0-9a-f]{64})",\n')

MOST_NAMED = 12


class SavedPlan(msgspec.Struct, frozen=True):
    """A plan with what it depends on; ``made_with`` is the version of Ordito, ``asked`` the request of the command, as
    plain data in which sensitive values are sealed."""

    made_with: str
    workflow: str
    asked: dict[str, object]
    basis: PlanBasis
    plan: Plan


class SavedPlanRequest(Request, frozen=True):
    """The request to carry out exactly a saved plan; ``path`` is its file."""

    planned_by = "saved_plan"
    # Whether a directory that is no ensemble is right is seen when the plan is compared with what there is.
    makes_ensemble = True

    path: str
    saved: SavedPlan

    @property
    def workflow(self) -> str:
        """The workflow of the plan."""
        return self.saved.workflow

    @property
    def environment(self) -> str:
        """The environment for which it was made, "" for none."""
        return self.saved.basis.environment

    def hosts(self, place: Place) -> str | None:
        """The inventory that its command named, relative to the current directory; None if it named none."""
        return place.path(self.saved.basis.hosts) if self.saved.basis.hosts else None


def propose(request: SavedPlanRequest, known: PlanningContext) -> Proposal | None:
    """The saved proposal. Raises ``Refused`` if anything that it depends on has changed, and what planning again
    raises."""
    basis, layout = request.saved.basis, known.place.layout
    now = state_digest(layout), user_digest(known)
    if now != (basis.state, basis.user):
        raise _stale(request, _of_ensemble(basis, known, *now))

    def examine(grounds: Grounds) -> None:
        if different := list(differences(basis, basis_of(known, grounds))):
            raise _stale(request, different)

    wanted = restored_request(request.saved, known)
    if isinstance(wanted, DescriptionRequest) and wanted.service and not Path(wanted.service).exists():
        raise _stale(request, [f"there is no {wanted.service}, seen from {known.place.shown}, which it would deploy"])
    proposal = proposer(wanted)(wanted, msgspec.structs.replace(known, examine=examine))
    if proposal is None:
        raise _stale(request, ["nothing is deployed any more"])
    if comparable(proposal.plan) != comparable(_with_given(request.saved.plan, Sealing(layout).opened)):
        raise _stale(request, [_other_steps(request.saved.made_with)])
    return proposal


def _stale(request: SavedPlanRequest, different: Sequence[str]) -> Refused:
    words = (request.workflow,) if request.workflow != "deploy" else ()
    return Refused(
        "stale-plan",
        f"{request.path} is a plan for another state: {listed(different, MOST_NAMED, between='; ')}",
        "nothing was done; plan again, check the new plan, and carry it out",
        next_words=("plan", *words, "--out", request.path),
        purpose="make the plan again, with the same arguments",
    )


# ------------------------------------------------------------------------------------------------------- the file


def is_saved_plan(path: str) -> bool:
    """Whether there is a file that begins like a saved plan."""
    try:
        with open_regular(path) as file:
            return file.read(len(BEGINNING)) == BEGINNING
    except (OSError, ValueError):
        return False


def read_saved_plan(path: str) -> SavedPlan:
    """The plan in a file. Raises ``Refused`` if it cannot be read, is damaged, or has a format of a newer version."""
    try:
        content = read_regular(path)
    except OSError as error:
        raise Refused("unreadable-plan", f"cannot read {path}: {error.strerror or error}") from error
    head = _HEAD.match(content)
    again = "make it again with `ordito plan --out FILE`"
    if head is not None and not OLDEST <= int(head[1]) <= VERSION:
        raise Refused(
            "unknown-plan-format",
            f"{path} has format {FORMAT}{int(head[1])}, and this version of ordito knows {FORMAT}{VERSION}",
            f"use the version that has made it, or {again}",
        )
    if head is None or hashlib.sha256(content[head.end() :]).hexdigest() != head[2].decode():
        raise Refused("damaged-plan", f"{path} is a saved plan that was cut off or changed after it was written", again)
    try:
        return _decoded(b"{" + content[head.end() :], int(head[1]))
    except msgspec.DecodeError as error:
        raise Refused("damaged-plan", f"{path} is not a plan that this program has written: {error}", again) from error


def _decoded(body: bytes, version: int) -> SavedPlan:
    if version == VERSION:
        return msgspec.json.decode(body, type=SavedPlan)
    found = msgspec.json.decode(body, type=dict[str, object])
    plan = msgspec.convert(found.get("plan"), dict[str, object])
    steps = msgspec.convert(plan.get("steps"), tuple[dict[str, object], ...])
    found["plan"] = {**plan_of_former(plan), "steps": [step_of_former(step) for step in steps]}
    return msgspec.convert(found, SavedPlan)


def encoded(saved: SavedPlan) -> bytes:
    """The bytes of the file. Raises ``Refused`` for names that it cannot contain."""
    try:
        body = msgspec.json.encode(saved)[1:] + b"\n"
    except UnicodeEncodeError as error:
        raise Refused("cannot-save", "a name in this plan is not UTF-8, and cannot be written") from error
    digest = hashlib.sha256(body).hexdigest()
    return f'{{"format":"{FORMAT}{VERSION}",\n"digest":"{digest}",\n'.encode() + body


# ------------------------------------------------------------------------------------------------- what it depends on


def saved_plan(known: PlanningContext, request: Request, proposal: Proposal) -> SavedPlan:
    """A proposal as a saved plan. Raises ``Refused`` for a workflow whose plans cannot be saved, and
    ``EnsembleError``."""
    if request_type(request.workflow) is not type(request):
        raise Refused("cannot-save", f"a plan of {request.workflow} cannot be saved", "carry it out directly")
    sealing = Sealing(known.place.layout)
    kept = sealing.sealed(_to_keep(known, request, proposal))
    assert isinstance(kept, dict)
    basis = basis_of(known, proposal.grounds)
    sealing.keep()
    return SavedPlan(__version__, request.workflow, kept, basis, _with_given(proposal.plan, sealing.sealed))


def _to_keep(known: PlanningContext, request: Request, proposal: Proposal) -> Request:
    """The same request with the values of input files instead of their names, and with paths relative to the
    ensemble."""
    layout, replace = known.place.layout, msgspec.structs.replace
    match request:
        case DescriptionRequest():
            is_first = isinstance(request, DeployRequest)
            service = service_to_keep(request, known) if is_first else request.service
            inputs = GivenInputs(values=proposal.inputs.asked, forgotten=request.inputs.forgotten)
            request = replace(request, service=service, inputs=inputs)
        case RunRequest():
            request = replace(request, inputs=GivenInputs(values=run.given_of(request, proposal)))
        case TemplateWorkflowRequest():
            request = replace(request, inputs=GivenInputs(values=workflow.given_of(proposal)))
    return with_paths(request, lambda path: relative_to(layout, path))


def restored_request(saved: SavedPlan, known: PlanningContext) -> Request:
    """The request of the command, with paths relative to the current directory."""
    kind = request_type(saved.workflow)
    if kind is None:
        raise Refused("unknown-workflow", f'this version of ordito knows no workflow "{saved.workflow}"')
    sealing = Sealing(known.place.layout)
    try:
        request = msgspec.convert(sealing.opened(saved.asked), kind)
    except msgspec.ValidationError as error:
        raise Refused("damaged-plan", f"the saved plan is not of this version: {error}") from error
    return with_paths(request, known.place.path)


def basis_of(known: PlanningContext, grounds: Grounds) -> PlanBasis:
    """What a plan depends on."""
    sealing, layout = Sealing(known.place.layout), known.place.layout
    last, file = known.status.last_job, known.spec.inventory.file
    return PlanBasis(
        state=state_digest(layout),
        job=f"{last.id} ({last.workflow})" if last is not None else "",
        user=user_digest(known),
        environment=known.spec.environment.name,
        service=grounds.measured,
        contents=grounds.contents,
        inputs={name: sealing.digest(value) for name, value in grounds.inputs.items()},
        choices=sealing.digest(msgspec.to_builtins(grounds.choices)),
        hosts=file.seen if file.given else "",
        inventory=digest_of(file.path) if file.path is not None else "",
    )


def comparable(plan: Plan) -> Plan:
    """A plan without places in files, which depend on the current directory, and without causes, which an earlier
    version did not have and which the texts also tell."""
    calls = tuple(msgspec.structs.replace(call, declared="") for call in plan.calls)
    changes = tuple(Change(change.symbol, change.instance, change.reason) for change in plan.changes)
    kept = tuple(msgspec.structs.replace(change, cause=ChangeCause.NONE) for change in plan.summary.kept)
    summary = msgspec.structs.replace(plan.summary, kept=kept, warnings=())
    hooks = tuple(msgspec.structs.replace(hook, declared="") for hook in plan.hooks)
    return msgspec.structs.replace(plan, calls=calls, changes=changes, summary=summary, hooks=hooks)


def _with_given(plan: Plan, change: Callable[[object], object]) -> Plan:
    """A plan in which the inputs of single calls and of workflows, and the configs of lifecycle steps to be undone, are
    sealed or opened."""
    if any(scope.inputs for scope in plan.scopes):
        scopes = tuple(msgspec.structs.replace(s, inputs=change(dict(s.inputs))) for s in plan.scopes)
        plan = msgspec.structs.replace(plan, scopes=scopes)
    if plan.undone:
        plan = msgspec.structs.replace(plan, undone=tuple(_undone(done, change) for done in plan.undone))
    if not any(call.given for call in plan.calls):
        return plan
    calls = tuple(msgspec.structs.replace(c, given=change(dict(c.given))) if c.given else c for c in plan.calls)
    return msgspec.structs.replace(plan, calls=calls)


def _undone(done: DoneHook, change: Callable[[object], object]) -> DoneHook:
    """A lifecycle step to be undone, with its config sealed or opened."""
    values = {name: change(dict(getattr(done.result, name))) for name in done.result.__struct_fields__}
    return msgspec.structs.replace(done, result=msgspec.structs.replace(done.result, **values))


def user_digest(known: PlanningContext) -> str:
    found = read_manifest(known.place.layout)
    if found is None or not found.user:
        return ""
    # What stands in other files has been read already: there is nothing new to be said where it cannot be read now.
    merged = sorted((path, digest_of(Path(path))) for path in known.spec.user.files if Path(path).is_file())
    return hashlib.sha256(found.user + msgspec.json.encode([digest for _, digest in merged])).hexdigest()


def _other_steps(made_with: str) -> str:
    if made_with != __version__:
        return f"it was made with ordito {made_with}, and planning with {__version__} gives other steps"
    return "planning again gives other steps"


def _of_ensemble(basis: PlanBasis, known: PlanningContext, state: str, user: str) -> list[str]:
    """What has changed in an ensemble."""
    different: list[str] = []
    last = known.status.last_job
    if state != basis.state:
        ran = f"{last.id} ({last.workflow})" if last is not None else ""
        if ran and ran != basis.job:
            different.append(f"job {ran} has run since")
        elif not state:
            different.append("it was made for an ensemble, and there is none here")
        else:
            different.append(f"the status in {known.place.manifest} has changed")
    if user != basis.user and (basis.user or not different):
        merged = ", or what is merged into it," if known.spec.user.files else ""
        different.append(f"your part of {known.place.manifest}{merged} was changed")
    return different


def differences(before: PlanBasis, now: PlanBasis) -> Iterator[str]:
    """What has changed besides the ensemble, for people."""
    if before.service != now.service:
        yield from _files(before.contents, now.contents)
    if before.environment != now.environment:
        yield f'it was made in environment "{before.environment}", but this is "{now.environment}"'
    for name in dict.fromkeys((*before.inputs, *now.inputs)):
        if before.inputs.get(name) != now.inputs.get(name):
            yield f'input "{name}" has another value'
    if before.choices != now.choices:
        yield "other nodes or topologies are chosen"
    if before.inventory != now.inventory:
        yield "the inventory of hosts was changed, or is another one"


def _files(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    said = False
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            said = True
            yield f"{Path(name)} {'is new' if name not in before else 'is gone' if name not in now else 'was changed'}"
    if not said:
        yield "files of the service have other permissions or other paths"


# What a saved plan holds of values, and by what they are compared: sensitive ones sealed with the ensemble's key.


class Sealing:
    """Seals the sensitive values of one ensemble, and makes digests of values."""

    def __init__(self, layout: Layout) -> None:
        self._vault = Vault(layout)

    def sealed(self, data: object) -> object:
        """A ``msgspec.Struct`` as plain data in which sensitive values are sealed. Raises ``EnsembleError``."""
        return msgspec.to_builtins(data, enc_hook=self._vault.sealed)

    def opened(self, data: object) -> object:
        """Sealed data, read from plain data; values are unsealed when they are needed."""
        return restored(data, self._vault.open)

    def digest(self, value: object) -> str:
        """A digest that shows whether a value has changed; sensitive parts are hashed with the ensemble's key, so that
        nobody else can try out values."""
        plain = replaced(value, lambda found: ["sensitive", found.digest(self._vault.digest_key())])
        text = json.dumps(plain, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def keep(self) -> None:
        """Store the key with which digests were made, so that they can be compared. Raises ``EnsembleError``."""
        self._vault.keep()
