"""Values that refer to other places: `{env: NAME}`, `{file: PATH}`, `{secret: NAME}`; and `{literal: VALUE}` for data
that looks like one."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from ordito.base.diagnostics import Diagnostics, suggestion
from ordito.base.span import Span
from ordito.base.templating.written import WrittenNumber
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import SecretsFile
from ordito.source.new_files import open_regular
from ordito.source.nodes import NULLS, Node, Scalar, Sequence
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.package import load_text
from ordito.source.reach import check_given, is_confined

LITERAL = "literal"
SOURCES = ("env", "file", "secret")
FORMATS = ("text", "yaml", "json")
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "env": ("env", "format", "default"),
    "file": ("file", "format", "default"),
    "secret": ("secret",),
    LITERAL: (LITERAL,),
}
"""The keys that the map of each kind may have."""

MOST_BYTES = 1024 * 1024
"""The largest file or variable that can become a value, in bytes."""

AS_IT_IS = "write { literal: { ... } } for a map that is meant literally"


class Secrets(Protocol):
    """Where secrets are kept."""

    def value(self, name: str) -> object:
        """A secret, as text or plain data. Raises ``NoSecret``."""


class NoSecret(Exception):
    """A secret does not exist, or cannot be read; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SourcedValue(msgspec.Struct, frozen=True):
    """A value from another place, as a node; whether it is ``secret``; and whether it was ``written`` in
    `ensemble.yaml` as a default, and is to be evaluated like other values there."""

    node: Node
    secret: bool = False
    written: bool = False


class Sources:
    """Reads values from other places; errors are reported at the value that refers to them."""

    def __init__(
        self, reach: ReadableFiles, variables: Mapping[str, str], secrets: Secrets, diagnostics: Diagnostics
    ) -> None:
        self._reach = reach
        self._variables = variables
        self._secrets = secrets
        self._diagnostics = diagnostics
        self._readers: Mapping[str, Callable[[MappingNode, Scalar], SourcedValue | None]] = {
            "env": self._variable,
            "file": self._file,
            "secret": self._secret,
        }

    def read(self, node: MappingNode, kind: str) -> SourcedValue | None:
        """The value that a map of this kind (see ``kind_of``) refers to; None if there is none, which is reported."""
        before = self._diagnostics.errors
        for key in node.keys:
            if key.text not in ALLOWED[kind]:
                self._diagnostics.unknown("unknown-keyname", "key", key.text, key.span, ALLOWED[kind], note=AS_IT_IS)
        name = node.values[kind]
        if not isinstance(name, Scalar) or not name.text:
            named = "one file" if kind == "file" else "one by its name"
            self._diagnostics.error(
                "bad-value", f'"{kind}" must name {named}, and this is {_kind(name)}', name.span, hint=AS_IT_IS
            )
        if self._diagnostics.errors > before or not isinstance(name, Scalar):
            return None
        return self._readers[kind](node, name)

    def _variable(self, node: MappingNode, name: Scalar) -> SourcedValue | None:
        text = self._variables.get(name.text)
        if text is None:
            if "default" in node.values:
                return SourcedValue(node.values["default"], written=True)
            known = suggestion(name.text, self._variables) if len(name.text) > 2 else ""
            self._diagnostics.error(
                "unset-variable",
                f'the environment variable "{name.text}" is not set',
                name.span,
                hint=f"{_variable_hint()}{'; ' if known else ''}{known}",
            )
            return None
        if len(text) > MOST_BYTES:
            said = f'the environment variable "{name.text}" has more than {MOST_BYTES:,} characters'
            self._diagnostics.error("too-large", said, name.span, hint="use a shorter one")
            return None
        return self._formed(node, name.span, text, f"${name.text}")

    def _file(self, node: MappingNode, name: Scalar) -> SourcedValue | None:
        try:
            content = self._reach.read(name.text, None, MOST_BYTES)
        except Unreadable as error:
            if error.missing and "default" in node.values:
                return SourcedValue(node.values["default"], written=True)
            self._diagnostics.error("missing-file", error.message, name.span, hint=error.hint)
            return None
        shown = self._reach.name(self._reach.find(name.text))
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            self._diagnostics.error("encoding", f"{shown} is not encoded as UTF-8", name.span, hint="save it as UTF-8")
            return None
        return self._formed(node, name.span, text, shown, strip=True)

    def _secret(self, node: MappingNode, name: Scalar) -> SourcedValue | None:
        try:
            value = self._secrets.value(name.text)
        except NoSecret as error:
            self._diagnostics.error("missing-secret", error.message, name.span, hint=error.hint)
            return None
        return SourcedValue(located(value, node), secret=True)

    def _formed(
        self, node: MappingNode, span: Span, text: str, shown: str, *, strip: bool = False
    ) -> SourcedValue | None:
        """The value of a text in the wanted format."""
        form = node.values.get("format")
        name = form.text if isinstance(form, Scalar) else "" if form is not None else "text"
        if name not in FORMATS:
            place = form.span if form is not None else span
            self._diagnostics.unknown("bad-value", "format", name, place, FORMATS)
            return None
        if not _is_text(text):
            self._diagnostics.error("encoding", f"{shown} contains bytes that are not UTF-8", span, hint="give UTF-8")
            return None
        if name == "text":
            return SourcedValue(_scalar(_without_end(text) if strip else text, node))
        if name == "json" and not self._is_json(text, shown, span):
            return None
        document = load_text(shown, text, self._diagnostics)
        return SourcedValue(document.root) if document is not None else None

    def _is_json(self, text: str, shown: str, span: Span) -> bool:
        try:
            msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            hint = "write JSON, or another format"
            self._diagnostics.error("bad-value", f"{shown} is not JSON: {error}", span, hint=hint)
            return False
        return True


