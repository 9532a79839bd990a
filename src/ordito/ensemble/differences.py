"""What differs between two statuses, place by place: what the records of jobs give, and what a file holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.ensemble.manifest_rows import StatusRow
from ordito.ensemble.vault import sealed


class Difference(msgspec.Struct, frozen=True):
    """A place below ``status``, and its value by the records and by the file; None where there is none."""

    path: str
    recorded: object
    found: object


def differences(recorded: StatusRow, found: StatusRow) -> Iterator[Difference]:
    """Where two statuses differ, with their instances; the files in which instances lie are no part of it."""
    yield from _between("status", _plain(recorded), _plain(found))
    for name in sorted({*recorded.instances, *found.instances}):
        one, other = recorded.instances.get(name), found.instances.get(name)
        if one != other:
            yield from _between(
                f"status.instances.{name}",
                msgspec.to_builtins(one, enc_hook=sealed),
                msgspec.to_builtins(other, enc_hook=sealed),
            )


def _plain(row: StatusRow) -> object:
    return _as_written(msgspec.structs.replace(row, instances={}, parts={}))


def _as_written(row: object) -> object:
    return msgspec.to_builtins(row, enc_hook=sealed)


def _between(path: str, recorded: object, found: object) -> Iterator[Difference]:
    """The innermost mappings' entries that differ; lists are compared as a whole. Without recursion, since values are
    as deep as users like."""
    open_ones: list[tuple[str, object, object]] = [(path, recorded, found)]
    while open_ones:
        at, one, other = open_ones.pop()
        if one == other and type(one) is type(other):
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            keys = sorted({*one, *other}, key=str, reverse=True)
            open_ones.extend((f"{at}.{key}", one.get(key), other.get(key)) for key in keys)
        elif one != other or isinstance(one, bool) != isinstance(other, bool):
            yield Difference(at, one, other)
