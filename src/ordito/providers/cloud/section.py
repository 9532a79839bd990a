"""The section ``cloud`` of the inventory: it is checked together with the inventory, and its values are looked up at
the first request to the cloud."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordito.base.sensitive import Sensitive, revealed
from ordito.providers.cloud.api import library
from ordito.providers.cloud.dialect import ANYWHERE
from ordito.providers.cloud.provider import CloudProvider
from ordito.providers.cloud.settings import PRIVATE, PUBLIC, CloudSettings, MachineImage
from ordito.providers.connection import CONNECTION, settings_among, values_of
from ordito.providers.shapes import (
    FLAG,
    LINES,
    PLAIN,
    SECONDS,
    TEXT,
    InventorySection,
    KnownEntries,
    ListOf,
    MapOf,
    NoValue,
    OneOf,
    ValueKind,
    whole,
)
from ordito.source.nodes import Mapping as MappingNode
from ordito.work.providing import ProviderFailed
from ordito.work.targets import Hands

OWN: Mapping[str, ValueKind] = {
    "driver": TEXT,
    "key": LINES,
    "secret": LINES,
    "arguments": MapOf(PLAIN),
    "image": TEXT,
    "images": ListOf(KnownEntries(image=TEXT, type=TEXT, distribution=TEXT, version=TEXT, architecture=TEXT)),
    "size": TEXT,
    "sizes": ListOf(TEXT),
    "zone": TEXT,
    "network": TEXT,
    "groups": ListOf(TEXT),
    "doors": FLAG,
    "admits": TEXT,
    "pool": TEXT,
    "key_pair": TEXT,
    "public_key": LINES,
    "address": OneOf(PRIVATE, PUBLIC),
    "reach": FLAG,
    "timeout": SECONDS,
    "request_timeout": SECONDS,
    "requests": whole(1, 64),
}
"""The settings of the cloud itself."""

REACHED_BY: Mapping[str, ValueKind] = {name: kind for name, kind in CONNECTION.items() if name != "address"}
"""How machines are reached: the settings of other hosts, without the address, which the cloud gives."""

SECTION = KnownEntries(**OWN, **REACHED_BY)
WHAT = 'the section "cloud"'
KEY_MARKS = ("ssh-", "ecdsa-", "sk-")


def make_provider(section: InventorySection, _: Hands) -> CloudProvider:
    """The provider of a section; errors in the section are reported."""
    known = section.check(section.node, SECTION, WHAT)
    values = known if isinstance(known, Mapping) else {}
    _check_driver(section, values)
    _check_images(section)
    _check_admits(section, values)
    return CloudProvider(lambda: _settings(section), reach=values.get("reach") is not False)


def _check_driver(section: InventorySection, values: Mapping[str, object]) -> None:
    node = section.entries.get("driver")
    place = section.node.span if section.node is not None else None
    if node is None:
        hint = "write for example `driver: EC2` (any compute driver of libcloud)"
        section.diagnostics.error("missing-keyname", f'{WHAT} has no "driver"', place, hint=hint)
        return
    try:
        drivers = library().drivers
    except ProviderFailed as missing:
        section.diagnostics.error("bad-value", str(missing), place)
        return
    driver = values.get("driver")
    if isinstance(driver, str) and driver.lower() not in drivers:
        section.diagnostics.unknown("bad-value", "driver of libcloud", driver, node.span, drivers)


def _check_images(section: InventorySection) -> None:
    """Report entries of ``images`` without ``image``."""
    images = section.entries.get("images")
    for one in getattr(images, "items", ()) if not isinstance(images, MappingNode) else ():
        if isinstance(one, MappingNode) and "image" not in one.values:
            section.diagnostics.error("missing-keyname", f'an entry of "images" of {WHAT} has no "image"', one.span)


def _check_admits(section: InventorySection, values: Mapping[str, object]) -> None:
    admits = values.get("admits")
    try:
        ipaddress.ip_network(str(admits or ANYWHERE))
    except ValueError as error:
        place = section.entries["admits"].span
        hint = "write for example 192.0.2.0/24"
        section.diagnostics.error(
            "bad-value", f'"admits" of {WHAT} is not a range of addresses: {error}', place, hint=hint
        )


def _settings(section: InventorySection) -> CloudSettings:
    """The present settings. Raises ``ProviderFailed``."""
    try:
        own = {
            name: section.value(node, OWN[name], f'"{name}" of {WHAT}')
            for name, node in section.entries.items()
            if name in OWN
        }
        nodes = settings_among([section.node, section.defaults])
        connection = values_of(section, {n: v for n, v in nodes.items() if n in REACHED_BY}, WHAT)
        public_key = _public_key(section, own.pop("public_key", None))
    except NoValue as problem:
        raise ProviderFailed(str(problem)) from problem
    given: dict[str, Any] = {name: value for name, value in own.items() if value is not None and name != "reach"}
    for name in ("key", "secret"):
        given[name] = Sensitive(revealed(given.get(name, "")))
    given["images"] = tuple(msgspec.convert(image, MachineImage) for image in given.get("images", ()))
    for name in ("sizes", "groups"):
        given[name] = tuple(given.get(name, ()))
    if own.get("reach") is False:
        given["admits"] = ""
    given["address"] = given.pop("address", PUBLIC)
    return CloudSettings(**given, public_key=public_key, connection=connection)


def _public_key(section: InventorySection, value: object) -> str:
    """The text of a public key: the written one, or that of the named file. Raises ``NoValue``."""
    text = str(revealed(value)) if value is not None else ""
    if not text or text.startswith(KEY_MARKS):
        return text.strip()
    file = Path(section.path(text))
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NoValue(f'the file "{text}" with a public key cannot be read: {error}') from error