def kind_of(node: Node) -> str:
    """The kind of a value that refers to another place, "" for plain data: a map with an unknown key is data."""
    if not isinstance(node, MappingNode):
        return ""
    named = [kind for kind in (*SOURCES, LITERAL) if kind in node.values]
    if len(named) != 1:
        return ""
    others = node.values.keys() - {*SOURCES, LITERAL, "format", "default"}
    return "" if others else named[0]


TEMPLATE_MARKS = ("{{", "{%")
"""The marks that make a text a template."""


def as_literal(value: object) -> object:
    """Plain data in the form that is read back as the same data."""
    return {LITERAL: value} if _means_something(value) else value


def _means_something(value: object) -> bool:
    """Whether data would be evaluated if it were written in `ensemble.yaml`."""
    if isinstance(value, str):
        return any(mark in value for mark in TEMPLATE_MARKS)
    if isinstance(value, Mapping):
        return not ALLOWED.keys().isdisjoint(value) or any(_means_something(item) for item in value.values())
    return isinstance(value, list | tuple) and any(_means_something(item) for item in value)


def located(value: object, at: Node) -> Node:
    """Plain data as a node at the place of another one. Texts are read by their declared type like all others."""
    if isinstance(value, Mapping):
        keys = [_scalar(str(key), at) for key in value]
        span = at.source, at.line, at.column, at.end_line, at.end_column
        return MappingNode(*span, keys, {str(key): located(item, at) for key, item in value.items()})
    if isinstance(value, list | tuple):
        items = [located(item, at) for item in value]
        return Sequence(at.source, at.line, at.column, at.end_line, at.end_column, items)
    if isinstance(value, str):
        return _scalar(value, at)
    if isinstance(value, WrittenNumber):
        return _scalar(value.written, at)
    return _scalar(msgspec.json.encode(value).decode(), at, null=value is None)


def _scalar(text: str, at: Node, *, null: bool = False) -> Scalar:
    # Without quotes, so that "8080" is a number where one is declared; but a text never becomes nothing.
    plain = null or text not in NULLS
    return Scalar(at.source, at.line, at.column, at.end_line, at.end_column, text, plain)


def _without_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(node: Node) -> str:
    return "empty" if isinstance(node, Scalar) else node.kind


# Which files the user's part of an ensemble may read: those beside it, and others by their absolute path.


