"""Formatting the files of services: each whole and sound, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.format.text import VERSION, format_text
from ordito.app.format.tree import NotFormattable
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity
from ordito.ensemble.files import write_whole
from ordito.model.resolve import resolve_service
from ordito.source.package import Network, open_package

LEFT_OPEN = frozenset({"ambiguous-substitution", "no-substitution"})
"""What is to be chosen when a service is used, and is no fault of its files."""
DEFINITIONS = frozenset({".yaml", ".yml"})


class FormatRequest(msgspec.Struct, frozen=True):
    """Service templates, and folders whose service templates are meant; whether to ``write`` what is formatted, and
    whether to ``fetch`` what they name by URLs, which they are checked with."""

    paths: tuple[str, ...]
    write: bool = True
    fetch: bool = False


class FormattedFile(msgspec.Struct, frozen=True):
    """A file: its text ``before`` and ``after``. Where it was not formatted both are the same, and ``reason`` says
    why."""

    path: str
    before: str
    after: str
    reason: str = ""

    @property
    def changed(self) -> bool:
        """Whether formatting changes it."""
        return self.before != self.after


class Formatted(msgspec.Struct, frozen=True):
    """All files, and what is wrong with those that hold errors, which are left alone."""

    files: tuple[FormattedFile, ...]
    diagnostics: tuple[Diagnostic, ...]


def format_files(request: FormatRequest) -> Formatted:
    """Format files. Raises ``Refused`` where a path leads to nothing that can be formatted, before any is written."""
    paths = list(dict.fromkeys(path for given in request.paths for path in _files(given)))
    found: list[FormattedFile] = []
    wrong: list[Diagnostic] = []
    for path in paths:
        try:
            found.append(_formatted(path, Network.ALLOWED if request.fetch else Network.REFUSED))
        except InvalidDocument as invalid:
            wrong += [d for d in invalid.diagnostics if d not in wrong]
            found.append(FormattedFile(str(path), "", "", "it holds errors"))
    if request.write:
        for file in found:
            if file.changed:
                # A link stays a link: what it leads to is written.
                write_whole(Path(file.path).resolve(), [file.after.encode("utf-8")])
    return Formatted(tuple(found), tuple(wrong))


def _files(given: str) -> Iterable[Path]:
    path = Path(given)
    if path.is_dir():
        return sorted(_templates(path))
    if not path.is_file():
        raise Refused("file-not-found", f"there is no file {given}")
    if path.suffix not in DEFINITIONS:
        hint = "only the definitions files of services are formatted"
        raise Refused("not-a-template", f"{given} is no YAML file", hint)
    return [path]


def _templates(folder: Path) -> Iterator[Path]:
    """The service templates in a folder and below it, but for hidden folders."""
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in DEFINITIONS and not hidden and path.is_file() and VERSION.encode() in path.read_bytes():
            yield path


def _formatted(path: Path, network: Network) -> FormattedFile:
    """One file. Raises ``InvalidDocument`` where it holds errors."""
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics, network)
    if package is not None:
        resolve_service(package, diagnostics)
    if package is None or any(d.severity is Severity.ERROR and d.code not in LEFT_OPEN for d in diagnostics):
        raise InvalidDocument(diagnostics.sorted())
    data = path.read_bytes()
    before = data.decode("utf-8")
    if before.startswith("\ufeff"):
        return FormattedFile(str(path), before, before, "it begins with a byte order mark")
    try:
        return FormattedFile(str(path), before, format_text(before))
    except NotFormattable as reason:
        return FormattedFile(str(path), before, before, f"it holds {reason}")
