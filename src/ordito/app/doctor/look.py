"""Look what this machine can run, and how an ensemble is. Nothing is changed, and nothing of the network is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ordito.app.doctor.ensemble import look_at
from ordito.app.doctor.finding import OK, Diagnosis, Finding
from ordito.app.doctor.keys import find_keys
from ordito.app.doctor.packages import find_packages
from ordito.app.doctor.programs import find_identity, find_programs
from ordito.app.doctor.uses import ENGINE
from ordito.app.place import place_of
from ordito.ensemble.git.tree import existing
from ordito.providers.containers.settings import ENGINES


class DoctorRequest(msgspec.Struct, frozen=True):
    """Which ensemble, in which environment and with which inventory (None: where the command names none)."""

    directory: str
    environment: str | None = None
    hosts: str | None = None


def diagnose(request: DoctorRequest) -> Diagnosis:
    """Look at everything; what cannot be read is a finding as well."""
    place = place_of(request.directory)
    look = look_at(place, request.environment, request.hosts)
    identity = find_identity(existing(place.layout.root), look.used)
    machine = [*find_programs(look.used), *identity, *find_keys()]
    if why := look.used.get(ENGINE, ""):
        machine = list(_with_engine(machine, why))
    return Diagnosis((*find_packages(look.used), *machine, *look.findings))


def _with_engine(findings: Iterable[Finding], why: str) -> Iterator[Finding]:
    """The findings, with the engine of containers marked as needed that would be used: the first that answers, and the
    first where none does."""
    every = list(findings)
    engines = [finding for finding in every if finding.name in ENGINES]
    used = next((one for one in engines if one.state == OK), engines[0])
    for finding in every:
        yield msgspec.structs.replace(finding, needed=finding.needed or why) if finding is used else finding
