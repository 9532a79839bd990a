"""What the normative data types mean beyond the types of their fields (§5.3): rules that a value must keep.

A rule sees a value whose fields have been read; fields that only the running system knows are calls, and no rule speaks
of these. ``DATA_RULES`` says which rules hold for a data type and everything derived from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.json_schema import xml_problem
from ordito.base.span import Placed, Span
from ordito.base.timestamps import parse_timestamp
from ordito.model.schema import DataType
from ordito.source.nodes import Mapping
from ordito.syntax.expressions import Call, Value


class Subject(msgspec.Struct, frozen=True):
    """A value as its rules see it: what it is called in messages, where it stands, and where findings go."""

    value: Value
    what: str
    place: Placed
    diagnostics: Diagnostics

    def known(self, field: str) -> Value:
        """The value of a field; None where it has none, or one that is not known yet."""
        found = self.value.get(field) if isinstance(self.value, dict) else None
        return None if isinstance(found, Call) else found

    def at(self, field: str) -> Span:
        """Where a field stands, or the whole value where the field is not written."""
        written = self.place.values.get(field) if isinstance(self.place, Mapping) else None
        return written.span if written is not None else self.place.span

    def error(self, code: str, message: str, span: Span, hint: str) -> None:
        """Report that the value breaks a rule."""
        self.diagnostics.error(code, f"{self.what}: {message}", span, hint=hint)


DataRule = Callable[[Subject], None]


def json_text(subject: Subject) -> None:
    """A json value is a text that holds one JSON document (R-5.3.2-1)."""
    try:
        json.loads(str(subject.value), parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno} of it"
        subject.error("bad-value", f"it is not valid JSON: {error.msg} ({where})", subject.place.span, JSON_HINT)
    except ValueError as error:
        subject.error("bad-value", f"it is not valid JSON: {error}", subject.place.span, JSON_HINT)
    except RecursionError:
        subject.error("bad-value", "its JSON is nested too deeply", subject.place.span, "make it flatter")


JSON_HINT = "names and texts stand in double quotes, and no comma behind the last entry"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def xml_text(subject: Subject) -> None:
    """An xml value is a text that holds one well-formed XML document (R-5.3.4-1)."""
    problem = xml_problem(str(subject.value))
    if problem:
        subject.error("bad-value", problem, subject.place.span, XML_HINT)


XML_HINT = "every tag is closed, one element holds all others, and entities are written out"


def token_fits_its_type(subject: Subject) -> None:
    """What the token of a credential looks like follows from its token type (R-5.3.6-1)."""
    kind, token = subject.known("token_type"), subject.known("token")
    if not isinstance(kind, str):
        return
    if kind not in TOKENS:
        subject.diagnostics.warning(
            "unknown-token-type",
            f'{subject.what}: the token type "{kind}" is not known here, so its token is not checked',
            subject.at("token_type"),
            hint=subject.diagnostics.suggestion(kind, TOKENS),
        )
    elif isinstance(token, str):
        pattern, problem, hint = TOKENS[kind]
        if kind == "basic_auth" and subject.known("user") is not None:
            return  # the user stands apart, and the token is the password
        if not pattern.fullmatch(token):
            subject.error("bad-value", problem, subject.at("token"), hint)


_OPAQUE = re.compile(r"[^\s\x00-\x1f\x7f]+"), "the token is empty or holds blanks", "give it as it was issued"
TOKENS = {
    "password": (re.compile(".*", re.DOTALL), "", ""),
    "basic_auth": (
        re.compile(r"[^:\n]+:.*"),
        "a basic_auth token is a user and a password with a colon between them",
        "write user:password, not encoded",
    ),
    "X-Auth-Token": _OPAQUE,
    "bearer": _OPAQUE,
    "identifier": _OPAQUE,
}
"""The types of tokens that are understood: what a token looks like, what is wrong with others, and what to do."""


def interval_has_an_order(subject: Subject) -> None:
    """A time interval ends when it begins, or later; both ends belong to it (R-5.3.7-1)."""
    start, end = subject.known("start_time"), subject.known("end_time")
    if isinstance(start, str) and isinstance(end, str) and parse_timestamp(end) < parse_timestamp(start):
        problem = f"it ends ({end}) before it begins ({start})"
        subject.error("conflicting-values", problem, subject.at("end_time"), "swap start_time and end_time")


def port_spec_names_a_port(subject: Subject) -> None:
    """A port specification has at least one of its four fields for ports (R-5.3.11-1)."""
    fields = subject.value if isinstance(subject.value, dict) else {}
    if not any(fields.get(name) is not None for name in PORT_FIELDS):
        problem = "it names no port"
        subject.error("missing-value", problem, subject.place.span, f"give one of {', '.join(PORT_FIELDS)}")


def port_lies_in_its_range(subject: Subject) -> None:
    """A port lies in the range that is given with it, source and target each (R-5.3.11-2)."""
    for side in ("source", "target"):
        port, bounds = subject.known(side), subject.known(f"{side}_range")
        if not isinstance(port, int) or not isinstance(bounds, list) or any(isinstance(b, Call) for b in bounds):
            continue
        low, high = bounds
        inside = isinstance(low, int) and port >= low and (not isinstance(high, int) or port <= high)
        if not inside:
            problem = f"{side} {port} is outside of {side}_range, {low} to {high}"
            subject.error("conflicting-values", problem, subject.at(side), f"change {side} or {side}_range")


PORT_FIELDS = ("target", "target_range", "source", "source_range")
DATA_RULES: dict[str, tuple[DataRule, ...]] = {
    "tosca.datatypes.json": (json_text,),
    "tosca.datatypes.xml": (xml_text,),
    "tosca.datatypes.Credential": (token_fits_its_type,),
    "tosca.datatypes.TimeInterval": (interval_has_an_order,),
    "tosca.datatypes.network.PortSpec": (port_spec_names_a_port, port_lies_in_its_range),
}
"""The rules of each data type; they hold for all that derive from it."""


def rules_of(data_type: DataType) -> tuple[DataRule, ...]:
    """The rules that hold for the values of a data type, its own and those of its ancestors."""
    return tuple(rule for kind in data_type.kinds for rule in DATA_RULES.get(kind, ()))
