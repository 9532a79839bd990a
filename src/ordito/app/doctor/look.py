"""Check what this machine can run, and the condition of an ensemble. Changes nothing, and does not use the network."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ordito.app.doctor.ensemble import ENGINE, look_at
from ordito.app.doctor.finding import BROKEN, LOOK, MACHINE, MISSING, OK, Diagnosis, DoctorFinding
from ordito.app.doctor.programs import find_identity, find_packages, find_programs
from ordito.app.hosts_check import is_open
from ordito.app.place import place_of
from ordito.ensemble.git.tree import existing
from ordito.providers.containers.engine import ENGINES


class DoctorRequest(msgspec.Struct, frozen=True):
    """The ensemble, the environment and the inventory (None if the command names none)."""

    directory: str
    environment: str | None = None
    hosts: str | None = None


def diagnose(request: DoctorRequest) -> Diagnosis:
    """Check everything; something that cannot be read is a finding as well."""
    place = place_of(request.directory)
    look = look_at(place, request.environment, request.hosts)
    identity = find_identity(existing(place.layout.root), look.used)
    machine = [*find_programs(look.used), *identity, *find_keys()]
    if why := look.used.get(ENGINE, ""):
        machine = list(_with_engine(machine, why))
    return Diagnosis((*find_packages(look.used), *machine, *look.findings))


def _with_engine(findings: Iterable[DoctorFinding], why: str) -> Iterator[DoctorFinding]:
    """The findings, with the container engine marked as needed that would be used: the first that answers, or the first
    of all if none does."""
    every = list(findings)
    engines = [finding for finding in every if finding.name in ENGINES]
    used = next((one for one in engines if one.state == OK), engines[0])
    for finding in every:
        yield msgspec.structs.replace(finding, needed=finding.needed or why) if finding is used else finding


# What this user has for SSH: keys and an agent. Nothing of a key is read but that it is there, and who else may read
# it.

SECONDS = 2.0
KEYS = "logging in to hosts without a password"


def find_keys() -> tuple[DoctorFinding, ...]:
    """The SSH keys at their usual places, and the agent that the environment names."""
    return _keys(Path.home() / ".ssh"), _agent(os.environ.get("SSH_AUTH_SOCK", ""))


def _keys(folder: Path) -> DoctorFinding:
    try:
        names = sorted(path.stem for path in folder.glob("id_*.pub") if path.with_suffix("").is_file())
    except OSError as error:
        return DoctorFinding(MACHINE, "SSH keys", BROKEN, error.strerror or "", KEYS, f"look at {folder}")
    if not names:
        return DoctorFinding(MACHINE, "SSH keys", MISSING, "", KEYS, "ssh-keygen -t ed25519, or name one in hosts.yaml")
    opened = [str(folder / name) for name in names if is_open(folder / name)]
    if opened:
        others = f"others may read {', '.join(opened)}, and ssh refuses such a key"
        return DoctorFinding(MACHINE, "SSH keys", LOOK, others, KEYS, f"chmod 600 {shlex.join(opened)}")
    return DoctorFinding(MACHINE, "SSH keys", OK, ", ".join(names), KEYS)


def _agent(place: str) -> DoctorFinding:
    purpose = "keys with a passphrase"
    if not place:
        return DoctorFinding(MACHINE, "SSH agent", MISSING, "", purpose, 'eval "$(ssh-agent)" && ssh-add')
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(SECONDS)
            client.connect(place)
    except OSError as error:
        cure = 'start another one: eval "$(ssh-agent)" && ssh-add'
        return DoctorFinding(MACHINE, "SSH agent", BROKEN, f"{place}: {error.strerror}", purpose, cure)
    return DoctorFinding(MACHINE, "SSH agent", OK, "answers", purpose)
