"""The verbs to begin with: a new project, what this machine can run, and a shell that knows the words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from ordito.app.doctor.finding import ENSEMBLE, LOOK, MACHINE, OK, PROGRAM, DoctorFinding
from ordito.authoring.init import InitRequest, init
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import pad, printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.results.findings import DoctorData
    from ordito.results.services import MadeFilesData


@verb("init")
@click.argument("directory", metavar="[DIR]", default=".")
@click.option("--template", default="hello", show_default=True, help="The example to begin with.")
def init_command(session: Session, directory: str, template: str) -> ExitCode:
    """Make a new project in DIR (default: the current directory): a small service that deploys at once.

    No file is overwritten."""
    from ordito.results.services import MadeFilesData

    made = init(InitRequest(directory, template))

    def write(found: MadeFilesData, channel: Channel) -> None:
        for file in found.files:
            channel.line(f"made {file}" if directory == "." else f"made {directory}/{file}")

    session.show(MadeFilesData(made.directory, tuple(made.files)), write)
    begin = "" if directory == "." else f"cd {shlex.quote(directory)} && "
    deploy = session.settings.plain_command("deploy")
    session.next(NextCommand(f"{begin}{deploy}", "deploy it; ensemble.yaml says what to deploy, and later what exists"))
    return ExitCode.DONE


@verb("doctor")
def doctor_command(session: Session) -> ExitCode:
    """Show what this machine can run and in which versions, and the state of the ensemble, if there is one.

    Each line says the state of something (ok, missing, too old, broken, or look, where you should), what it is for, and
    how to get it. Something is needed if the program cannot work without it or if the ensemble uses it: the exit code
    is 0 when nothing needed is missing. Nothing is changed, no host is contacted, and nothing is fetched."""
    from ordito.app.doctor.look import DoctorRequest, diagnose
    from ordito.results.findings import doctor_data

    settings = session.settings
    found = diagnose(DoctorRequest(settings.directory, settings.wanted_environment, settings.hosts))
    findings = tuple(msgspec.structs.replace(one, cure=settings.completed(one.cure)) for one in found.findings)
    found = msgspec.structs.replace(found, findings=findings)
    session.show(doctor_data(found), write_diagnosis)
    lacking = [finding for finding in found.findings if finding.is_lacking]
    for finding in lacking:
        session.warn(printable(f"{finding.name} is {finding.state}, but needed: {finding.needed}"))
    return ExitCode.JOB_FAILED if lacking else ExitCode.DONE


@verb("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(session: Session, shell: str) -> ExitCode:
    """Print the script with which a shell completes words of `ordito`: verbs, options, files, and the names of nodes,
    instances, jobs, hosts, outputs, secrets and blocks.

    Bash reads it from ~/.local/share/bash-completion/completions/ordito if the package bash-completion is installed;
    zsh from a file _ordito in a folder of $fpath; fish from ~/.config/fish/completions/ordito.fish."""
    from ordito.cli.completion import script
    from ordito.results.services import CompletionData

    found = CompletionData(shell, script(shell))
    session.show(found, lambda shown, channel: channel.write(shown.script))
    return ExitCode.DONE


# What the doctor has found, for people: a table for each part, and below what is not as it should be the cure.

TITLES = {PROGRAM: "This program", MACHINE: "This machine", ENSEMBLE: "This ensemble"}
WIDEST = 48
"""A finding that is longer has a line of its own."""


def write_diagnosis(found: DoctorData, channel: Channel) -> None:
    """Write all findings."""
    for part, title in TITLES.items():
        findings = [finding for finding in found.findings if finding.part == part]
        if findings:
            channel.line(channel.paint("strong", title))
            _write_part(findings, channel)


def _write_part(findings: Sequence[DoctorFinding], channel: Channel) -> None:
    states = max(width(finding.state) for finding in findings)
    names = max(width(finding.name) for finding in findings)
    cells = {finding: printable(finding.found) or "-" for finding in findings}
    said = max((width(cell) for cell in cells.values() if width(cell) <= WIDEST), default=0)
    for finding, cell in cells.items():
        is_long = width(cell) > WIDEST
        state = channel.paint(_style(finding), pad(finding.state, states))
        row = f"{pad(finding.name, names)}  {pad('-' if is_long else cell, said)}  {finding.purpose}"
        needed = f" (needed: {finding.needed})" if finding.is_lacking else ""
        channel.line(f"  {state}  {row.rstrip()}{printable(needed)}")
        for more in filter(None, (cell if is_long else "", printable(finding.cure))):
            channel.line(f"  {' ' * states}  {more}")


def _style(finding: DoctorFinding) -> str:
    if finding.state == OK:
        return "good"
    if finding.is_lacking:
        return "bad"
    return "change" if finding.state == LOOK else "faint"
