"""Secrets taken out of texts: in every encoding, cut anywhere, over ends of lines."""

from __future__ import annotations

import base64
import html
import json
import shlex
import subprocess
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.base.masking import LEAST, MOST_WITHHELD, Masking
from ordito.base.sensitive import SHOWN, Sensitive

SECRET = 'c4n\'ary "4711" $&/ä'

ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda s: s,
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 after one": lambda s: base64.b64encode(b"x" + s.encode() + b"yz").decode(),
    "base64 after two": lambda s: base64.b64encode(b"xy" + s.encode() + b"z").decode(),
    "base64 in urls": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "hex": lambda s: s.encode().hex(),
    "HEX": lambda s: s.encode().hex().upper(),
    "url": lambda s: quote(s, safe=""),
    "path": quote,
    "form": quote_plus,
    "json": json.dumps,
    "json in utf-8": lambda s: json.dumps(s, ensure_ascii=False),
    "json inside": lambda s: json.dumps({"a": [s]}),
    "shell": shlex.quote,
    "html": html.escape,
}


def known(*secrets: object) -> Masking:
    masking = Masking()
    masking.know(Sensitive(secret) for secret in secrets)
    return masking


def leaks(text: str, secret: str) -> list[str]:
    """The encodings in which a secret stands in a text, as far as it stands there whole."""
    joined = text.replace("\r\n", "").replace("\n", "")
    core = {name: encode(secret).strip("\"'=") for name, encode in ENCODINGS.items() if "after" not in name}
    return [name for name, form in core.items() if len(form) >= LEAST and form in joined]


@pytest.mark.parametrize("name", ENCODINGS)
def test_each_encoding_is_found(name: str) -> None:
    masked = known(SECRET).text(f"before {ENCODINGS[name](SECRET)} after")
    assert SHOWN in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert not leaks(masked, SECRET)
    assert len(masked) < len("before  after") + len(SHOWN) + 12, "little more than the secret is taken away"


@pytest.mark.parametrize("command", ['set -x; : "$S"', 'printf "%q\\n" "$S"', "declare -p S"])
@pytest.mark.parametrize("secret", ["it's a \\secret", "two words", "plain-4711", 'with "quotes"', "a'b'c$d"])
def test_what_a_shell_shows_of_it(command: str, secret: str) -> None:
    done = subprocess.run(["bash", "-c", command], env={"S": secret}, capture_output=True, text=True, check=True)
    shown = done.stdout + done.stderr
    assert shown
    masked = known(secret).text(shown)
    assert SHOWN in masked
    for part in ("secret", "words", "4711", "quotes", "b'c", "b'\\''c"):
        assert part not in masked


@pytest.mark.parametrize("secret", ["''11", "'''11", "a''''b", "''''", "'\"'\"'x"])
def test_quotes_at_the_begin_are_found_in_words_of_a_shell(secret: str) -> None:
    """What closes a quotation and opens it again stands beside the quotes that it is between."""
    for written in (shlex.quote(secret), "'" + secret.replace("'", "'\\''") + "'", secret.replace("'", "''")):
        for cut in range(len(written) + 1):
            masking, raw = known(secret), f"got {written}\n".encode()
            out = masking.feed(1, raw[: 4 + cut]) + masking.feed(1, raw[4 + cut :]) + masking.end(1)
            assert SHOWN.encode() in out, (written, cut)
            assert not leaks(out.decode(), secret)


