"""The user's part of `ensemble.yaml`: which service is deployed here, and with which inputs.

spec:
  service: ../shop/service.yaml
  inputs:
    port: 8080
    region: { env: REGION }

`docs/ensemble.md` describes all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping as MappingType
from pathlib import Path

import msgspec

from ordito.app.inputs.environments import SECTION, Environments, entries_of, read_environments
from ordito.app.inputs.merge import merged
from ordito.app.inputs.sources import ReadableFiles, as_literal
from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.base.span import SourceText
from ordito.ensemble.backing import backing_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.sharing import asked_in
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import read_manifest
from ordito.ensemble.yaml_writer import block, scalar
from ordito.source.nodes import Mapping, Node, Scalar, is_null
from ordito.source.package import load_text
from ordito.work.records import GivenService

KNOWN = ("service", "environment", *SECTION, "environments")

HEAD = """\
# This part is yours. Change it as you like: it is kept byte for byte, and `ordito deploy` brings the running system to
# what it says. What exists is written below the line at the end.
spec:
  # The service that is deployed here: a definitions file or its folder, relative to this directory.
  service: {service}
  # Values of the service's inputs; inputs that are not named have their defaults. A value may stand elsewhere:
  # {{ env: VARIABLE }}, {{ file: PATH }}, {{ secret: NAME }}; what is meant literally is {{ literal: VALUE }}.
"""


class UserPart(msgspec.Struct, frozen=True):
    """What the user wrote."""

    service: str = ""
    """The path of the service (relative to the ensemble, or absolute), "" for none. If `upgrade` was given another
    service, that one, as long as the user's part still names the same as then."""

    environments: Environments = Environments()
    """The environments, with the settings that are common to all."""

    exists: bool = False
    """Whether there is a user's part."""

    files: tuple[str, ...] = ()
    """The absolute paths of the files that were merged into it."""

    written: str = ""
    """The path of the service as written."""

    def with_given(self, named: GivenService | None) -> UserPart:
        """The same with the service that `upgrade` was given, if that is still valid."""
        if named is None or named.over != self.written or not self.exists:
            return self
        return msgspec.structs.replace(self, service=named.path)

    def service_path(self, layout: Layout, shown: str) -> str:
        """The path of the service, relative to the current directory; ``shown`` is the ensemble's directory in
        messages."""
        return _seen(self.service, layout, shown)

    def written_path(self, layout: Layout, shown: str) -> str:
        """The written path of the service, relative to the current directory."""
        return _seen(self.written, layout, shown)


def _seen(service: str, layout: Layout, shown: str) -> str:
    path = Path(service)
    if path.is_absolute():
        return service
    near = os.path.normpath(Path(shown) / path)
    # Where the ensemble's directory is a link, `..` does not lead back to where the link is.
    return near if Path(near).resolve() == (layout.root.resolve() / path).resolve() else str(layout.root / path)


def read_user_part(layout: Layout, shown: str, diagnostics: Diagnostics) -> UserPart:
    """Read the user's part of an ensemble; ``shown`` is the file name for messages. Without one, the result is empty.
    Raises ``EnsembleError`` if the file cannot be read."""
    parts = read_manifest(layout)
    return parse_user_part(layout, shown, parts.user if parts is not None else b"", diagnostics)


def parse_user_part(layout: Layout, shown: str, content: bytes, diagnostics: Diagnostics) -> UserPart:
    """Read a user's part that need not be written yet. Raises ``EnsembleError`` if it is not UTF-8."""
    if not content.strip():
        return UserPart()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EnsembleError(f"{shown} is not encoded as UTF-8", "save it as UTF-8") from error
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        return UserPart(exists=True)
    found = Diagnostics()
    document = load_text(shown, text, found)
    diagnostics.extend(map(_with_quotes, found))
    if document is None:
        return UserPart(exists=True)
    whole = merged(document.root, ReadableFiles(layout.root, os.path.dirname(shown) or "."), diagnostics)  # noqa: PTH120
    if diagnostics.has_errors:
        return UserPart(exists=True)
    if whole.root is not document.root:
        _check_lock(whole.root, document.source, diagnostics)
    root = entries_of(whole.root, "the ensemble", diagnostics, ("spec",))
    spec = entries_of(root.get("spec"), '"spec"', diagnostics, KNOWN)
    service = spec.get("service")
    if service is not None and not isinstance(service, Scalar):
        diagnostics.error("bad-value", f'"service" is a path, not {service.kind}', service.span)
        service = None
    environments = read_environments(spec, diagnostics)
    if environments.asks_for_lock and not asked_in(content, shown):
        diagnostics.error(
            "bad-value",
            f'"lock: git" must stand in {shown} itself: it is needed before other files are read',
            None,
            hint='write it there, below "spec:"',
        )
    written = service.text if service is not None and not is_null(service) else ""
    return UserPart(
        written,
        environments,
        exists=True,
        files=whole.files,
        written=written,
    )


def _with_quotes(found: Diagnostic) -> Diagnostic:
    """A finding about a template without quotes, which YAML reads as a map in a map, with a hint added."""
    at = found.span
    if found.code != "complex-key" or at is None or not at.source.line(at.line)[at.column - 2 :].startswith("{{"):
        return found
    return msgspec.structs.replace(found, hint='put the template into quotes: "{{ ... }}"')


def _check_lock(root: Node, own: SourceText, diagnostics: Diagnostics) -> None:
    """Report a lock that is not in the ensemble's own file, because it is needed before other files are read."""
    spec = root.values.get("spec") if isinstance(root, Mapping) else None
    environments = spec.values.get("environments") if isinstance(spec, Mapping) else None
    named = environments.values.values() if isinstance(environments, Mapping) else ()
    for section in (spec, *named):
        lock = section.values.get("lock") if isinstance(section, Mapping) else None
        if lock is not None and lock.source is not own:
            said = f'"lock" must be in {own.name} itself: it is needed before other files are included'
            diagnostics.error("bad-merge", said, lock.span, hint=f"write it into {own.name}")


def new_user_part(layout: Layout, service: str, inputs: MappingType[str, object]) -> bytes:
    """The user's part of a new ensemble; ``service`` is a path relative to the current directory."""
    here, there = layout.root.resolve(), Path(service).resolve()
    # With nothing in common but the root, the way from one to the other says less than the place itself. And each
    # machine has its copy of an ensemble of a store elsewhere.
    is_near = len(Path(os.path.commonpath([here, there])).parts) > 1 and not backing_of(layout).is_store
    shown = os.path.relpath(there, here) if is_near else str(there)
    head = HEAD.format(service=scalar(shown))
    body = "".join(block({"inputs": {name: as_literal(value) for name, value in inputs.items()}}, 1))
    return (head + body).encode("utf-8", "surrogateescape")
