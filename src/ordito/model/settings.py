"""Settings of Ordito: entries of metadata that begin with ``ordito.``, in node templates and node types.

Those of a template take precedence over those of its type, those of a type over those of its parent types, and all of
them over the command line. All other metadata has no effect (§3.6.2).

``KNOWN`` is the table of them. Those of single operations are written ``ordito.<interface>.<operation>.attempts``; the
interface is the node's, or that of a relationship whose operation runs in the chain of the node's instances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

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
AGAIN, FAIL = "again", "fail"
WAIT, ASSUME_ENDED = "wait", "assume-ended"
SPREAD, PACK = "spread", "pack"
PLACEMENTS = (SPREAD, PACK)
ALONE, WITH_HOST = "alone", "host"
CREATED, CONFIGURED, STARTED = "created", "configured", "started"
UNDONE_ONCE = (CREATED, CONFIGURED, STARTED)
"""Node states that a way up passes."""
MOST_RESOURCES = 1e15
LABEL = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]{0,62})\s*(?:=\s*([^,=\s](?:[^,=]*[^,=\s])?)\s*)?", re.ASCII)
"""The text of a label or a resource."""


class OperationSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings of one operation, None where they are not set."""

    priority: str | None = None
    """"required" or "optional"."""
    attempts: int | None = None
    """How often it is tried at most."""
    interval: float | None = None
    """The seconds between two attempts."""
    timeouts: str | None = None
    """Whether one that took too long is tried again."""
    in_doubt: str | None = None
    """What is done where the machine is silent on which it ran when its job was interrupted."""

    @property
    def is_optional(self) -> bool:
        """Whether the job can do without it."""
        return self.priority == OPTIONAL


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings in the metadata of a node, None where they are not set."""

    priority: str | None = None
    attempts: int | None = None
    interval: float | None = None
    timeouts: str | None = None
    in_doubt: str | None = None
    protected: bool = False
    data: str | None = None
    """Whether its instances keep data."""
    concurrency: int | None = None
    labels: Mapping[str, str] = {}
    """The labels that a Compute requires of its host; ``resources`` and ``placement`` are requirements for the host,
    too."""
    resources: Mapping[str, float] = {}
    placement: str = SPREAD
    reach: int | None = None
    ready: float | None = None
    max_unavailable: Portion | None = None
    """How many instances are changed at one time."""
    undone_once: str = STARTED
    """In the type of a block: the node state that a component must reach again before the block is undone."""
    scale: str = WITH_HOST
    """Whether the node alone is scaled, or the Compute that hosts it."""
    operations: Mapping[str, OperationSettings] = {}
    """Settings of single operations, by ``Interface.operation``."""

    @property
    def is_optional(self) -> bool:
        """Whether what requires the node can do without it."""
        return self.priority == OPTIONAL

    def of(self, operation: str) -> OperationSettings:
        """The settings of an ``Interface.operation``: its own, or else those of the node. Only its own priority makes
        an operation optional: an operation of an optional node may still be necessary for that node."""
        own = self.operations.get(operation, NOTHING_SAID)
        return OperationSettings(
            own.priority,
            own.attempts if own.attempts is not None else self.attempts,
            own.interval if own.interval is not None else self.interval,
            own.timeouts or self.timeouts,
            own.in_doubt or self.in_doubt,
        )


NOTHING_SAID = OperationSettings()
NO_SETTINGS = Settings()


class Setting(msgspec.Struct, frozen=True):
    """An entry as it is written."""

    text: str
    at: Span | None = None
    """The place of its name."""


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
    """The settings from entries that have no faults."""
    if not written:
        return NO_SETTINGS
    operations: dict[str, dict[str, object]] = {}
    own: dict[str, object] = {}
    for name, setting in written.items():
        operation, _, key = name.removeprefix(PREFIX).rpartition(".")
        value = KNOWN[key].read(setting.text)
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
    at: object,
    metadata: Mapping[str, Scalar] | None,
    what: str,
    diagnostics: Diagnostics,
    *,
    save: Collection[str] = (),
) -> None:
    """Report settings in metadata where none are allowed, except those named ``save``."""
    section = at.values.get("metadata") if isinstance(at, Written) else None
    for name, value in (metadata or {}).items():
        if name.startswith(PREFIX) and name not in save:
            place = section.key(name).span if isinstance(section, Written) else value.span
            diagnostics.error(
                "unknown-setting",
                f'"{name}" has no meaning for {what}',
                place,
                hint="settings belong in the metadata of node templates and node types",
            )


def plain_metadata(
    at: object, metadata: Mapping[str, Scalar] | None, what: str, diagnostics: Diagnostics
) -> dict[str, str]:
    """The metadata of something that has no settings, as it is written."""
    refuse_settings(at, metadata, what, diagnostics)
    return {name: value.text for name, value in (metadata or {}).items()}


def _check(name: str, value: Scalar, place: Span, diagnostics: Diagnostics) -> bool:
    operation, _, key = name.removeprefix(PREFIX).rpartition(".")
    known = OF_OPERATIONS if operation else KNOWN
    if key not in known or (operation and "." not in operation):
        lead = f"{PREFIX}{operation}." if "." in operation else PREFIX
        near = [lead + k for k in nearest(key, OF_OPERATIONS if "." in operation else KNOWN)]
        diagnostics.error(
            "unknown-setting",
            f'no setting named "{name}"',
            place,
            hint=_did_you_mean(near)
            or "known: "
            + ", ".join(f"{PREFIX}{k}" for k in KNOWN)
            + f", {PREFIX}<interface>.<operation>."
            + "|".join(OF_OPERATIONS),
        )
        return False
    if KNOWN[key].read(value.text) is None:
        near = nearest(value.text, KNOWN[key].words)
        diagnostics.error(
            "bad-value",
            f'"{name}" must be {KNOWN[key].value}, not "{value.text}"',
            value.span,
            hint=_did_you_mean(near),
        )
        return False
    return True


def _did_you_mean(near: list[str]) -> str:
    named = " or ".join(f'"{name}"' for name in near)
    return f"did you mean {named}?" if near else ""


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


class Kind(msgspec.Struct, frozen=True):
    """A kind of setting."""

    read: Callable[[str], object]
    """Reads a value, None for a wrong one."""
    value: str
    """What a value must be, in words."""
    meaning: str
    """What it means."""
    words: tuple[str, ...] = ()
    """The only words that its value may be."""
    of_operations: bool = False
    """Whether single operations have it, too."""


def _word(*words: str) -> Callable[[str], str | None]:
    return lambda text: text if text in words else None


A_TIME = 'a time of at most a day, such as "10 s"'

KNOWN: Mapping[str, Kind] = {
    "priority": Kind(
        _word(REQUIRED, OPTIONAL),
        f"{REQUIRED} or {OPTIONAL}",
        "Whether what requires the node can do without it, and the job without the operation.",
        (REQUIRED, OPTIONAL),
        of_operations=True,
    ),
    "attempts": Kind(
        _within(ATTEMPTS),
        f"a whole number from {ATTEMPTS[0]} to {ATTEMPTS[-1]}",
        "How often each operation is tried at most.",
        of_operations=True,
    ),
    "interval": Kind(_seconds, A_TIME, "The time between two attempts.", of_operations=True),
    "timeouts": Kind(
        _word(AGAIN, FAIL),
        f"{AGAIN} or {FAIL}",
        "Whether an operation that took too long is tried again, or has failed for good.",
        (AGAIN, FAIL),
        of_operations=True,
    ),
    "in_doubt": Kind(
        _word(WAIT, ASSUME_ENDED),
        f"{WAIT} or {ASSUME_ENDED}",
        "In a store: whether an operation that ran on a worker's machine, which is silent, is waited for, or counts as"
        " ended, so that it runs again, if that worker ran under its guard.",
        (WAIT, ASSUME_ENDED),
        of_operations=True,
    ),
    "protected": Kind(_flag, "true or false", "Undeploying and upgrading leave it alone."),
    "data": Kind(
        _word(KEPT, NO_DATA),
        f"{KEPT} or {NO_DATA}",
        "Whether it keeps data that are lost with it, where its type does not say so.",
        (KEPT, NO_DATA),
    ),
    "concurrency": Kind(
        _within(PLACES),
        f"a whole number from {PLACES[0]} to {PLACES[-1]}",
        "How many operations run on it at one time, if it is a Compute.",
    ),
    "labels": Kind(
        _labels,
        'names and values with commas, as in "zone=a, tier=web"',
        "Which labels the host has that a Compute is given.",
    ),
    "resources": Kind(
        _resources,
        'names and amounts with commas, as in "gpu=1"',
        "How much a Compute takes of the resources of the host that it is given.",
    ),
    "placement": Kind(
        _word(*PLACEMENTS),
        f"{SPREAD} or {PACK}",
        "Whether its instances are on as many hosts as possible, or on as few.",
        PLACEMENTS,
    ),
    "reach": Kind(
        _whole_seconds,
        'a time of at most a day, such as "10 min"',
        "How long is waited for it until it can be reached, if it is a Compute.",
    ),
    "ready": Kind(
        _seconds,
        'a time of at most a day, such as "10 min"',
        "How long is waited for its checks to say ok, before what comes after it begins.",
    ),
    "max_unavailable": Kind(
        portion_of,
        "a whole number from 1, or a percentage from 1% to 100%",
        "How many of its instances are changed at one time; 100% takes all of them at once.",
    ),
    "undone_once": Kind(
        _word(*UNDONE_ONCE),
        ", ".join(UNDONE_ONCE[:-1]) + f" or {STARTED}",
        "In the node type of a block: the state that a component must reach again before the block is undone.",
        UNDONE_ONCE,
    ),
    "scale": Kind(
        _word(ALONE, WITH_HOST),
        f"{ALONE} or {WITH_HOST}",
        "Whether scaling the node makes more of it alone, on its hosts, or more of the Compute that hosts it.",
        (ALONE, WITH_HOST),
    ),
}
"""The settings of nodes and of operations, by their names without ``ordito.``."""
OF_OPERATIONS = tuple(name for name, kind in KNOWN.items() if kind.of_operations)

UPDATE = PREFIX + "update"
IGNORE, REPLACE = "ignore", "replace"
UPDATES = (IGNORE, REPLACE)
"""The values of the setting for changes of a property."""

ELSEWHERE: Mapping[str, Kind] = {
    UPDATE: Kind(
        _word(*UPDATES),
        f"{IGNORE} or {REPLACE}",
        "In the metadata of the definition of a property: what its changes mean. replace replaces instances,"
        " ignore does nothing.",
        UPDATES,
    ),
    allowable.SETTING: Kind(
        allowable.codes_in,
        f"codes with commas between them: {', '.join(allowable.ALLOWABLE)}",
        "In the metadata of a whole service: the errors that it allows, which become warnings.",
    ),
}
"""The settings outside of nodes, by their full names, and where they are written."""


SECRET = "ordito.secret"
"""The metadata of an input that is a secret of this name where nobody gives it another value."""


OUTPUT = "ordito.output"
"""The metadata of an input that is an output of another service where nobody gives it another value: the name of the
service, or ``@`` and the input that names it, and that of the output."""

OF_INPUTS = frozenset({SECRET, OUTPUT})


def metadata_of_property(metadata: Mapping[str, Scalar] | None, what: str, diagnostics: Diagnostics) -> dict[str, str]:
    """The metadata of the definition of a property, as they are written; wrong settings among them are reported. Only
    a "property" has any (``what``)."""
    for name, value in (metadata or {}).items():
        if name in OF_INPUTS and what == "input":
            continue
        if name.startswith(PREFIX) and (name != UPDATE or what != "property"):
            near = _did_you_mean(nearest(name, (UPDATE,))) if what == "property" else ""
            hint = near or f"properties may have {UPDATE}; other settings are those of node templates and node types"
            message = f'"{name}" has no meaning for the definition of a {what}'
            diagnostics.error("unknown-setting", message, value.span, hint=hint)
        elif name == UPDATE and value.text not in UPDATES:
            message = f'"{name}" must be {IGNORE} or {REPLACE}, not "{value.text}"'
            diagnostics.error("bad-value", message, value.span, hint=_did_you_mean(nearest(value.text, UPDATES)))
    return {name: value.text for name, value in (metadata or {}).items()}
