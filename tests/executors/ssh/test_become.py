"""The talk before a command of another user."""

from __future__ import annotations

import itertools

import pytest

from ordito.executors.ssh.become import Becoming
from ordito.executors.ssh.settings import Become


class Heard:
    def __init__(self) -> None:
        self.out = b""
        self.err = b""
        self.ends: list[int | None] = []

    def heard_out(self, data: bytes) -> None:
        self.out += data

    def heard_err(self, data: bytes) -> None:
        self.err += data

    def ended(self, status: int | None, lost: str = "") -> None:
        self.ends.append(status)


class Silent:
    def write(self, data: bytes) -> None:
        return None

    def write_end(self) -> None:
        return None

    def close(self) -> None:
        return None

    def pause(self) -> None:
        return None

    def resume(self) -> None:
        return None


OUT = (b"good morning\n", b"ordito:begins\nfirst\n", b"second\n")
ERR = (b"a lecture\n", b"ordito:begins\n", b"noise\n")


@pytest.mark.parametrize("order", sorted(set(itertools.permutations("ooo" + "eee"))))
async def test_what_a_command_prints_is_heard_whichever_stream_comes_first(order: tuple[str, ...]) -> None:
    heard, out, err = Heard(), iter(OUT), iter(ERR)
    becoming = Becoming(Become(), heard)
    for stream in order[:3]:
        becoming.heard_out(next(out)) if stream == "o" else becoming.heard_err(next(err))
    await_talk = becoming.talk(Silent())
    for stream in order[3:]:
        becoming.heard_out(next(out)) if stream == "o" else becoming.heard_err(next(err))
    await await_talk
    assert heard.out == b"first\nsecond\n"
    assert heard.err == b"noise\n"


async def test_a_command_that_has_ended_before_anybody_talks_with_it_has_begun_all_the_same() -> None:
    """What a short command prints, and its end, may come with the answer that it was started."""
    heard = Heard()
    becoming = Becoming(Become(), heard)
    becoming.heard_err(b"ordito:begins\n")
    becoming.heard_out(b"ordito:begins\nall of it\n")
    becoming.ended(0)
    await becoming.talk(Silent())
    assert (heard.out, heard.ends) == (b"all of it\n", [0])
