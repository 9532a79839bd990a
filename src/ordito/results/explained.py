"""What words mean: codes, functions, entities and other words of the language; the result of ``ordito explain``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from ordito.authoring.keynames import KeynameView
from ordito.results.answer import ResultData

if TYPE_CHECKING:
    from ordito.authoring.explain_words import FunctionView, WordView
    from ordito.authoring.keynames import EntityView

TAG = "ordito.explain/1"


class CodeData(ResultData, frozen=True, tag=TAG):
    """The code of a finding or an error."""

    code: str
    severity: str
    title: str
    text: str
    """What it means."""

    command: str
    """What it means where a command says it, "" if that is the same."""

    mend: str
    """What to do about it."""

    sections: tuple[str, ...]
    """The sections of the specification that it is about."""

    example: Mapping[str, str]
    """Documents that show it, by file."""

    mended: Mapping[str, str]
    """The same without it."""


class FunctionData(ResultData, frozen=True, tag=TAG):
    """A function of the language."""

    name: str
    description: str
    usage: tuple[str, ...]
    """How it is written."""

    gives: str
    """The type of its result, "" if that depends on what it names."""

    notes: tuple[str, ...]


class WordData(ResultData, frozen=True, tag=TAG):
    """Another word of the language, or a setting."""

    name: str
    kind: str
    description: str
    usage: str
    """How it is written, "" if the description says so."""

    places: tuple[tuple[str, str], ...]
    """For a keyname, the entities that have it, each with its value."""


class EntityData(ResultData, frozen=True, tag=TAG):
    """An entity of the language, with its keynames."""

    name: str
    description: str
    short: str
    """The keyname that a single value in its place sets, "" if it has no short form."""

    keynames: tuple[KeynameView, ...]


def function_data(found: FunctionView) -> FunctionData:
    """A function."""
    return msgspec.convert({"format": TAG, **msgspec.structs.asdict(found)}, FunctionData)


def word_data(found: WordView) -> WordData:
    """A word."""
    return msgspec.convert({"format": TAG, **msgspec.structs.asdict(found)}, WordData)


def entity_data(found: EntityView) -> EntityData:
    """An entity."""
    return EntityData(found.name, found.description, found.short, found.keynames)
