"""Formatting the files of services: each completely and correctly, or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import yaml

from ordito.app.errors import Refused
from ordito.app.output_file import cannot_write
from ordito.authoring.format_layout import Lines, NotFormattable, read_layout
from ordito.base.allowable import EVERY
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity
from ordito.ensemble.files import FileChanged, is_same, put_whole
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import resolve_service
from ordito.source.new_files import kind_of, open_regular, read_regular
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.opening import open_package
from ordito.source.package import load_text
from ordito.source.remote import Network

LEFT_OPEN = frozenset({"ambiguous-substitution", "no-substitution"})
"""Findings about choices to be made when a service is used, which are no errors of its files."""
DEFINITIONS = frozenset({".yaml", ".yml"})
WRITTEN_MEANWHILE = "it was changed meanwhile"


class FormatRequest(msgspec.Struct, frozen=True):
    """The service templates to format, and folders with service templates; whether to ``write`` the result, and whether
    to ``fetch`` URLs that they name, for checking them."""

    paths: tuple[str, ...]
    write: bool = True
    fetch: bool = False


class FormattedFile(msgspec.Struct, frozen=True):
    """A file: its text ``before`` and ``after``. If it was not formatted both are equal, and ``reason`` says why;
    ``found`` is its file status when it was read."""

    path: str
    before: str
    after: str
    reason: str = ""
    found: os.stat_result | None = None

    @property
    def changed(self) -> bool:
        """Whether formatting changes it."""
        return self.before != self.after


class Formatted(msgspec.Struct, frozen=True):
    """All files, and the findings about those with errors, which are left alone."""

    files: tuple[FormattedFile, ...]
    diagnostics: tuple[Diagnostic, ...]


def format_files(request: FormatRequest) -> Formatted:
    """Format files. Raises ``Refused`` if a path names nothing that can be formatted, before any file is written, and
    if a file cannot be written."""
    paths = list(dict.fromkeys(path for given in request.paths for path in _files(given)))
    found: list[FormattedFile] = []
    wrong: list[Diagnostic] = []
    for path in paths:
        try:
            found.append(_formatted(path, Network.ALLOWED if request.fetch else Network.REFUSED))
        except InvalidDocument as invalid:
            wrong += [d for d in invalid.diagnostics if d not in wrong]
            found.append(FormattedFile(str(path), "", "", "it has errors"))
    if request.write:
        found = [_written(file) if file.changed else file for file in found]
    return Formatted(tuple(found), tuple(wrong))


def _written(file: FormattedFile) -> FormattedFile:
    """Write a file that formatting changes, unless it was changed meanwhile."""
    try:
        # A link stays a link: what it leads to is written.
        put_whole(Path(os.path.realpath(file.path)), file.after.encode("utf-8"), file.found)
    except (FileChanged, FileNotFoundError):
        return FormattedFile(file.path, file.before, file.before, WRITTEN_MEANWHILE)
    except OSError as error:
        raise cannot_write(file.path, error) from error
    return file


def _files(given: str) -> Iterable[Path]:
    path = Path(given)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        what = f"{given} is a link that leads nowhere" if path.is_symlink() else f"there is no file {given}"
        raise Refused("file-not-found", what) from None
    except OSError as error:
        raise _cannot_read(given, error) from error
    if stat.S_ISDIR(mode):
        return sorted(_templates(path))
    if not stat.S_ISREG(mode):
        raise Refused("not-a-template", f"{given} is {kind_of(mode)}, not an ordinary file")
    if path.suffix not in DEFINITIONS:
        hint = "only the definitions files of services are formatted"
        raise Refused("not-a-template", f"{given} is not a YAML file", hint)
    return [path]


def _templates(folder: Path) -> Iterator[Path]:
    """The service templates in a folder and below it, except in hidden folders."""
    for here, folders, files in os.walk(folder, onerror=_cannot_list):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(here, name)
            if path.suffix in DEFINITIONS and not name.startswith(".") and _is_template(path):
                yield path


def _is_template(path: Path) -> bool:
    try:
        return path.is_file() and VERSION.encode() in read_regular(path)
    except OSError as error:
        raise _cannot_read(str(path), error) from error


def _cannot_list(error: OSError) -> None:
    """Raise ``Refused`` for a folder that cannot be read: its files must not pass for formatted."""
    raise _cannot_read(f"the folder {error.filename}", error) from error


def _cannot_read(name: str, error: OSError) -> Refused:
    hint = "give this user the right to read it, or name the files and folders to format"
    return Refused("file-not-found", f"cannot read {name}: {error.strerror or error}", hint)


def _formatted(path: Path, network: Network) -> FormattedFile:
    """Format one file. Raises ``InvalidDocument`` if it has errors."""
    data, found = _read(path)
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics, network)
    if package is not None:
        resolve_service(package, diagnostics, Circumstances(allowed=EVERY))
    if package is None or any(d.severity is Severity.ERROR and d.code not in LEFT_OPEN for d in diagnostics):
        raise InvalidDocument(diagnostics.sorted())
    before = data.decode("utf-8", "replace")
    after, reason = before, ""
    try:
        # What was found to be sound must be what was read.
        if not is_same(found, path):
            reason = WRITTEN_MEANWHILE
        elif before.startswith("\ufeff"):
            reason = "it begins with a byte order mark"
        else:
            after = format_text(before)
    except FileNotFoundError:
        reason = WRITTEN_MEANWHILE
    except NotFormattable as problem:
        reason = f"it holds {problem}"
    if after != before and found.st_nlink > 1:
        after, reason = before, f"it has {found.st_nlink} names (hard links), of which only one would be formatted"
    return FormattedFile(str(path), before, after, reason, found)


def _read(path: Path) -> tuple[bytes, os.stat_result]:
    """The bytes of a file, and its file status."""
    try:
        with open_regular(path) as file:
            found = os.fstat(file.fileno())
            return file.read(), found
    except OSError as error:
        raise _cannot_read(str(path), error) from error


# Formatting one text, and being sure that it still means the same.

MOST_ROUNDS = 5
VERSION = "tosca_definitions_version"
STRANGE_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters that some readers treat as the end of a line."""


