"""Sensitive values: data that may be used and is never shown.

A ``Sensitive`` wraps data of any kind at any place: a map with one sensitive entry stays a map whose other entries can
be read. Nothing inside it is wrapped again. Code that shows data calls ``shown``, code that writes it to a file
``stored``, and code that gives it to something that needs it (the environment of an operation, say) ``revealed``. All
of them return the same object, without a copy, where nothing in it is sensitive. Code that forgets to call them fails
or shows ``(sensitive)``: encoders do not know the class, and its text is that word.

The depth of data is bounded where it is read, so recursion is safe here.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from weakref import WeakValueDictionary

SHOWN = "(sensitive)"
"""What is shown in the place of a sensitive value, and the key under which files hold its sealed text."""

DIGEST_LENGTH = 32


class Sensitive:
    """Data that is not shown: in the clear (``Sensitive(value)``), or sealed until it is needed (``sealed``).

    Two are equal if their data is, or if the same key has sealed them to the same text. Texts of it (``str``,
    ``repr``, formats) are ``(sensitive)``; it has no order, no length and no truth of its own, and is not pickled.
    """

    __slots__ = ("__weakref__", "_opener", "_sealed", "_value")

    def __init__(self, value: object) -> None:
        self._value = revealed(value)
        self._sealed = ""
        self._opener: Callable[[str], object] | None = None
        _LIVING[id(self)] = self

    @classmethod
    def sealed(cls, text: str, opener: Callable[[str], object]) -> Sensitive:
        """A value of which only the sealed text is known; ``opener`` gives the data when it is needed."""
        made = cls(None)
        made._sealed, made._opener = text, opener
        return made

    def reveal(self) -> object:
        """The data. Raises the exception of the opener where it cannot be unsealed."""
        if self._opener is not None:
            self._value, self._opener = self._opener(self._sealed), None
        return self._value

    def seal(self, sealer: Callable[[object], str]) -> str:
        """The sealed text: the original one as long as the value has not been opened, else that of ``sealer``."""
        return sealer(self._value) if self.is_open else self._sealed

    @property
    def is_open(self) -> bool:
        """Whether the data is known here."""
        return self._opener is None

    def digest(self, key: bytes) -> str:
        """A keyed digest of the data: the same for equal data, and of no use for guessing it without the key."""
        return hmac.new(key, _canonical(self.reveal()), "sha256").hexdigest()[:DIGEST_LENGTH]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sensitive):
            return NotImplemented
        if self._sealed and self._sealed == other._sealed:
            return True
        return hmac.compare_digest(_canonical(self.reveal()), _canonical(other.reveal()))

    def __hash__(self) -> int:
        return hash((SHOWN, _canonical(self.reveal())))

    def __repr__(self) -> str:
        return SHOWN

    def __format__(self, spec: str) -> str:
        return format(SHOWN, spec)

    def __bool__(self) -> bool:
        raise TypeError("a sensitive value has no truth: ask for its data")

    def __reduce__(self) -> str:
        raise TypeError("a sensitive value is not pickled")

    def __copy__(self) -> Sensitive:
        return self

    def __deepcopy__(self, _: object) -> Sensitive:
        return self


_LIVING: WeakValueDictionary[int, Sensitive] = WeakValueDictionary()
"""By identity: to compare them, as a set does, some would have to be unsealed."""


def living() -> list[Sensitive]:
    """All sensitive values that this process holds now."""
    return list(_LIVING.values())


# ----------------------------------------------------------------------------------------------------- the sinks


def shown(data: object) -> object:
    """Data as it may be shown: ``(sensitive)`` in the place of each sensitive value."""
    return replaced(data, lambda _: SHOWN)


def revealed(data: object) -> object:
    """Plain data with all sensitive values in the clear, for code that needs them. It must not be shown or kept."""
    return replaced(data, Sensitive.reveal)


def stored(data: object, sealer: Callable[[object], str]) -> object:
    """Data as it may be written down: ``{"(sensitive)": <sealed text>}`` in the place of each sensitive value."""
    return replaced(data, lambda value: {SHOWN: value.seal(sealer)})


def restored(data: object, opener: Callable[[str], object]) -> object:
    """The data from which ``stored`` made this; values are unsealed when they are needed."""
    if isinstance(data, dict):
        sealed = data.get(SHOWN)
        if len(data) == 1 and isinstance(sealed, str):
            return Sensitive.sealed(sealed, opener)
        return {key: restored(value, opener) for key, value in data.items()}
    return [restored(value, opener) for value in data] if isinstance(data, list) else data


def encode_hook(value: object) -> object:
    """The ``enc_hook`` of ``msgspec`` encoders whose output is shown."""
    if isinstance(value, Sensitive):
        return SHOWN
    raise NotImplementedError(f"objects of type {type(value).__name__} are not encoded")


# ------------------------------------------------------------------------------------------------- for whoever uses it


def is_sensitive(data: object) -> bool:
    """Whether anything in data is sensitive."""
    return next(sensitive_parts(data), None) is not None


def sensitive_parts(data: object) -> Iterator[Sensitive]:
    """The sensitive values in data."""
    if isinstance(data, Sensitive):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from sensitive_parts(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from sensitive_parts(value)


def opened(data: object) -> tuple[object, bool]:
    """Data without its wrapper, and whether it had one: what is computed from it then is sensitive, too."""
    return (data.reveal(), True) if isinstance(data, Sensitive) else (data, False)


def replaced(data: object, change: Callable[[Sensitive], object]) -> object:
    """Data with each sensitive value replaced by what ``change`` gives; the same object where there is none."""
    if isinstance(data, Sensitive):
        return change(data)
    if isinstance(data, Mapping):
        values = {key: replaced(value, change) for key, value in data.items()}
        return values if any(values[key] is not value for key, value in data.items()) else data
    if isinstance(data, list | tuple):
        items = [replaced(value, change) for value in data]
        if all(new is old for new, old in zip(items, data, strict=True)):
            return data
        return tuple(items) if isinstance(data, tuple) else items
    return data


def texts_in(data: object) -> Iterator[str]:
    """The texts of plain data, numbers included: what to mask where the data must not be shown. Keys are left out: they
    are names and not secret."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from texts_in(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from texts_in(value)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield str(data)


def _canonical(data: object) -> bytes:
    """Bytes that are the same for equal data only."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
