"""Rules for values of the normative data types, beyond the types of their fields (§5.3).

A rule gets a value whose fields have been read; fields that are known only at run time are calls, which rules ignore.
``DATA_RULES`` says which rules apply to a data type and all types derived from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from functools import partial

import msgspec

from ordito.base.json_schema import xml_problem
from ordito.base.timestamps import parse_timestamp
from ordito.model.schema import DataType
from ordito.syntax.expressions import Call, Value


class Broken(msgspec.Struct, frozen=True):
    """How a value breaks a rule."""

    code: str
    problem: str
    hint: str
    field: str = ""
    """The field that is at fault, "" for the value as a whole."""
    is_warning: bool = False
    known: Collection[str] = ()
    """Names that the value of the field may mean."""


DataRule = Callable[[Value], Broken | None]


def _known(value: Value, field: str) -> Value:
    """The value of a field; None where it has none, or one that is not known yet."""
    found = value.get(field) if isinstance(value, dict) else None
    return None if isinstance(found, Call) else found


def json_text(value: Value) -> Broken | None:
    """A json value is a text that holds one JSON document (R-5.3.2-1)."""
    try:
        json.loads(str(value), parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno} of it"
        return Broken("bad-value", f"it is not valid JSON: {error.msg} ({where})", JSON_HINT)
    except ValueError as error:
        return Broken("bad-value", f"it is not valid JSON: {error}", JSON_HINT)
    except RecursionError:
        return Broken("bad-value", "its JSON is nested too deeply", "make it flatter")
    return None


JSON_HINT = "write names and texts in double quotes, and no comma after the last entry"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def xml_text(value: Value) -> Broken | None:
    """An xml value is a text that holds one well-formed XML document (R-5.3.4-1)."""
    problem = xml_problem(str(value))
    if problem:
        return Broken("bad-value", problem, XML_HINT)
    return None


XML_HINT = "every tag is closed, one element holds all others, and entities are written out"


def token_fits_its_type(value: Value) -> Broken | None:
    """The token of a credential has the form of its token type (R-5.3.6-1)."""
    kind, token = _known(value, "token_type"), _known(value, "token")
    if not isinstance(kind, str):
        return None
    if kind not in TOKENS:
        problem = f'the token type "{kind}" is not known here, so its token is not checked'
        return Broken("unknown-token-type", problem, "", "token_type", is_warning=True, known=TOKENS)
    if isinstance(token, str):
        pattern, problem, hint = TOKENS[kind]
        if kind == "basic_auth" and _known(value, "user") is not None:
            return None  # the user stands apart, and the token is the password
        if not pattern.fullmatch(token):
            return Broken("bad-value", problem, hint, "token")
    return None


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


def interval_has_an_order(value: Value) -> Broken | None:
    """A time interval ends when it begins, or later; both ends belong to it (R-5.3.7-1)."""
    start, end = _known(value, "start_time"), _known(value, "end_time")
    if isinstance(start, str) and isinstance(end, str) and parse_timestamp(end) < parse_timestamp(start):
        problem = f"it ends ({end}) before it begins ({start})"
        return Broken("conflicting-values", problem, "swap start_time and end_time", "end_time")
    return None


def port_spec_names_a_port(value: Value) -> Broken | None:
    """A port specification has at least one of its four fields for ports (R-5.3.11-1)."""
    fields = value if isinstance(value, dict) else {}
    if not any(fields.get(name) is not None for name in PORT_FIELDS):
        return Broken("missing-value", "it names no port", f"give one of {', '.join(PORT_FIELDS)}")
    return None


def port_lies_in_its_range(side: str, value: Value) -> Broken | None:
    """A port is inside the range that is given with it (R-5.3.11-2)."""
    port, bounds = _known(value, side), _known(value, f"{side}_range")
    if not isinstance(port, int) or not isinstance(bounds, list) or any(isinstance(b, Call) for b in bounds):
        return None
    low, high = bounds
    if not isinstance(low, int) or port < low or (isinstance(high, int) and port > high):
        problem = f"{side} {port} is outside of {side}_range, {low} to {high}"
        return Broken("conflicting-values", problem, f"change {side} or {side}_range", side)
    return None


PORT_FIELDS = ("target", "target_range", "source", "source_range")
DATA_RULES: dict[str, tuple[DataRule, ...]] = {
    "tosca.datatypes.json": (json_text,),
    "tosca.datatypes.xml": (xml_text,),
    "tosca.datatypes.Credential": (token_fits_its_type,),
    "tosca.datatypes.TimeInterval": (interval_has_an_order,),
    "tosca.datatypes.network.PortSpec": (
        port_spec_names_a_port,
        partial(port_lies_in_its_range, "source"),
        partial(port_lies_in_its_range, "target"),
    ),
}
"""The rules of each data type; they hold for all that derive from it."""


def rules_of(data_type: DataType) -> tuple[DataRule, ...]:
    """The rules that hold for the values of a data type, its own and those of its ancestors."""
    return tuple(rule for kind in data_type.kinds for rule in DATA_RULES.get(kind, ()))
