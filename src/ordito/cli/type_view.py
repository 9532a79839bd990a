"""A type, or a part of one, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from ordito.authoring.explain import Explained
from ordito.cli.channel import Channel
from ordito.cli.text_width import printable
from ordito.model.catalogue import PLURALS, Member, Origin, TypeView

MOST_WIDTH = 110


def explained_data(found: Explained) -> dict[str, object]:
    """The explanation as plain data: the whole type, or the wanted parts."""
    if not found.path:
        return type_data(found.type)
    members = [{"section": m.section, **member_data(m)} for m in found.members]
    return {"kind": found.type.kind, "type": found.type.name, "path": list(found.path), "parts": members}


def type_data(view: TypeView) -> dict[str, object]:
    """A type as plain data: ``{kind, name, derived_from: [...], description, declared, <facts>, <sections>}``."""
    return {
        "kind": view.kind,
        "name": view.name,
        "derived_from": list(view.kinds[1:]),
        "description": view.description,
        "declared": str(view.span) if view.span is not None else None,
        **view.facts,
        **_sections(view.members),
    }


def member_data(member: Member) -> dict[str, object]:
    """A part as plain data; ``origins`` are the types that declare and refine it."""
    data: dict[str, object] = {"name": member.name, "description": member.description, **member.facts}
    data["origins"] = [{"type": o.type or None, "place": str(o.span) if o.span else None} for o in member.origins]
    return {**data, **_sections(member.members)}


def _sections(members: Sequence[Member]) -> dict[str, object]:
    found: dict[str, dict[str, object]] = {}
    for member in members:
        found.setdefault(PLURALS[member.section], {})[member.name] = member_data(member)
    return dict(found)


# ------------------------------------------------------------------------------------------------- for people


def write_explained(found: Explained, channel: Channel) -> None:
    """Write what was found."""
    view = found.type
    if found.path:
        for number, member in enumerate(found.members):
            if number:
                channel.line()
            owner = ".".join((view.name, *found.path))
            channel.line(f"{channel.paint('strong', owner)}: {member.section} of the {view.kind} type {view.name}")
            for line in _body(member, "  ", channel):
                channel.line(line)
    else:
        for line in _type(view, channel):
            channel.line(line)
    if found.others:
        channel.line()
        channel.line(f"The name also means the {' and the '.join(found.others)}; say which one with --kind.")


def _type(view: TypeView, channel: Channel) -> Iterator[str]:
    place = f"  {channel.paint('place', str(view.span))}" if view.span is not None else ""
    yield f"{view.kind} type {channel.paint('strong', view.name)}{place}"
    if len(view.kinds) > 1:
        yield f"  derived from {' < '.join(view.kinds[1:])}"
    yield from _wrapped(view.description, "  ", channel)
    yield from _facts(view.facts, "  ")
    yield from _parts(view.members, "", channel)


def _parts(members: Sequence[Member], indent: str, channel: Channel) -> Iterator[str]:
    for section, group in groupby(members, key=lambda m: m.section):
        if not indent:
            yield ""
        yield f"{indent}{channel.paint('strong', PLURALS[section])}:"
        for member in group:
            yield f"{indent}  {channel.paint('good', printable(member.name))}{_headline(member)}"
            yield from _body(member, f"{indent}    ", channel, brief=True)


def _headline(member: Member) -> str:
    """The most important facts of a part, in a few words."""
    facts = member.facts
    said = [str(facts[name]) for name in ("type", "capability") if name in facts]
    said += [f"{word} {facts[name]}" for name, word in (("node", "of"), ("relationship", "by")) if name in facts]
    if facts.get("required") and not {"default", "value"} & facts.keys():
        said.append("required")
    named = ("default", "value", "occurrences", "implementation", "file")
    said += [f"{name} {_short(facts[name])}" for name in named if name in facts]
    return f"  {', '.join(said)}" if said else ""


SHOWN = frozenset({"type", "capability", "node", "relationship", "required", "default", "value", "occurrences"})
"""The facts that the headline shows."""


def _body(member: Member, indent: str, channel: Channel, *, brief: bool = False) -> Iterator[str]:
    yield from _wrapped(member.description, indent, channel)
    shown = SHOWN | {"implementation", "file"} if brief else frozenset()
    yield from _facts({n: v for n, v in member.facts.items() if n not in shown}, indent)
    for number, origin in enumerate(member.origins):
        yield _origin(origin, "refined" if number else "declared", indent, channel)
    yield from _parts(member.members, indent, channel)


def _origin(origin: Origin, verb: str, indent: str, channel: Channel) -> str:
    place = channel.paint("place", str(origin.span)) if origin.span is not None else ""
    by = f"{verb} in {origin.type}" if origin.type else verb
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
