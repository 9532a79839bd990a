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
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.sharing import asks_for_lock
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
    """What the user wrote, if it ``exists``: the service as a path (relative to the ensemble, or absolute), "" where
    there is none, and the environments with what is common to all of them; and the ``files`` that were
    merged into it, by their absolute paths. Where `upgrade` was given another service, that is the ``service``, for as
    long as the user's part names the one that it named then, which is ``written``."""

    service: str = ""
    environments: Environments = Environments()
    exists: bool = False
    files: tuple[str, ...] = ()
    written: str = ""

    def with_given(self, named: GivenService | None) -> UserPart:
        """The same with the service that `upgrade` was given, where that still holds."""
        if named is None or named.over != self.written or not self.exists:
            return self
        return msgspec.structs.replace(self, service=named.path)

    def service_path(self, layout: Layout, shown: str) -> str:
        """The service's path as seen from here; ``shown`` is how the ensemble's directory is called."""
        return _seen(self.service, layout, shown)

    def written_path(self, layout: Layout, shown: str) -> str:
        """The path of the service that is written there, as seen from here."""
        return _seen(self.written, layout, shown)


def _seen(service: str, layout: Layout, shown: str) -> str:
    path = Path(service)
    if path.is_absolute():
        return service
    near = os.path.normpath(Path(shown) / path)
    # Where the ensemble's directory is a link, `..` does not lead back to where the link is.
    return near if Path(near).resolve() == (layout.root.resolve() / path).resolve() else str(layout.root / path)


def read_user_part(layout: Layout, shown: str, diagnostics: Diagnostics) -> UserPart:
    """Read the user's part of an ensemble; ``shown`` is how the file is called in messages.

    An ensemble without one gives nothing. Raises ``EnsembleError`` where the file cannot be read.
    """
    parts = read_manifest(layout)
    if parts is None or not parts.user.strip():
        return UserPart()
    try:
        text = parts.user.decode("utf-8")
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
    if environments.asks_for_lock and not asks_for_lock(layout):
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
    """A finding about a template without quotes, which YAML takes for a map in a map, with what to do about it."""
    at = found.span
    if found.code != "complex-key" or at is None or not at.source.line(at.line)[at.column - 2 :].startswith("{{"):
        return found
    return msgspec.structs.replace(found, hint='put the template into quotes: "{{ ... }}"')


def _check_lock(root: Node, own: SourceText, diagnostics: Diagnostics) -> None:
    """See that a lock stands in the ensemble's own file: it is taken before anything else is read."""
    spec = root.values.get("spec") if isinstance(root, Mapping) else None
    environments = spec.values.get("environments") if isinstance(spec, Mapping) else None
    named = environments.values.values() if isinstance(environments, Mapping) else ()
    for section in (spec, *named):
        lock = section.values.get("lock") if isinstance(section, Mapping) else None
        if lock is not None and lock.source is not own:
            said = f'"lock" stands in {own.name} itself: it is taken before anything is brought in'
            diagnostics.error("bad-merge", said, lock.span, hint=f"write it into {own.name}")


def new_user_part(layout: Layout, service: str, inputs: MappingType[str, object]) -> bytes:
    """The user's part of a new ensemble; ``service`` is a path as seen from the current directory."""
    here, there = layout.root.resolve(), Path(service).resolve()
    # With nothing in common but the root, the way from one to the other says less than the place itself.
    shown = os.path.relpath(there, here) if len(Path(os.path.commonpath([here, there])).parts) > 1 else str(there)
    head = HEAD.format(service=scalar(shown))
    body = "".join(block({"inputs": {name: as_literal(value) for name, value in inputs.items()}}, 1))
    return (head + body).encode("utf-8", "surrogateescape")
