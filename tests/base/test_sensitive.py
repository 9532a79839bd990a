"""Sensitive values: used, and never shown."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.base.sensitive import (
    SHOWN,
    Sensitive,
    encode_hook,
    is_sensitive,
    living,
    opened,
    restored,
    revealed,
    shown,
    stored,
    texts_in,
)

CANARY = "canary-4711"

DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

TEXTS: list[Callable[[Sensitive], str]] = [
    str,
    repr,
    lambda s: f"{s}",
    lambda s: f"{s!r:>30}",
    lambda s: f"{s:>30}",
    lambda s: "%s %r" % (s, s),  # noqa: UP031  (every way to make a text)
    lambda s: f"{[s]} {({'a': s},)}",
    lambda s: str(logging.makeLogRecord({"msg": "%s", "args": (s,)}).getMessage()),
    lambda s: str(ValueError(s)),
]


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_shows_it(text: Callable[[Sensitive], str]) -> None:
    for value in (CANARY, 4711, [CANARY], {CANARY: 1}):
        made = text(Sensitive(value))
        assert SHOWN in made
        assert "4711" not in made


ENCODERS = [msgspec.json.encode, msgspec.msgpack.encode, msgspec.to_builtins, json.dumps, pickle.dumps]


@pytest.mark.parametrize("encode", ENCODERS)
def test_no_encoder_takes_it_by_accident(encode: Callable[[object], object]) -> None:
    with pytest.raises(TypeError) as refused:
        encode({"a": [Sensitive(CANARY)]})
    assert CANARY not in str(refused.value)


def test_an_encoder_for_people_says_that_there_is_something() -> None:
    encoder = msgspec.json.Encoder(enc_hook=encode_hook)
    assert encoder.encode({"a": Sensitive(CANARY)}) == b'{"a":"(sensitive)"}'
    with pytest.raises(NotImplementedError, match="type object"):
        encoder.encode(object())


def test_only_the_part_that_is_sensitive_is_hidden() -> None:
    credential = {"user": "me", "token": Sensitive(CANARY), "keys": [1, Sensitive({"k": CANARY})]}
    assert shown(credential) == {"user": "me", "token": SHOWN, "keys": [1, SHOWN]}
    assert revealed(credential) == {"user": "me", "token": CANARY, "keys": [1, {"k": CANARY}]}
    assert is_sensitive(credential)


@settings(max_examples=50, deadline=None)
@given(DATA)
def test_data_without_secrets_is_given_back_as_it_is(data: object) -> None:
    assert shown(data) is data
    assert revealed(data) is data
    assert not is_sensitive(data)
    assert opened(data) == (data, False)


@settings(max_examples=50, deadline=None)
@given(DATA, DATA)
def test_what_is_stored_comes_back(plain: object, secret: object) -> None:
    data = {"plain": [plain], "secret": [Sensitive(secret), {"inner": Sensitive([secret])}]}
    written = stored(data, json.dumps)
    assert json.loads(json.dumps(written)) == written
    again = restored(written, json.loads)
    assert again == data
    assert revealed(again) == revealed(data)


def test_it_stays_sealed_until_it_is_needed() -> None:
    asked: list[str] = []

    def opener(text: str) -> object:
        asked.append(text)
        return CANARY

    value = Sensitive.sealed("abc", opener)
    assert not value.is_open
    assert shown([value]) == [SHOWN]
    assert stored([value], str) == [{SHOWN: "abc"}], "sealed again it would only be another text"
    assert value == Sensitive.sealed("abc", opener)
    assert not asked
    assert [value.reveal(), value.reveal()] == [CANARY, CANARY]
    assert asked == ["abc"]


@settings(max_examples=50, deadline=None)
@given(DATA, DATA)
def test_equality_and_digests_are_those_of_the_data(one: object, other: object) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (Sensitive(one) == Sensitive(other)) is same
    assert (Sensitive(one).digest(b"k") == Sensitive(other).digest(b"k")) is same
    assert Sensitive(one).digest(b"k") != Sensitive(one).digest(b"l")
    assert Sensitive(one) != one
    assert hash(Sensitive(one)) == hash(Sensitive(one))


def test_nothing_is_wrapped_twice() -> None:
    assert Sensitive([Sensitive(CANARY), {"a": Sensitive(1)}]).reveal() == [CANARY, {"a": 1}]


def test_it_cannot_be_taken_for_a_plain_value() -> None:
    with pytest.raises(TypeError):
        bool(Sensitive(False))
    value = Sensitive([CANARY])
    assert copy.deepcopy([value])[0] is value


def test_what_is_held_is_known() -> None:
    held = Sensitive({"name": [CANARY, 4711]})
    assert any(value is held for value in living())
    assert list(texts_in(held.reveal())) == [CANARY, "4711"]
    assert held.is_open
