"""What the doctor has found, for people: a table for each part, and below what is not as it should be the cure."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.app.doctor.finding import ENSEMBLE, LOOK, MACHINE, OK, PROGRAM, Diagnosis, Finding
from ordito.cli.channel import Channel
from ordito.cli.text_width import pad, printable, width

TITLES = {PROGRAM: "This program", MACHINE: "This machine", ENSEMBLE: "This ensemble"}
WIDEST = 48
"""What was found and is longer has a line of its own."""


def write_diagnosis(found: Diagnosis, channel: Channel) -> None:
    """Write all findings."""
    for part, title in TITLES.items():
        findings = [finding for finding in found.findings if finding.part == part]
        if findings:
            channel.line(channel.paint("strong", title))
            _write_part(findings, channel)


def _write_part(findings: Sequence[Finding], channel: Channel) -> None:
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


def _style(finding: Finding) -> str:
    if finding.state == OK:
        return "good"
    if finding.is_lacking:
        return "bad"
    return "change" if finding.state == LOOK else "faint"
