"""Settings of Ordito: entries of metadata that begin with ``ordito.``, in node templates and node types.

A template's win over its type's, a type's over those that it derives from, and all of them over the command line.
They are the one exception to metadata changing nothing (§3.6.2): every other entry is only carried along.

| entry | value | meaning |
|---|---|---|
| ordito.priority | required, optional | whether what requires the node can do without it |
| ordito.attempts | 1 to 1000 | how often each operation is tried at most |
| ordito.interval | a time, or seconds | what lies between two attempts |
| ordito.protected | true, false | undeploying and upgrading leave it alone |
| ordito.data | kept, none | whether it keeps data that are lost with it, where its type does not say so |
| ordito.reach | a time, or seconds | how long is waited for it until it can be reached, if it is a Compute |
| ordito.ready | a time, or seconds | how long is waited for its checks to say ok, before what comes after it begins |
| ordito.concurrency | 1 to 10000 | how many operations run on it at one time, if it is a Compute |
| ordito.labels | zone=a, tier=web | which labels the host has that a Compute is given |
| ordito.resources | gpu=1 | how much it takes of the resources of that host |
| ordito.placement | spread, pack | whether its instances are on as many hosts as possible, or on as few |
| ordito.max_unavailable | 2, 100% | how many of its instances are changed at one time |
| ordito.undone_once | created, configured, started | how far a component is up again when a block is undone |
| ordito.<interface>.<operation>.priority, .attempts, .interval | as above | the same for one operation |

The interface is the node's, or that of a relationship whose operation runs in the chain of the node's instances.

In the metadata of the definition of a property, ``ordito.update`` says what its changes mean: ``replace`` that
instances are made anew, ``ignore`` nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

from ordito.base import allowable
from ordito.base.diagnostics import Diagnostics
from ordito.base.portion import Portion, portion_of
from ordito.base.scalar_units import NotAScalarUnit, amount, canonical
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.source.nodes import Mapping as Written
from ordito.source.nodes import Scalar
from ordito.source.scalars import decimal, integer

PREFIX = "ordito."
OPTIONAL = "optional"
REQUIRED = "required"
ATTEMPTS = range(1, 1001)
PLACES = range(1, 10_001)
LONGEST_INTERVAL = 86_400
KEPT, NO_DATA = "kept", "none"
SPREAD, PACK = "spread", "pack"
PLACEMENTS = (SPREAD, PACK)
CREATED, CONFIGURED, STARTED = "created", "configured", "started"
UNDONE_ONCE = (CREATED, CONFIGURED, STARTED)
"""Node states that a way up passes."""
MOST_RESOURCES = 1e15
LABEL = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]{0,62})\s*(?:=\s*([^,=\s](?:[^,=]*[^,=\s])?)\s*)?", re.ASCII)
"""A label or a resource as it is asked for."""


class OperationSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What holds for one operation: its priority ("required" or "optional"), how often it is tried at most, and the
    seconds between two attempts; None where nothing is said."""

    priority: str | None = None
    attempts: int | None = None
    interval: float | None = None

    @property
    def is_optional(self) -> bool:
        """Whether the job can do without it."""
        return self.priority == OPTIONAL


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the metadata of a node say to Ordito; None where they say nothing. ``labels``, ``resources`` and
    ``placement`` are what a Compute wants of the host that it is given. ``max_unavailable`` is how many instances are
    changed at one time, ``data`` whether they keep data, where that is said. ``undone_once`` is, of the type of a
    block, the node state to which a component has to come again before what the block did is undone. ``operations`` is
    what they say of single operations, by ``Interface.operation``."""

    priority: str | None = None
    attempts: int | None = None
    interval: float | None = None
    protected: bool = False
    data: str | None = None
    concurrency: int | None = None
    labels: Mapping[str, str] = {}
    resources: Mapping[str, float] = {}
    placement: str = SPREAD
    reach: int | None = None
    ready: float | None = None
    max_unavailable: Portion | None = None
    undone_once: str = STARTED
    operations: Mapping[str, OperationSettings] = {}

    @property
    def is_optional(self) -> bool:
        """Whether what requires the node can do without it."""
        return self.priority == OPTIONAL

    def of(self, operation: str) -> OperationSettings:
        """What holds for an ``Interface.operation``: what is said of it, else of the node. Only its own priority makes
        an operation optional: one of an optional node may be as necessary for the node as any other."""
        own = self.operations.get(operation, NOTHING_SAID)
        return OperationSettings(
            own.priority,
            own.attempts if own.attempts is not None else self.attempts,
            own.interval if own.interval is not None else self.interval,
        )


NOTHING_SAID = OperationSettings()
NO_SETTINGS = Settings()


class Setting(msgspec.Struct, frozen=True):
    """An entry as it is written."""

    text: str
    at: Span | None = None
    """Where its name stands."""


WrittenSettings = Mapping[str, Setting]


def read_settings(at: object, metadata: Mapping[str, Scalar] | None, diagnostics: Diagnostics) -> WrittenSettings:
    """The settings among the metadata of an entity that is written ``at`` a node; wrong ones are reported."""
    if not metadata:
        return {}
    found = {name: value for name, value in metadata.items() if name.startswith(PREFIX)}
    if not found:
        return found  # type: ignore[return-value]  # it is empty
    section = at.values.get("metadata") if isinstance(at, Written) else None
    places = {k.text: k.span for k in section.keys} if isinstance(section, Written) else {}
    settings: dict[str, Setting] = {}
    for name, value in found.items():
        place = places.get(name, value.span)
        if _check(name, value, place, diagnostics):
            settings[name] = Setting(value.text, place)
    return settings


def settings_of(written: WrittenSettings) -> Settings:
    """What entries that are sound mean, taken together."""
    if not written:
        return NO_SETTINGS
    operations: dict[str, dict[str, object]] = {}
    own: dict[str, object] = {}
    for name, setting in written.items():
        operation, _, key = name.removeprefix(PREFIX).rpartition(".")
        value = READERS[key](setting.text)
        (operations.setdefault(operation, {}) if operation else own)[key] = value
    made = {name: msgspec.convert(values, OperationSettings) for name, values in operations.items()}
    return msgspec.convert({**own, "operations": made}, Settings)


def check_operations(written: WrittenSettings, known: Iterable[str], diagnostics: Diagnostics) -> None:
    """Report settings for operations that there are not, among those that are ``known``, as ``Interface.operation``."""
    of_operations = {n: o for n in written if (o := n.removeprefix(PREFIX).rpartition(".")[0])}
    if not of_operations:
        return
    operations = dict.fromkeys(known)
    for name, operation in of_operations.items():
        if operation not in operations:
            key = name.rpartition(".")[2]
            near = [f"{PREFIX}{n}.{key}" for n in nearest(operation, operations)]
            diagnostics.error(
                "unknown-setting",
                f'"{name}" is a setting for the operation {operation}, which is not one of this node',
                written[name].at,
                hint=_did_you_mean(near) or "name the interface and the operation, as in ordito.Standard.start." + key,
            )


def read_allowed(metadata: Mapping[str, Scalar] | None, diagnostics: Diagnostics) -> frozenset[str]:
    """The findings with which the metadata of a service say to go on."""
    written = (metadata or {}).get(allowable.SETTING)
    codes = allowable.codes_in(written.text) if written is not None else ()
    if written is not None and (wrong := allowable.not_allowable(codes)):
        diagnostics.error("not-allowable", wrong, written.span, hint="`ordito explain CODE` says what a finding means")
    return allowable.EVERY.intersection(codes)


def refuse_settings(
    at: object, metadata: Mapping[str, Scalar] | None, what: str, diagnostics: Diagnostics, *, save: str = ""
) -> None:
    """Report settings in the metadata of what has none, ``save`` one."""
    section = at.values.get("metadata") if isinstance(at, Written) else None
    for name, value in (metadata or {}).items():
        if name.startswith(PREFIX) and name != save:
            place = section.key(name).span if isinstance(section, Written) else value.span
            diagnostics.error(
                "unknown-setting",
                f'"{name}" has no meaning for {what}',
                place,
                hint="settings stand in the metadata of node templates and node types",
            )


def plain_metadata(
    at: object, metadata: Mapping[str, Scalar] | None, what: str, diagnostics: Diagnostics
) -> dict[str, str]:
    """The metadata of what has no settings, as they are written."""
    refuse_settings(at, metadata, what, diagnostics)
    return {name: value.text for name, value in (metadata or {}).items()}


def _check(name: str, value: Scalar, place: Span, diagnostics: Diagnostics) -> bool:
    operation, _, key = name.removeprefix(PREFIX).rpartition(".")
    known = OF_OPERATIONS if operation else OF_NODES
    if key not in known or (operation and "." not in operation):
        lead = f"{PREFIX}{operation}." if "." in operation else PREFIX
        near = [lead + k for k in nearest(key, OF_OPERATIONS if "." in operation else OF_NODES)]
        diagnostics.error(
            "unknown-setting",
            f'no setting named "{name}"',
            place,
            hint=_did_you_mean(near)
            or "known: "
            + ", ".join(f"{PREFIX}{k}" for k in OF_NODES)
            + f", {PREFIX}<interface>.<operation>."
            + "|".join(OF_OPERATIONS),
        )
        return False
    if READERS[key](value.text) is None:
        near = nearest(value.text, WORDS.get(key, ()))
        diagnostics.error(
            "bad-value", f'"{name}" must be {MEANT[key]}, not "{value.text}"', value.span, hint=_did_you_mean(near)
        )
        return False
    return True


def _did_you_mean(near: list[str]) -> str:
    named = " or ".join(f'"{name}"' for name in near)
    return f"did you mean {named}?" if near else ""


def _priority(text: str) -> str | None:
    return text if text in {REQUIRED, OPTIONAL} else None


def _flag(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _within(numbers: range) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        number = integer(text)
        return number if number in numbers else None

    return read


def _seconds(text: str) -> float | None:
    try:
        written = text if any(c.isalpha() for c in text) else f"{text} s"
        seconds = float(amount(canonical(written, TIME), TIME))
    except NotAScalarUnit:
        return None
    return seconds if 0 <= seconds <= LONGEST_INTERVAL else None


def _data(text: str) -> str | None:
    return text if text in {KEPT, NO_DATA} else None


def _placement(text: str) -> str | None:
    return text if text in PLACEMENTS else None


def _undone_once(text: str) -> str | None:
    return text if text in UNDONE_ONCE else None


def _labels(text: str) -> dict[str, str] | None:
    """The names and values of ``name=value, name=value``; a name alone has the value "true"."""
    found: dict[str, str] = {}
    for part in text.split(","):
        match = LABEL.fullmatch(part)
        if match is None:
            return None
        found[match[1]] = match[2] if match[2] is not None else "true"
    return found


def _resources(text: str) -> dict[str, float] | None:
    """The names and amounts of ``name=amount, name=amount``."""
    amounts = {name: decimal(value) for name, value in (_labels(text) or {}).items()}
    sound = {name: amount for name, amount in amounts.items() if amount is not None and 0 < amount < MOST_RESOURCES}
    return sound if sound and len(sound) == len(amounts) else None


def _whole_seconds(text: str) -> int | None:
    seconds = _seconds(text)
    return None if seconds is None else max(1, round(seconds))


TIME = "scalar-unit.time"
READERS: Mapping[str, Callable[[str], object]] = {
    "priority": _priority,
    "attempts": _within(ATTEMPTS),
    "interval": _seconds,
    "protected": _flag,
    "data": _data,
    "concurrency": _within(PLACES),
    "labels": _labels,
    "resources": _resources,
    "placement": _placement,
    "reach": _whole_seconds,
    "ready": _seconds,
    "max_unavailable": portion_of,
    "undone_once": _undone_once,
}
"""What reads the value of each setting; None for one that is wrong."""
WORDS: Mapping[str, tuple[str, ...]] = {
    "priority": (REQUIRED, OPTIONAL),
    "data": (KEPT, NO_DATA),
    "placement": PLACEMENTS,
    "undone_once": UNDONE_ONCE,
}
OF_NODES = tuple(READERS)
OF_OPERATIONS = ("priority", "attempts", "interval")
MEANT = {
    "priority": f"{REQUIRED} or {OPTIONAL}",
    "attempts": f"a whole number from {ATTEMPTS[0]} to {ATTEMPTS[-1]}",
    "interval": 'a time of at most a day, such as "10 s"',
    "protected": "true or false",
    "data": f"{KEPT} or {NO_DATA}",
    "reach": 'a time of at most a day, such as "10 min"',
    "ready": 'a time of at most a day, such as "10 min"',
    "concurrency": f"a whole number from {PLACES[0]} to {PLACES[-1]}",
    "labels": 'names and values with commas, as in "zone=a, tier=web"',
    "resources": 'names and amounts with commas, as in "gpu=1"',
    "placement": f"{SPREAD} or {PACK}",
    "max_unavailable": "a whole number from 1, or a percentage from 1% to 100%",
    "undone_once": ", ".join(UNDONE_ONCE[:-1]) + f" or {STARTED}",
}

UPDATE = PREFIX + "update"
IGNORE, REPLACE = "ignore", "replace"
UPDATES = (IGNORE, REPLACE)
"""What the metadata of a property may say of its changes."""


def metadata_of_property(metadata: Mapping[str, Scalar] | None, what: str, diagnostics: Diagnostics) -> dict[str, str]:
    """The metadata of the definition of a property, as they are written; wrong settings among them are reported. Only
    a "property" has any (``what``)."""
    for name, value in (metadata or {}).items():
        if name.startswith(PREFIX) and (name != UPDATE or what != "property"):
            near = _did_you_mean(nearest(name, (UPDATE,))) if what == "property" else ""
            hint = near or f"properties may have {UPDATE}; other settings are those of node templates and node types"
            message = f'"{name}" has no meaning for the definition of a {what}'
            diagnostics.error("unknown-setting", message, value.span, hint=hint)
        elif name == UPDATE and value.text not in UPDATES:
            message = f'"{name}" must be {IGNORE} or {REPLACE}, not "{value.text}"'
            diagnostics.error("bad-value", message, value.span, hint=_did_you_mean(nearest(value.text, UPDATES)))
    return {name: value.text for name, value in (metadata or {}).items()}