class Unreadable(Exception):
    """A file does not exist (``missing``), cannot be read, or must not be read; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "", *, missing: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.missing = missing


class ReadableFiles(msgspec.Struct, frozen=True):
    """The files that can be named relative to the ensemble ``root``, whose directory messages call ``shown``.

    Relative paths must stay in the ensemble's directory, or in the git working tree around it: such files belong to the
    ensemble. Other files must be named by their absolute paths, so that everybody sees it.
    """

    root: Path
    shown: str

    def read(self, path: str, base: Path | None, most: int) -> bytes:
        """The bytes of a file, which may have at most ``most``; a relative path begins at ``base``, by default the
        ensemble's directory. Raises ``Unreadable``."""
        target = self.find(path, base)
        try:
            check_given(target)
            with open_regular(target) as file:
                content = file.read(most + 1)
        except FileNotFoundError as error:
            raise Unreadable(f"there is no file {self.name(target)}", _where(path), missing=True) from error
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise Unreadable(f"cannot read {self.name(target)}: {said}", _hint(error)) from error
        if len(content) > most:
            raise Unreadable(
                f"{self.name(target)} is larger than {most // 1024:,} KiB", "only small files are read here"
            )
        return content

    def find(self, path: str, base: Path | None = None) -> Path:
        """The file of a path, which need not exist. Raises ``Unreadable`` for a relative path that leads outside."""
        given = Path(path)
        if given.is_absolute():
            return given
        target = Path(os.path.normpath((base or self.root) / given))
        edge = self._edge()
        try:
            inside = target.resolve().is_relative_to(edge)
        except (OSError, RuntimeError, ValueError) as error:
            raise Unreadable(f"cannot read {path}: {error}", "name another file") from error
        if not inside:
            raise Unreadable(
                f"{path} leads out of the ensemble's directory",
                IN_PLACE
                if is_confined()
                else "relative paths stay there, or in the git working tree around it: "
                "name the file by its absolute path, or put it there",
            )
        return target

    def name(self, target: Path) -> str:
        """The name of a file in messages."""
        if not target.is_relative_to(self.root):
            return str(target)
        return os.path.normpath(Path(self.shown) / target.relative_to(self.root))

    def _edge(self) -> Path:
        root = self.root.resolve()
        return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)


def _where(path: str) -> str:
    if Path(path).is_absolute():
        return "make it, or name another one"
    return "make it, or name another one; the path is relative to the ensemble's directory"


IN_PLACE = (
    "put the file into the ensemble's directory or into its package, or keep what it says as a secret: "
    "{ secret: NAME }; an administrator can list its folder in `reads` of server.yaml"
)
"""What can be done about a file that a server may not read."""


def _variable_hint() -> str:
    """What can be done about a variable that is not there, or that a server does not give."""
    if is_confined():
        return (
            "keep the value as a secret, { secret: NAME }, or give it a default; "
            "an administrator can list the variable in `variables` of server.yaml"
        )
    return "set it before you call ordito, or give it a default"


def _hint(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return IN_PLACE if is_confined() else "give this user the right to read it"
    if isinstance(error, OSError) and error.errno in {errno.EISDIR, errno.EINVAL}:
        return "name an ordinary file"
    return "name another file"


# Where the secrets come from that the user's part of an ensemble names.


def secrets_of(layout: Layout) -> Secrets:
    """The secrets of an ensemble."""
    return _KeptSecrets(layout)


class _KeptSecrets:
    """The secrets in `secrets.yaml`."""

    def __init__(self, layout: Layout) -> None:
        self._file = SecretsFile(layout)

    def value(self, name: str) -> object:
        """A secret. Raises ``NoSecret``."""
        try:
            return self._file.get(name)
        except KeyError:
            near = suggestion(name, self._file.names())
            raise NoSecret(
                f'there is no secret "{name}"', f"{near}; to keep one: `ordito secrets set {name}`"
            ) from None
        except EnsembleError as error:
            raise NoSecret(f'secret "{name}" cannot be read: {error.message}', error.hint) from None
