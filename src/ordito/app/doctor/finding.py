"""What the doctor finds, as data."""

from __future__ import annotations

import msgspec

OK, MISSING, OLD, BROKEN, LOOK = "ok", "missing", "too old", "broken", "look"
"""What is found of something: it is as it should be; it is not there; it is there, in a version that is too old; it is
there and cannot be used; it can be used, and somebody should look at it."""

PROGRAM, MACHINE, ENSEMBLE = "program", "machine", "ensemble"
"""What a finding is about: this program and its packages, other programs of this machine, the ensemble."""


class DoctorFinding(msgspec.Struct, frozen=True):
    """One thing that was looked at: what it is about (``part``), how it is (``state``), what was ``found``, usually a
    version, what it is there for (``purpose``), how to get or to repair it (``cure``, "" where nothing is to be done),
    and why it has to be there (``needed``, "" where nothing here needs it)."""

    part: str
    name: str
    state: str
    found: str = ""
    purpose: str = ""
    cure: str = ""
    needed: str = ""

    @property
    def is_lacking(self) -> bool:
        """Whether something that is needed cannot be used."""
        return bool(self.needed) and self.state in (MISSING, OLD, BROKEN)


class Diagnosis(msgspec.Struct, frozen=True):
    """All findings, in the order in which they are told."""

    findings: tuple[DoctorFinding, ...]

    @property
    def is_ready(self) -> bool:
        """Whether everything that is needed can be used."""
        return not any(finding.is_lacking for finding in self.findings)
