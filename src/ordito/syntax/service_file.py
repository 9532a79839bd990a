"""Reading one file: from located nodes to a ``ServiceFile`` in the dialect that the file names."""

from __future__ import annotations

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.source.loader import Document
from ordito.source.nodes import Mapping, Scalar, is_null
from ordito.syntax.dialects import DIALECTS, LANGUAGE, PORTED, TOSCA_1_3
from ordito.syntax.grammar import Dialect, Reading, read_entity
from ordito.syntax.service_template import Lowered, ServiceFile

VERSION = "tosca_definitions_version"
NAMESPACE = "namespace"
RELATIVES = {
    "cloudify_dsl_": "this is a blueprint of Cloudify, whose types are in profile:cloudify",
    "tosca_2_0": "TOSCA 2.0 is a different language from 1.3",
    "aria_": "this is ARIA's own dialect, which differs little from TOSCA",
}
"""Beginnings of the versions of other languages, and what to say about each."""


def read_service_file(document: Document, diagnostics: Diagnostics) -> ServiceFile | None:
    """Read a service template file (§3.10); None, with the reason in ``diagnostics``, where the document is not one."""
    root = document.root
    if not isinstance(root, Mapping):
        diagnostics.error("wrong-form", f"a service template is a map, not {root.kind}", root.span)
        return None
    dialect = TOSCA_1_3
    version = root.values.get(VERSION)
    if isinstance(version, Scalar) and not is_null(version):
        if version.text in DIALECTS:
            dialect = DIALECTS[version.text]
            _check_order(root, diagnostics)
        elif version.line not in version.source.guessed:
            diagnostics.error(
                "unknown-version",
                f'"{version.text}" is not a version of TOSCA that can be read',
                version.span,
                hint=_meant_version(version.text),
            )
            return None
    ported = _ported(root, diagnostics)
    if ported is None:
        return read_entity(ServiceFile, root, Reading(diagnostics, dialect))
    content = read_entity(ServiceFile, root, Reading(diagnostics, ported.dialect))
    return msgspec.structs.replace(content, lowered=ported) if content is not None else None


def _ported(root: Mapping, diagnostics: Diagnostics) -> Lowered | None:
    """How a file is read that was written from one in another language; None for any other."""
    metadata = root.values.get("metadata")
    language = metadata.values.get(LANGUAGE) if isinstance(metadata, Mapping) else None
    if not isinstance(language, Scalar):
        return None
    if language.text not in PORTED:
        diagnostics.unknown("bad-value", "language", language.text, language.span, PORTED)
        return None
    dialect, normative = PORTED[language.text]
    return Lowered((), (), dialect, normative, language.text, is_shaped=True)


def _check_order(root: Mapping, diagnostics: Diagnostics) -> None:
    """The version comes first, and right behind it the namespace (§3.1.2, §3.2.1)."""
    names = [key.text for key in root.keys]
    if names[0] != VERSION:
        diagnostics.warning(
            "version-not-first", f'"{VERSION}" should be the first line', root.key(VERSION).span, hint="move it up"
        )
    elif NAMESPACE in names and names[1] != NAMESPACE:
        diagnostics.warning(
            "late-namespace",
            f'"{NAMESPACE}" should stand directly after "{VERSION}"',
            root.key(NAMESPACE).span,
            hint="move it up",
        )


def _meant_version(text: str) -> str:
    """A hint for a version that is not known: versions that look alike mean something else, so all are listed unless
    only the case differs or something stands behind a known one."""
    names = {name.casefold(): name for name in DIALECTS}
    found = next((name for low, name in names.items() if text.casefold().startswith(low)), "")
    relative = next((what for begin, what in RELATIVES.items() if text.startswith(begin)), "")
    if relative:
        return f"{relative}; {TOSCA_1_3.name} is read here"
    known = list(dict.fromkeys(dialect.name for dialect in DIALECTS.values()))
    return f'did you mean "{found}"?' if found else f"known here: {', '.join(known)}"


def dialect_of(file: ServiceFile) -> Dialect:
    """The version of TOSCA that a file is written in."""
    if file.lowered is not None:
        return file.lowered.dialect
    return DIALECTS.get(file.tosca_definitions_version.text, TOSCA_1_3)
