"""The pages about profiles: every type that comes with the program, with all that it declares itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.catalogue import ASKED, PLURALS, Catalogue, Member, TypeView, read_types
from ordito.source.bundled import PROFILE_SCHEME, PROFILES, profile_file
from ordito.source.package import Package
from ordito.source.tree import Folder
from tools.reference.markdown import MADE, cell, code, joined, table


class Profile(msgspec.Struct, frozen=True):
    """A profile with its page."""

    name: str
    title: str
    page: str
    about: str


SHOWN = (
    Profile(
        "tosca_simple_yaml_1_3",
        "The types of TOSCA",
        "profile-tosca.md",
        "These are the normative types of TOSCA Simple Profile in YAML 1.3, in the namespace"
        " `http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3`. They are there without an import, by their full names"
        " (`tosca.nodes.Compute`), their short ones (`Compute`), and those with the prefix `tosca:`.",
    ),
    Profile(
        "tosca_non_normative_1_3",
        "The non-normative types of TOSCA",
        "profile-non-normative.md",
        "These are the types of chapter 9 of the specification, which its examples use. They are there without an"
        " import, by their full names; a type of that name in a service takes their place.",
    ),
    Profile(
        "ordito",
        "The types of Ordito",
        "profile-ordito.md",
        "These are the types that Ordito adds to TOSCA. A template imports them: `imports: [ profile:ordito ]`. The"
        " blocks that come with the program are a profile of their own, `profile:blocks`, which"
        " [blocks](../blocks.md) describes.",
    ),
    Profile(
        "cloudify",
        "The types of Cloudify",
        "profile-cloudify.md",
        "These are the types of Cloudify's blueprints, as types of TOSCA. A template imports them:"
        " `imports: [ profile:cloudify ]`. What becomes of a blueprint is told by [the lifecycle](../lifecycle.md).",
    ),
)

INDEX = f"""\
# Profiles

This page is good for finding out which types there are, and how a template gets them. `ordito explain TYPE` tells the
same of one type in the terminal, with what it inherits.

{MADE}
"""
AFTER = """\
`ordito package` puts the profiles that a service imports into the archive, for orchestrators that do not have them.

Next: [the keynames and functions of the language](../functions.md), [how TOSCA is read](../decisions.md).
"""


def index() -> str:
    """The page that leads to the others."""
    return joined(_index())


def _index() -> Iterator[str]:
    yield INDEX
    rows = [
        (
            f"[{one.title}]({one.page})",
            code(f"{PROFILE_SCHEME}{one.name}"),
            str(sum(len(found) for found in _types(one.name).values())),
            one.about,
        )
        for one in SHOWN
    ]
    yield from table(("profile", "imported as", "types", ""), rows)
    yield AFTER


def document(page: str) -> str:
    """The page of one profile."""
    return joined(_lines(next(one for one in SHOWN if one.page == page)))


def _lines(profile: Profile) -> Iterator[str]:
    yield f"# {profile.title}"
    yield ""
    yield profile.about
    yield ""
    yield (
        "For each type there is what it declares or refines itself; what it inherits stands with the types that it is"
        " derived from."
    )
    yield ""
    yield MADE
    yield ""
    for kind, found in _types(profile.name).items():
        yield f"## {kind.capitalize()} types"
        yield ""
        for view in found:
            yield from _type(view, profile.page)
    yield "Next: [all profiles](profiles.md)."


@cache
def _types(name: str) -> Mapping[str, Sequence[TypeView]]:
    """The types that a profile defines, by kind."""
    file = profile_file(name)
    assert file is not None
    found = Diagnostics()
    types = read_types(Package(Folder(PROFILES), file, "types", ""), found)
    assert types is not None
    assert not found.has_errors
    catalogue, folder = Catalogue(types), f"{PROFILE_SCHEME}{name}/"
    views = {
        kind: [
            view
            for each, definition in types.units.names.definitions[kind].items()
            if definition.unit.file.startswith(folder) and (view := catalogue.find(kind, each)) is not None
        ]
        for kind in ASKED
    }
    return {kind: members for kind, members in views.items() if members}


@cache
def _pages() -> Mapping[str, str]:
    """The page of each type."""
    return {view.name: one.page for one in SHOWN for found in _types(one.name).values() for view in found}


def _named(name: str, page: str) -> str:
    """A type's name, which leads to where it is described."""
    there = _pages().get(name)
    if there is None:
        return code(name)
    return f"[`{name}`]({'' if there == page else there}#{re.sub(r'[^a-z0-9_-]', '', name.lower())})"


def _type(view: TypeView, page: str) -> Iterator[str]:
    yield f"### {view.name}"
    yield ""
    if view.description:
        yield " ".join(view.description.split())
        yield ""
    if view.kinds[1:]:
        yield f"Derived from {', '.join(_named(kind, page) for kind in view.kinds[1:])}."
        yield ""
    facts = [f"- {name.replace('_', ' ')}: {_value(v, page)}" for name, v in view.facts.items() if name != "metadata"]
    metadata = view.facts.get("metadata")
    if isinstance(metadata, dict) and "tosca.shorthand" in metadata:
        facts.insert(0, f"- short name: {code(metadata['tosca.shorthand'])}")
    if facts:
        yield from [*facts, ""]
    own = [member for member in view.members if any(origin.type == view.name for origin in member.origins)]
    for section in PLURALS:
        members = [member for member in own if member.section == section]
        if members:
            yield from table((section, "type", "more", "meaning"), list(_rows(members, page, view.name)))


def _rows(members: Sequence[Member], page: str, owner: str, before: str = "") -> Iterator[tuple[str, str, str, str]]:
    for member in members:
        yield f"`{before}{member.name}`", _kind(member, page), _facts(member, page), cell(member.description)
        below = [m for m in member.members if member.section != "capability" or _is_refined(m, owner)]
        yield from _rows(below, page, owner, f"{before}{member.name}.")


def _is_refined(member: Member, owner: str) -> bool:
    return any(origin.type == owner for origin in member.origins)


def _kind(member: Member, page: str) -> str:
    known = member.facts.get("type") or member.facts.get("capability") or ""
    words = str(known).split(" ")
    return " ".join(_named(word, page) if "." in word else word for word in words) or member.section


SAID = ("default", "value", "occurrences", "implementation", "file", "valid_source_types", "status", "outputs")
"""What is said of a part, in this order, besides its type and its constraints."""


def _facts(member: Member, page: str) -> str:
    facts = member.facts
    said = []
    if "required" in facts and not {"default", "value"} & facts.keys():
        said.append("required" if facts["required"] else "optional")
    said += [f"{name} {_named(str(facts[name]), page)}" for name in ("node", "relationship") if name in facts]
    said += [f"{name.replace('_', ' ')} {_value(facts[name], page)}" for name in SAID if name in facts]
    constraints, metadata = facts.get("constraints", []), facts.get("metadata", {})
    assert isinstance(constraints, list)
    assert isinstance(metadata, dict)
    said += [f"{name.replace('_', ' ')} {_value(value, page)}" for one in constraints for name, value in one.items()]
    return ", ".join([*said, *(["sensitive"] if metadata.get("sensitive") == "true" else [])])


def _value(value: object, page: str) -> str:
    if isinstance(value, list) and value and all(isinstance(each, str) and each in _pages() for each in value):
        return ", ".join(_named(each, page) for each in value)
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return code(f"[{', '.join(map(str, value))}]")
    return code(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
