"""Outputs of operations as attribute values: of the declared type, and put where the mapping says (§3.6.15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ordito.base.sensitive import Sensitive, is_sensitive, revealed
from ordito.model.checking import misfit
from ordito.model.schema import DataType, Schema


class WrongValue(Exception):
    """An output does not fit the attribute it is mapped to; the text says why."""


def typed(value: object, schema: Schema | None, data_types: Mapping[str, DataType]) -> object:
    """An output as a value of a type: texts, which is what shells give, are read as the type asks.

    Simple types are checked, of lists and maps whether they are one. Raises ``WrongValue``.
    """
    if schema is None:
        return value
    declared = data_types.get(schema.type)
    base = declared.base if declared and declared.base else schema.type
    reader = READERS.get("map" if declared and not declared.base else base)
    return value if reader is None else reader(value)


def fitted(value: object, schema: Schema | None, data_types: Mapping[str, DataType]) -> object:
    """As ``typed``, for values that may be sensitive: as a whole, or in parts. Nothing of them is said."""
    if not is_sensitive(value):
        return typed(value, schema, data_types)
    try:
        plain = typed(revealed(value), schema, data_types)
    except WrongValue:
        raise WrongValue("it is not what is declared (the value is not shown, since it is sensitive)") from None
    return Sensitive(plain) if isinstance(value, Sensitive) else value


def fitting(value: object, schema: Schema, data_types: Mapping[str, DataType]) -> object:
    """As ``fitted``, held to all that the schema says. Raises ``WrongValue``."""
    found = fitted(value, schema, data_types)
    if wrong := misfit(found, schema, "it", data_types):
        raise WrongValue(wrong)
    return found


def placed(current: object, path: Sequence[str | int], value: object) -> object:
    """A value with ``value`` put at the place inside it to which names and indexes lead; everything else is kept.

    Maps are made where there is nothing yet, and one more entry may be added at the end of a list. Raises
    ``WrongValue``.
    """
    if not path:
        return value
    root: list[object] = [_opened(current, path[0])]
    holder: object = root
    at: str | int = 0
    for place in path:
        inner = _opened(_get(holder, at), place)
        _set(holder, at, inner)
        holder, at = inner, place
    _set(holder, at, value)
    return root[0]


def _opened(current: object, place: str | int) -> object:
    """A copy of a container into which something is put at a place."""
    if isinstance(current, list):
        return list(current)
    if isinstance(current, Mapping):
        return dict(current)
    if current is None:
        return [] if isinstance(place, int) else {}
    raise WrongValue(f'there is no place "{place}" in a single value')


def _get(holder: object, place: str | int) -> object:
    if isinstance(holder, list):
        index = _index(holder, place)
        return holder[index] if index < len(holder) else None
    assert isinstance(holder, dict)
    return holder.get(str(place))


def _set(holder: object, place: str | int, value: object) -> None:
    if isinstance(holder, list):
        index = _index(holder, place)
        holder[index : index + 1] = [value]
    else:
        assert isinstance(holder, dict)
        holder[str(place)] = value


def _index(holder: list[object], place: str | int) -> int:
    index = place if isinstance(place, int) else int(place) if place.isdecimal() else -1
    if not 0 <= index <= len(holder):
        raise WrongValue(f'"{place}" is no place in a list of {len(holder)} entries')
    return index


# ----------------------------------------------------------------------------------------------- readers by type


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise WrongValue("it is no text")


def _integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = value.strip() if isinstance(value, str) else ""
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if digits.isascii() and digits.isdecimal() and len(digits) < MOST_DIGITS:
        return int(text)
    raise WrongValue(f'"{_shown(value)}" is no integer')


def _float(value: object) -> float:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            raise WrongValue(f'"{_shown(value)}" is no number') from None
    raise WrongValue(f'"{_shown(value)}" is no number')


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    flags = {"true": True, "false": False}
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in flags:
        return flags[word]
    raise WrongValue(f'"{_shown(value)}" is neither true nor false')


def _list(value: object) -> list[object]:
    data = _parsed(value)
    if isinstance(data, list):
        return data
    raise WrongValue(f'"{_shown(value)}" is no list in JSON')


def _map(value: object) -> dict[str, object]:
    data = _parsed(value)
    if isinstance(data, dict):
        return data
    raise WrongValue(f'"{_shown(value)}" is no map in JSON')


def _parsed(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return None


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


MOST_DIGITS = 1_000
MOST_SHOWN = 60

READERS: Mapping[str, Callable[[object], object]] = {
    "string": _text,
    "integer": _integer,
    "float": _float,
    "boolean": _boolean,
    "list": _list,
    "map": _map,
}
