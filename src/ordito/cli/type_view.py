"""A type, or a part of one, for people."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping

from ordito.cli.channel import Channel
from ordito.cli.text_width import printable
from ordito.results.explained_type import OriginData, PartData, TypeData, TypePartsData, facts_of, sections_of

MOST_WIDTH = 110


def write_explained(found: TypeData | TypePartsData, channel: Channel) -> None:
    """Write what was found."""
    if isinstance(found, TypePartsData):
        owner = ".".join((found.type, *found.path))
        for number, part in enumerate(found.parts):
            if number:
                channel.line()
            channel.line(f"{channel.paint('strong', owner)}: {part.section} of the {found.kind} type {found.type}")
            for line in _body(part, "  ", channel):
                channel.line(line)
    else:
        for line in _type(found, channel):
            channel.line(line)
    if found.others:
        channel.line()
        channel.line(f"The name also means the {' and the '.join(found.others)}; say which one with --kind.")


def _type(found: TypeData, channel: Channel) -> Iterator[str]:
    place = f"  {channel.paint('place', found.declared)}" if found.declared is not None else ""
    yield f"{found.kind} type {channel.paint('strong', found.name)}{place}"
    if found.derived_from:
        yield f"  derived from {' < '.join(found.derived_from)}"
    yield from _wrapped(found.description, "  ", channel)
    yield from _facts(facts_of(found), "  ")
    yield from _parts(found, "", channel)


def _parts(found: TypeData | PartData, indent: str, channel: Channel) -> Iterator[str]:
    for section, parts in sections_of(found).items():
        if not indent:
            yield ""
        yield f"{indent}{channel.paint('strong', section)}:"
        for part in parts.values():
            yield f"{indent}  {channel.paint('good', printable(part.name))}{_headline(part)}"
            yield from _body(part, f"{indent}    ", channel, brief=True)


def _headline(part: PartData) -> str:
    """The most important facts of a part, in a few words."""
    facts = facts_of(part)
    said = [str(facts[name]) for name in ("type", "capability") if name in facts]
    said += [f"{word} {facts[name]}" for name, word in (("node", "of"), ("relationship", "by")) if name in facts]
    if facts.get("required") and not {"default", "value"} & facts.keys():
        said.append("required")
    named = ("default", "value", "occurrences", "implementation", "file")
    said += [f"{name} {_short(facts[name])}" for name in named if name in facts]
    return f"  {', '.join(said)}" if said else ""


SHOWN = frozenset({"type", "capability", "node", "relationship", "required", "default", "value", "occurrences"})
"""The facts that the headline shows."""


def _body(part: PartData, indent: str, channel: Channel, *, brief: bool = False) -> Iterator[str]:
    yield from _wrapped(part.description, indent, channel)
    shown = SHOWN | {"implementation", "file"} if brief else frozenset()
    yield from _facts({n: v for n, v in facts_of(part).items() if n not in shown}, indent)
    for number, origin in enumerate(part.origins):
        yield _origin(origin, "refined" if number else "declared", indent, channel)
    yield from _parts(part, indent, channel)


def _origin(origin: OriginData, verb: str, indent: str, channel: Channel) -> str:
    place = channel.paint("place", origin.place) if origin.place is not None else ""
    by = f"{verb} in {origin.type}" if origin.type is not None else verb
    return f"{indent}{channel.paint('faint', by)} {place}".rstrip()


def _facts(facts: Mapping[str, object], indent: str) -> Iterator[str]:
    for name, value in facts.items():
        yield f"{indent}{name}: {_short(value)}"


def _short(value: object) -> str:
    if isinstance(value, str):
        return printable(value)
    return printable(json.dumps(value, ensure_ascii=False))


def _wrapped(text: str, indent: str, channel: Channel) -> Iterator[str]:
    width = min(channel.width, MOST_WIDTH)
    for line in textwrap.wrap(printable(" ".join(text.split())), max(width - len(indent), 40)):
        yield f"{indent}{line}"
