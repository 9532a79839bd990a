"""`ordito doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.doctor.finding import Diagnosis, Finding

HELP = """Show what this machine can run and in which versions, and how the ensemble is, if there is one.

Each line says how something is (ok, missing, too old, broken, or look, where you should), what it is there for, and how
to get it. What the program cannot do without, or the ensemble uses, is needed: the exit code is 0 when nothing that is
needed is missing. Nothing is changed, no host is reached, and nothing is fetched."""

FORMAT = "ordito.doctor/1"


@verb("doctor", HELP)
def command(session: Session) -> ExitCode:
    """Look at the machine and the ensemble."""
    from ordito.app.doctor.look import DoctorRequest, diagnose
    from ordito.cli.doctor_view import write_diagnosis

    settings = session.settings
    found = diagnose(DoctorRequest(settings.directory, settings.wanted_environment, settings.hosts))
    findings = tuple(msgspec.structs.replace(one, cure=settings.completed(one.cure)) for one in found.findings)
    found = msgspec.structs.replace(found, findings=findings)
    session.result(as_data(found), lambda channel: write_diagnosis(found, channel))
    lacking = [finding for finding in found.findings if finding.is_lacking]
    for finding in lacking:
        session.warn(printable(f"{finding.name} is {finding.state}, and needed: {finding.needed}"))
    return ExitCode.JOB_FAILED if lacking else ExitCode.DONE


def as_data(found: Diagnosis) -> dict[str, object]:
    """A diagnosis for programs."""
    return {"format": FORMAT, "ready": found.is_ready, "findings": [_as_data(one) for one in found.findings]}


def _as_data(finding: Finding) -> dict[str, object]:
    data: dict[str, object] = msgspec.to_builtins(finding)
    return data
