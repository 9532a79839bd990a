"""Formatting the files of services: each whole and sound, or not at all."""

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
"""What is to be chosen when a service is used, and is no fault of its files."""
DEFINITIONS = frozenset({".yaml", ".yml"})
WRITTEN_MEANWHILE = "somebody else has written to it meanwhile"


class FormatRequest(msgspec.Struct, frozen=True):
    """Service templates, and folders whose service templates are meant; whether to ``write`` what is formatted, and
    whether to ``fetch`` what they name by URLs, which they are checked with."""

    paths: tuple[str, ...]
    write: bool = True
    fetch: bool = False


class FormattedFile(msgspec.Struct, frozen=True):
    """A file: its text ``before`` and ``after``. Where it was not formatted both are the same, and ``reason`` says
    why; ``found`` is what the system said of the file when it was read."""

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
    """All files, and what is wrong with those that hold errors, which are left alone."""

    files: tuple[FormattedFile, ...]
    diagnostics: tuple[Diagnostic, ...]


def format_files(request: FormatRequest) -> Formatted:
    """Format files. Raises ``Refused`` where a path leads to nothing that can be formatted, before any is written, and
    where one cannot be written."""
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
        found = [_written(file) if file.changed else file for file in found]
    return Formatted(tuple(found), tuple(wrong))


def _written(file: FormattedFile) -> FormattedFile:
    """Write a file that formatting changes, unless somebody else has done so meanwhile."""
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
        raise Refused("not-a-template", f"{given} is no YAML file", hint)
    return [path]


def _templates(folder: Path) -> Iterator[Path]:
    """The service templates in a folder and below it, but for hidden folders."""
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
    """What is not seen is not formatted, which must not pass for being in the usual form."""
    raise _cannot_read(f"the folder {error.filename}", error) from error


def _cannot_read(name: str, error: OSError) -> Refused:
    hint = "give this user the right to read it, or name the files and folders that are meant"
    return Refused("file-not-found", f"cannot read {name}: {error.strerror or error}", hint)


def _formatted(path: Path, network: Network) -> FormattedFile:
    """One file. Raises ``InvalidDocument`` where it holds errors."""
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
    """The bytes of a file, and what the system says of it."""
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
"""What some readers take for the end of a line."""


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
        raise NotFormattable("a form that formatting does not know how to keep")
    return formatted


def _settled(text: str) -> str | None:
    """A text, formatted until that changes nothing more: a comment may move with its line, and then belong elsewhere.
    None where that does not come to an end, or not to the same."""
    before = text
    for _ in range(MOST_ROUNDS):
        after = Lines(read_layout(before)).formatted()
        if after == before:
            return after if _same(text, after) else None
        before = after
    return None


def _same(before: str, after: str) -> bool:
    """Whether two texts hold the same data, written the same way, and the same lines but for their indentation."""
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
