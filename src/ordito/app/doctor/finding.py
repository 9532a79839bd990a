"""What the doctor finds, as data."""

from __future__ import annotations

import msgspec

OK, MISSING, OLD, BROKEN, LOOK = "ok", "missing", "too old", "broken", "look"
"""The states of a finding: it works; it is missing; its version is too old; it cannot be used; it can be used, but
needs attention."""

PROGRAM, MACHINE, ENSEMBLE = "program", "machine", "ensemble"
"""What a finding is about: this program and its packages, other programs of this machine, the ensemble."""


class DoctorFinding(msgspec.Struct, frozen=True):
    """One thing that was checked."""

    part: str
    """What it is about: ``PROGRAM``, ``MACHINE`` or ``ENSEMBLE``."""

    name: str
    state: str
    """``OK``, ``MISSING``, ``OLD``, ``BROKEN`` or ``LOOK``."""

    found: str = ""
    """What was found, usually a version."""

    purpose: str = ""
    """What it is used for."""

    cure: str = ""
    """How to install or repair it, "" if nothing is to be done."""

    needed: str = ""
    """Why it is needed here, "" if it is not."""

    @property
    def is_lacking(self) -> bool:
        """Whether something that is needed cannot be used."""
        return bool(self.needed) and self.state in (MISSING, OLD, BROKEN)


class Diagnosis(msgspec.Struct, frozen=True):
    """All findings, in the order in which they are shown."""

    findings: tuple[DoctorFinding, ...]

    @property
    def is_ready(self) -> bool:
        """Whether everything that is needed can be used."""
        return not any(finding.is_lacking for finding in self.findings)