@settings(max_examples=150, deadline=None)
@given(
    secret=st.text(st.sampled_from("abc1 '\"/+&ä"), min_size=LEAST, max_size=12),
    encoding=st.sampled_from(sorted(ENCODINGS)),
    around=st.tuples(st.text("abc1 \n", max_size=8), st.text("abc1 \n", max_size=8)),
    data=st.data(),
)
def test_it_is_found_however_it_comes_in(
    secret: str, encoding: str, around: tuple[str, str], data: st.DataObject
) -> None:
    masking = known(secret)
    written = ENCODINGS[encoding](secret)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(written)), max_size=3)))
    ends = data.draw(st.sampled_from(["", "\n", "\r\n"]))
    text = (
        around[0] + ends.join(written[a:b] for a, b in zip([0, *cuts], [*cuts, len(written)], strict=True)) + around[1]
    )
    raw = text.encode()
    reads = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=4)))
    out = b"".join(masking.feed(1, raw[a:b]) for a, b in zip([0, *reads], [*reads, len(raw)], strict=True))
    out += masking.end(1)
    assert SHOWN.encode() in out
    assert not leaks(out.decode(), secret)
    assert out.count(b"\n") == raw.count(b"\n"), "lines stay lines"
    assert rest(out) == rest(known(secret).data(raw)), "what is no secret stays"


def rest(data: bytes) -> bytes:
    """What is not masked, without line ends, and without quotes: which of those around a secret are a part of how it is
    written is not told by the text alone, and what comes bit by bit may be read otherwise."""
    return data.replace(SHOWN.encode(), b"").translate(None, b"\r\n'\"\\")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=20), max_size=6))
def test_without_secrets_nothing_changes(pieces: list[bytes]) -> None:
    masking = Masking()
    assert not masking.is_active
    for piece in pieces:
        assert masking.feed(1, piece) is piece
    assert masking.end(1) == b""
    other = known("never-4711-there")
    assert b"".join([*(other.feed(1, piece) for piece in pieces), other.end(1)]) == b"".join(pieces)


def test_outputs_of_several_steps_do_not_mix() -> None:
    masking = known("canary-4711")
    assert masking.feed("a", b"x canary") == b"x "
    assert masking.feed("b", b"-4711\n") == b"-4711\n"
    assert masking.feed("a", b"-4711 y") == b"(sensitive) y"
    assert masking.end("a") + masking.end("b") == b""


def test_what_is_held_back_is_shown_in_the_end() -> None:
    masking = known("canary-4711")
    assert masking.feed(1, b"a can") == b"a "
    assert masking.end(1) == b"can"


def test_lines_of_a_secret_are_secrets() -> None:
    key = "-----BEGIN KEY-----\nMIIBOgIBAAJB\nAKj34GkxFhD9\n-----END KEY-----\n"
    masked = known(key).text("first AKj34GkxFhD9 and MIIBOgIBAAJB\n" + key)
    assert "AKj34" not in masked
    assert "MIIB" not in masked


def test_short_secrets_would_take_away_everything() -> None:
    assert known("abc", 12, True, None).text("abc 12 true") == "abc 12 true"
    assert known(4711).text("the number 4711") == f"the number {SHOWN}"
    assert known({"key-4711": ["value-4712"]}).text("key-4711 value-4712") == f"key-4711 {SHOWN}"


def test_what_is_secret_only_in_the_end_is_withheld() -> None:
    masking = Masking()
    masking.withhold(1)
    assert masking.feed(1, b"made canary") == b""
    assert masking.feed(1, b"-4711\n") == b""
    assert masking.feed(2, b"others go on") == b"others go on"
    masking.know([Sensitive("canary-4711")])
    assert masking.end(1) == b"made (sensitive)\n"
    masking.withhold(3)
    assert masking.feed(3, b"x" * (MOST_WITHHELD + 10)) == b""
    assert len(masking.end(3)) == MOST_WITHHELD


def test_parts_that_touch_become_one() -> None:
    assert known("canary-4711", "4711-other").text("canary-4711-other") == SHOWN
    assert known("aaaa").text("aaaaaaa b") == f"{SHOWN} b"
    assert known("canary-4711").lines(["a can", "ary-4711 b", "c"]) == ("a (sensitive)", " b", "c")
    assert known("canary-4711").hits("xcanary-4711")
    assert not known("canary-4711").hits("canary")
