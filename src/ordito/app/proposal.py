"""From a service, what exists and the inputs to a plan: what a command would do. Changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.carried_out import check_carried_out
from ordito.app.circumstances import check_choices, circumstances_of
from ordito.app.collector import paused_collector
from ordito.app.errors import Refused
from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.app.inputs import bind_given, given_values
from ordito.app.pinned_service import read_pinned
from ordito.app.place import Place
from ordito.app.plugins import plugins_of
from ordito.app.services import ReadService, artifact_files, check_files, definition_files, network, read_service
from ordito.app.user_part import UserPart, new_user_part, read_user_part
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import measure, pin
from ordito.ensemble.status import Status
from ordito.instances.records import Snapshot
from ordito.instances.static_values import check_static_values
from ordito.model.service import Service
from ordito.planning.options import PlanOptions
from ordito.planning.workflows import plan
from ordito.work.plan import Plan
from ordito.work.records import GivenValue

NOTHING_CHOSEN = GivenChoices()
DEPLOY = "deploy"
UNDEPLOY = "undeploy"


class PinnedService(msgspec.Struct, frozen=True):
    """A service as it was deployed: the digest of its pin, its entry definitions file relative to the pin's folder, and
    the absolute path of its root."""

    digest: str
    main: str
    root: str


SERVICE_FILE = "service.yaml"
"""The service that is meant where none is named: the one in the ensemble's own directory."""


class Proposal(msgspec.Struct, frozen=True):
    """A plan with all that is needed to show it and to carry it out.

    ``measured`` is the digest of the files that the plan was made for; ``pinned`` is the service's pin, None where it
    is still to be made. ``inputs`` are all topology inputs, evaluated; ``given`` those that are to be remembered.
    ``changed_inputs`` are the names of those whose values are not those of the last deployment. ``user_part`` is set
    where the ensemble has none yet: the user's part of its file. ``diagnostics`` are warnings and notes.
    """

    workflow: str
    read: ReadService
    plan: Plan
    snapshot: Snapshot
    inputs: dict[str, object]
    measured: str
    pinned: PinnedService | None = None
    given: dict[str, GivenValue] = {}
    changed_inputs: tuple[str, ...] = ()
    user_part: bytes | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def service(self) -> Service:
        """The service that the plan is about."""
        return self.read.service

    @property
    def orphans(self) -> tuple[str, ...]:
        """The instances that exist and whose nodes are not in the service, by id."""
        nodes = self.service.nodes
        return tuple(i.id for i in self.snapshot.instances.values() if i.exists and i.node not in nodes)


def propose_deploy(  # noqa: PLR0913  (one for each thing that a command may say)
    place: Place,
    service: str,
    inputs: GivenInputs,
    snapshot: Snapshot,
    status: Status,
    *,
    allow_large: bool = False,
    fetch: bool = False,
    choices: GivenChoices = NOTHING_CHOSEN,
) -> Proposal:
    """What deploying would do; without ``service`` that of the ensemble is deployed. ``allow_large`` permits very many
    link operations of one requirement, ``fetch`` that what the service names by URLs is fetched. ``choices`` are made
    where the service leaves a choice; what was chosen before holds until something else is.

    Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``.
    """
    diagnostics = Diagnostics()
    with paused_collector():
        user = read_user_part(place.layout, place.manifest, diagnostics)
        if diagnostics.has_errors:
            raise InvalidDocument(diagnostics.sorted())
        path = _service_path(place, service, user)
        values = given_values(user.inputs, status.given, inputs)
        circumstances = circumstances_of(choices, values, status.choices, diagnostics, final=True)
        read = read_service(path, diagnostics, network(fetch), circumstances)
        check_choices(choices, read.service, diagnostics)
        check_files(read, diagnostics, required=True)
        check_carried_out(read.service, diagnostics)
        bound = bind_given(read.service, user.inputs, status.given, inputs, diagnostics)
        if not diagnostics.has_errors:
            check_static_values(read.service, bound.inputs, diagnostics)
        if diagnostics.has_errors:
            raise InvalidDocument(diagnostics.sorted())
        made, measured = _plan(place.layout, DEPLOY, read, snapshot, bound.inputs, allow_large=allow_large)
    is_new = not user.exists
    return Proposal(
        workflow=DEPLOY,
        read=read,
        plan=made,
        snapshot=snapshot,
        inputs=bound.inputs,
        measured=measured,
        given={} if is_new else bound.given,
        changed_inputs=_changed(bound.inputs, status),
        user_part=new_user_part(place.layout, path, bound.asked) if is_new else None,
        diagnostics=tuple(diagnostics.sorted()),
    )


