"""The condition of an ensemble: whether its files can be read and written, which command works on it, and what is left
to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from ordito.app.doctor.finding import BROKEN, ENSEMBLE, LOOK, MISSING, OK, DoctorFinding
from ordito.app.errors import Refused
from ordito.app.inputs.inventory import HostInventory
from ordito.app.inputs.used_spec import use_spec
from ordito.app.place import Place
from ordito.app.plugins import plugins_of
from ordito.app.services.files import artifacts
from ordito.app.services.in_use import service_in_use
from ordito.base.diagnostics import InvalidDocument, Severity
from ordito.base.git_process import GitFailed
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.keeper import AUTO, JobFiles, home_of, obstacles
from ordito.ensemble.git.tree import existing
from ordito.ensemble.lock import holder
from ordito.ensemble.store import Ensemble, read_ensemble
from ordito.ensemble.vault import MARK, Vault
from ordito.model.service import Service
from ordito.providers.registry import CLOUD, CONTAINER, POOL
from ordito.source.nodes import Scalar
from ordito.work.records import JobSources

MIB = 1 << 20
FULL, NEARLY_FULL = 32 * MIB, 512 * MIB
"""Free bytes below which a job is likely to fail, and below which a warning is shown."""
HERE = "this ensemble"
CHANGED = "the machine part of ensemble.yaml has changed since the last command on this machine"
CURE = "that is normal after a pull or a merge; else `ordito jobs replay` compares it with the records of jobs"
NO_HOSTS = "none are named: every Compute is this machine"
T = TypeVar("T")


class Look(msgspec.Struct, frozen=True):
    """The findings about an ensemble, and what it uses of this machine, each with the reason."""

    findings: tuple[DoctorFinding, ...]
    used: Mapping[str, str] = {}


def look_at(place: Place, environment: str | None, hosts: str | None) -> Look:
    """Check the ensemble in a directory; if there is none, only the directory."""
    layout = place.layout
    if not layout.exists:
        return Look((DoctorFinding(ENSEMBLE, "ensemble", OK, f"none in {place.shown}"), *_directory(layout.root)))
    try:
        with read_ensemble(place.shown) as ensemble:
            return _look_inside(place, ensemble, environment, hosts)
    except EnsembleError as error:
        broken = DoctorFinding(ENSEMBLE, "ensemble", BROKEN, str(error), cure=error.hint, needed=HERE)
        return Look((broken, *_directory(layout.root)))


def _look_inside(place: Place, ensemble: Ensemble, environment: str | None, hosts: str | None) -> Look:
    status = ensemble.status
    found = f"revision {status.revision}, {len(ensemble.snapshot.instances)} instances on record"
    findings = [DoctorFinding(ENSEMBLE, "ensemble", OK, found), *_work(place, ensemble)]
    used: list[tuple[str, str]] = []

    def service() -> Service:
        return service_in_use(place, ensemble).service

    def inventory() -> HostInventory:
        read = use_spec(place, ensemble.snapshot, status, environment, hosts).inventory
        # What is wrong with it is told once its providers are made.
        plugins_of(place.layout, read)
        return read

    findings += _files(place, ensemble)
    if status.service or ensemble.unfinished is not None:
        deployed, finding = _tried("service", service)
        findings.append(finding)
        if deployed is not None:
            findings[-1] = msgspec.structs.replace(finding, found=deployed.name)
            used += of_service(deployed)
    read, finding = _tried("hosts", inventory)
    findings.append(finding)
    if read is not None:
        findings[-1] = msgspec.structs.replace(finding, found=read.file.shown or NO_HOSTS)
        used += of_inventory(read)
    findings += [*_key(place), *_git(place, used), *_directory(place.layout.root)]
    return Look(tuple(findings), joined(used))


def _tried(name: str, read: Callable[[], T]) -> tuple[T | None, DoctorFinding]:
    """Read something; returns what was read, or the finding that it cannot be read."""
    try:
        return read(), DoctorFinding(ENSEMBLE, name, OK)
    except InvalidDocument as error:
        first = next(found for found in error.diagnostics if found.severity is Severity.ERROR)
        return None, DoctorFinding(ENSEMBLE, name, BROKEN, str(error), cure=first.hint, needed=HERE)
    except (EnsembleError, Refused) as error:
        return None, DoctorFinding(ENSEMBLE, name, BROKEN, str(error), cure=error.hint, needed=HERE)


def _work(place: Place, ensemble: Ensemble) -> Iterator[DoctorFinding]:
    """Who holds the lock, and whether a job waits to be resumed."""
    owner = holder(place.layout)
    if owner is not None:
        yield DoctorFinding(
            ENSEMBLE, "lock", LOOK, f"held by {owner}", cure="wait, or see what it does: `ordito status`"
        )
    else:
        yield DoctorFinding(ENSEMBLE, "lock", OK, "no command works on it")
    if ensemble.unfinished is not None and owner is None:
        header = ensemble.unfinished.header
        found = f"{header.id} ({header.workflow}) was interrupted"
        found += " while it was rolled back" if ensemble.unfinished.is_going_back else ""
        yield DoctorFinding(ENSEMBLE, "job", LOOK, found, cure="`ordito jobs resume`")


def _files(place: Place, ensemble: Ensemble) -> Iterator[DoctorFinding]:
    """Whether the files are those that the journal knows. While a job waits, only the journal says what exists, and the
    job ends by writing the files. A running job may be writing them just now."""
    if holder(place.layout) is not None:
        return
    changed, finding = _tried("file", ensemble.have_files_changed)
    if finding.state != OK:
        yield finding
    elif changed:
        waits = ensemble.unfinished is not None
        cure = "`ordito jobs resume` writes it again from the journal" if waits else CURE
        yield DoctorFinding(ENSEMBLE, "file", LOOK, CHANGED, cure=cure)


def _key(place: Place) -> Iterator[DoctorFinding]:
    """The key for sealed values, if there are any."""
    files = [file for file in (place.layout.secrets, place.layout.manifest) if file.is_file()]
    if not any(file == place.layout.secrets or MARK in file.read_bytes() for file in files):
        return
    path = Vault(place.layout).path
    if path.is_file():
        yield DoctorFinding(ENSEMBLE, "key", OK, str(path))
    else:
        cure = "copy it from where this ensemble was deployed, or name it with ORDITO_KEY_FILE"
        yield DoctorFinding(ENSEMBLE, "key", MISSING, f"there is no {path}", "sealed values", cure, HERE)


def _git(place: Place, used: list[tuple[str, str]]) -> Iterator[DoctorFinding]:
    """What prevents committing the files of a job, if the ensemble is kept in git."""
    try:
        home = home_of(place.layout, JobFiles("", JobSources()), AUTO)
        if home is None:
            return
        used.append(("git", "this ensemble is kept in git"))
        obstacle = next(obstacles(home), None)
    except GitFailed as failed:
        yield DoctorFinding(ENSEMBLE, "commits", BROKEN, failed.message, "records of jobs in git", "repair it for git")
        return
    if obstacle is None:
        yield DoctorFinding(ENSEMBLE, "commits", OK, str(home.tree.top))
    else:
        yield DoctorFinding(ENSEMBLE, "commits", LOOK, obstacle.reason, "records of jobs in git", obstacle.hint)


def _directory(root: Path) -> Iterator[DoctorFinding]:
    """Whether the disk has room, and this user may write."""
    here = existing(root)
    free = shutil.disk_usage(here).free
    state = BROKEN if free < FULL else LOOK if free < NEARLY_FULL else OK
    cure = "" if state == OK else f"make room on the disk of {here}"
    yield DoctorFinding(ENSEMBLE, "disk", state, f"{free // MIB:,} MiB are free", cure=cure, needed=HERE)
    if os.access(here, os.W_OK | os.X_OK):
        yield DoctorFinding(ENSEMBLE, "directory", OK, "can be written to")
    else:
        cure = f"give this user the right to write to {here}, or name another directory with -e DIR"
        yield DoctorFinding(ENSEMBLE, "directory", BROKEN, "cannot be written to", cure=cure, needed=HERE)


# What of this machine an ensemble uses: by its service, and by its inventory.

BASH, PYTHON = "tosca.artifacts.Implementation.Bash", "tosca.artifacts.Implementation.Python"
ANSIBLE = "ordito.artifacts.Implementation.Ansible"
BY_ARTIFACT = {
    BASH: ("bash", "operations of the service"),
    PYTHON: ("python3", "operations of the service"),
    ANSIBLE: ("ansible-playbook", "playbooks of the service"),
}
BY_SECTION = {POOL: ("asyncssh", "hosts of {file}"), CLOUD: ("apache-libcloud", "the cloud of {file}")}
BY_BLOCK = {
    "ordito.dev/lifecycle/dns@v1#Register": "nsupdate",
    "ordito.dev/lifecycle/dns@v1#Deregister": "nsupdate",
}
"""Blocks that always need a program. Those of databases need one only if the database is PostgreSQL, which depends on
values of inputs."""
APPLICATION = "tosca.nodes.Container.Application"
ENGINE = "engine"
"""The name for the first container engine that answers."""
Uses = Iterator[tuple[str, str]]


def of_service(service: Service) -> Uses:
    """The programs that a service uses, each with the reason."""
    kinds = {kind for artifact in artifacts(service) for kind in artifact.kinds}
    yield from (used for kind, used in BY_ARTIFACT.items() if kind in kinds)
    if any(APPLICATION in node.kinds for node in service.nodes.values()):
        yield ENGINE, "containers of the service"
    for step in service.hooks.values():
        if step.fqn in BY_BLOCK:
            yield BY_BLOCK[step.fqn], f"lifecycle step {step.name or step.id}"


def of_inventory(inventory: HostInventory) -> Uses:
    """The programs and packages that an inventory uses, each with the reason."""
    file = inventory.file.shown
    for provider, (name, why) in BY_SECTION.items():
        if provider in inventory.sections:
            yield name, why.format(file=file)
    if CONTAINER in inventory.sections:
        engine = inventory.sections[CONTAINER].entries.get("engine")
        yield engine.text if isinstance(engine, Scalar) else ENGINE, f"containers of {file}"


def joined(uses: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """By program or package, the first reason for using it."""
    found: dict[str, str] = {}
    for name, why in uses:
        found.setdefault(name, why)
    return found
