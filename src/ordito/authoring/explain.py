"""Explain a type, or a part of one, of a service or of those that come with the program."""

from __future__ import annotations

import msgspec

from ordito.app.errors import Refused
from ordito.app.services.read import types_of
from ordito.base.diagnostics import Diagnostic, Diagnostics, suggestion
from ordito.model.catalogue import ASKED, Catalogue, Member, TypeView
from ordito.model.types import Types


class ExplainRequest(msgspec.Struct, frozen=True):
    """The type to explain: ``words`` are its name, of any kind (or only of ``kind``), possibly followed by the names of
    parts, joined by dots. The types of ``service`` are known besides those of the program; with ``fetch``, URLs that it
    names are fetched."""

    words: str
    service: str = ""
    kind: str = ""
    fetch: bool = False


class Explained(msgspec.Struct, frozen=True):
    """A type, the ``path`` to the wanted part, and the parts with this path (several if, for example, an interface and
    a requirement have the same name). ``others`` are types of other kinds with the same name, ``diagnostics`` the
    findings about the service."""

    type: TypeView
    path: tuple[str, ...]
    members: tuple[Member, ...]
    others: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def explain(request: ExplainRequest) -> Explained:
    """Find what the words name. Raises ``InvalidDocument``, and ``Refused`` if there is nothing."""
    diagnostics = Diagnostics()
    return explain_in(types_of(request.service, diagnostics, fetch=request.fetch), request, diagnostics)


def explain_in(types: Types, request: ExplainRequest, diagnostics: Diagnostics) -> Explained:
    """Find what the words name among these types. Raises ``Refused`` if there is nothing."""
    catalogue = Catalogue(types)
    kinds = (request.kind,) if request.kind else ASKED
    readings = [
        (view, path) for kind in kinds if (found := _find(catalogue, kind, request.words)) for view, path in [found]
    ]
    if not readings:
        raise _unknown_type(request, catalogue)
    fitting = [
        (view, path, members) for view, path in readings if (members := _members(catalogue, view, path)) or not path
    ]
    if not fitting:
        raise _unknown_member(catalogue, *readings[0])
    view, path, members = fitting[0]
    others = tuple(f"{other.kind} type {other.name}" for other, _, _ in fitting[1:])
    return Explained(view, path, members, others, tuple(diagnostics.sorted()))


def _find(catalogue: Catalogue, kind: str, words: str) -> tuple[TypeView, tuple[str, ...]] | None:
    """The type with the longest name with which the words begin, and the remaining words."""
    parts = words.split(".")
    for end in range(len(parts), 0, -1):
        view = catalogue.find(kind, ".".join(parts[:end]))
        if view is not None:
            return view, tuple(parts[end:])
    return None


def _members(catalogue: Catalogue, view: TypeView, path: tuple[str, ...]) -> tuple[Member, ...]:
    """The parts at a path of names."""
    found: tuple[Member, ...] = ()
    for step, name in enumerate(path):
        found = tuple(m for m in _parts(catalogue, view, found, step) if m.name == name)
    return found


def _parts(catalogue: Catalogue, view: TypeView, found: tuple[Member, ...], step: int) -> list[Member]:
    """The parts that the next word of a path may name: those of the type, of its part, or of the data type of its
    part."""
    if not step:
        return list(view.members)
    parts: list[Member] = []
    for member in found:
        inner = catalogue.inner(member) if member.schema is not None else None
        parts += [*member.members, *(inner.members if inner is not None else ())]
    return parts


def _unknown_type(request: ExplainRequest, catalogue: Catalogue) -> Refused:
    named = f": `ordito explain --service SERVICE {request.words}`" if request.words else " with --service"
    note = "" if request.service else f"name the service that defines it{named}"
    hint = suggestion(request.words, catalogue.names(), note=note)
    what = f"{request.kind} type" if request.kind else "type"
    return Refused("unknown-type", f'no {what} is called "{request.words}"', hint)


def _unknown_member(catalogue: Catalogue, view: TypeView, path: tuple[str, ...]) -> Refused:
    for length in range(len(path)):
        found = _members(catalogue, view, path[:length])
        parts = _parts(catalogue, view, found, length)
        if not any(part.name == path[length] for part in parts):
            break
    owner = ".".join((view.name, *path[:length]))
    names = sorted({part.name for part in parts})
    hint = suggestion(path[length], names) or f"it has: {', '.join(names)}"
    return Refused("unknown-member", f'{owner} has no part "{path[length]}"', hint)