def propose_undeploy(place: Place, snapshot: Snapshot, status: Status) -> Proposal | None:
    """What removing everything would do: with the service as it was deployed last, whatever became of its files.

    None where nothing was ever deployed. Raises ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
    """
    if not status.service:
        return None
    with paused_collector():
        read = read_pinned(place, status.service, status.main, status.inputs, status.choices)
        made, measured = _plan(place.layout, UNDEPLOY, read, snapshot, status.inputs)
    return Proposal(
        workflow=UNDEPLOY,
        read=read,
        plan=made,
        snapshot=snapshot,
        inputs=status.inputs,
        measured=measured,
        pinned=PinnedService(status.service, status.main, read.package.root),
        given=status.given,
    )


def pinned(layout: Layout, proposal: Proposal) -> Proposal:
    """The proposal with a copy of its service kept; only for who holds the ensemble's lock.

    Raises ``Refused`` where its files are no longer those that the plan was made for, and ``EnsembleError``.
    """
    package = proposal.read.package
    kept = pin(layout, package.tree, package.opener, definition_files(proposal.read), artifact_files(proposal.read))
    if kept.digest != proposal.measured:
        raise Refused(
            "changed",
            "the files of the service were changed after the plan was made",
            "no operation was run; look at the plan for what they say now",
            next_words=("plan",),
            purpose="see what would be done",
        )
    main = os.path.relpath(Path(kept.root) / kept.main, layout.artifacts / kept.digest)
    return msgspec.structs.replace(proposal, pinned=PinnedService(kept.digest, main, kept.root))


def _service_path(place: Place, asked: str, user: UserPart) -> str:
    """The service to deploy. An ensemble deploys one service; another one needs the user's word in its file."""
    if user.exists and not user.service:
        raise Refused(
            "no-service",
            f"{place.manifest} names no service",
            'add it to what you wrote there, below "spec:", as in: service: service.yaml',
            next_words=("status",),
            purpose="see what exists",
        )
    if not user.service:
        beside = Path(place.shown) / SERVICE_FILE
        if asked or beside.is_file():
            # What `init` makes is deployed where it lies.
            return asked or str(beside)
        raise Refused(
            "no-service",
            f"no service is named, and {place.shown} is not an ensemble yet",
            "name the service",
            next_words=("deploy", "SERVICE"),
            purpose="SERVICE is a definitions file, or a folder that holds one",
        )
    written = user.service_path(place.layout, place.shown)
    if asked and not _is_same(asked, written):
        raise Refused(
            "other-service",
            f"this ensemble deploys {written}, not {asked}",
            f'to deploy the other one here, change "service" in {place.manifest}; '
            "to deploy both, give it a directory of its own with -e DIR",
        )
    return written


def _is_same(one: str, other: str) -> bool:
    """Whether two paths name the same service: the same file, or a file and the folder it is the service of."""
    first, second = Path(one).resolve(), Path(other).resolve()
    return second in {first, first.parent} or first == second.parent


def _changed(inputs: Mapping[str, object], status: Status) -> tuple[str, ...]:
    """The inputs whose values are not those that were deployed, by name; none where nothing was deployed."""
    if not status.service:
        return ()
    before = status.inputs
    return tuple(name for name, value in inputs.items() if name not in before or before[name] != value)


def _plan(
    layout: Layout,
    workflow: str,
    read: ReadService,
    snapshot: Snapshot,
    inputs: Mapping[str, object],
    *,
    allow_large: bool = False,
) -> tuple[Plan, str]:
    """The plan, and the digest of the files that it was made for."""
    package, service, plugins = read.package, read.service, plugins_of(layout)
    measured = measure(layout, package.tree, package.opener, definition_files(read), artifact_files(read))
    options = PlanOptions(
        digests=measured.digests, accepts=plugins.accepts, provides=plugins.provides, allow_large=allow_large
    )
    return plan(workflow, service, snapshot, inputs, options), measured.digest
