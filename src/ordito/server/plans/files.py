"""The files of plans: what is large is not in the database."""

from __future__ import annotations

from pathlib import Path

from ordito.ensemble.files import read, write_whole
from ordito.server.processes.making import MadePlanData

SHOWN, SAVED, REPORT = "json", "plan", "report"
"""The plan as ``ordito plan -o json`` shows it; as ``ordito plan --out`` saves it; how its job ended."""


class PlanFiles:
    """The folder of a server in which they lie."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, plan: str, made: MadePlanData) -> None:
        """Write a plan that was made; it is on the disk when this returns. Raises ``EnsembleError``."""
        self._write(plan, SHOWN, bytes(made.shown))
        if made.saved:
            self._write(plan, SAVED, made.saved)

    def keep_report(self, plan: str, report: bytes) -> None:
        """Write how the job of a plan ended. Raises ``EnsembleError``."""
        self._write(plan, REPORT, report)

    def read(self, plan: str, kind: str) -> bytes | None:
        """The content of a file; None where it is not there. Raises ``EnsembleError``."""
        return read(self._path(plan, kind))

    def forget(self, plan: str) -> None:
        """Remove all files of a plan."""
        for kind in (SHOWN, SAVED, REPORT):
            self._path(plan, kind).unlink(missing_ok=True)

    def _write(self, plan: str, kind: str, content: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._path(plan, kind), [content])

    def _path(self, plan: str, kind: str) -> Path:
        return self._folder / f"{plan}.{kind}"