def format_text(text: str) -> str:
    """A service template, formatted. Raises ``NotFormattable`` where that could change it."""
    if any(character in text for character in STRANGE_BREAKS):
        raise NotFormattable("a line break that YAML 1.2 does not know")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        formatted = _settled(text)
    except yaml.YAMLError as error:
        raise NotFormattable(f"what cannot be read again: {error}") from error
    if formatted is None:
        raise NotFormattable("a form that formatting cannot preserve")
    return formatted


def _settled(text: str) -> str | None:
    """A text, formatted repeatedly until nothing changes any more, because a comment that moves with its line may then
    belong elsewhere. None if that does not end, or changes the meaning."""
    before = text
    for _ in range(MOST_ROUNDS):
        after = Lines(read_layout(before)).formatted()
        if after == before:
            return after if _same(text, after) else None
        before = after
    return None


def _same(before: str, after: str) -> bool:
    """Whether two texts have the same data in the same style, and the same lines apart from indentation."""
    if _bare(before) != _bare(after):
        return False
    found = Diagnostics()
    first, second = load_text("before", before, found), load_text("after", after, found)
    if first is None or second is None or found.has_errors:
        return False
    return _equal(first.root, second.root)


def _bare(text: str) -> list[str]:
    """The lines of a text, without empty ones and without indentation and dashes."""
    return [bare for line in text.split("\n") if (bare := line.lstrip(" -").rstrip())]


def _equal(first: Node, second: Node) -> bool:
    """Whether two trees are the same. Their depth is bounded by the loader."""
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        return first.text == second.text and first.plain == second.plain
    if isinstance(first, Sequence) and isinstance(second, Sequence):
        pairs = zip(first.items, second.items, strict=False)
        return len(first.items) == len(second.items) and all(_equal(a, b) for a, b in pairs)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        if [*first.values] != [*second.values]:
            return False
        return all(_equal(value, second.values[name]) for name, value in first.values.items())
    return False
