"""What real programs make of a secret: nothing of it is left, whole or cut, as far as the programs are at hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ordito.base.masking import Masking
from ordito.base.sensitive import SHOWN, Sensitive
from tests.support.thorough import some

ENCODERS = Path(__file__).parent / "encoders"
PROGRAMS = {
    "encode.py": [sys.executable],
    "encode.sh": ["bash"],
    "encode.pl": ["perl"],
    "encode.js": ["node"],
    "encode.php": ["php"],
    "encode.go": ["go", "run"],
}
SECRETS = [
    "c4n-ary_4711.x7~y",
    'c4n\'ary "4711" $&/x7',
    "two words and 4711 more x7",
    "<c4n&ary>=4711+x7?#%",
    "c4n\\ary\\n4711\\u00e4\\\\x7",
    "c4näry€4711😀x7",
    "'c4nary''4711\"\"x7'",
    "%41c4n%2Dary&amp;4711&lt;x7%",
    "\\\\c4nary/4711!(x7)*[]{}|;:,`^@\\",
    "+c4nary++4711 \t x7+",
    "c4nary\n4711 in lines\n  x7 of it",
    "12345678901234567890",
]
TRIED = some(SECRETS, 2)
TELLING = ("4711", "c4n", "ary", "words", "more", "lines", "345678")
"""Parts of the secrets that nothing around them has."""


@cache
def made_by(program: str) -> list[tuple[str, str, bytes]]:
    """What a program makes of each secret: the name of the encoding, the secret, and the result."""
    command = PROGRAMS[program]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not at hand")
    lines = "".join(f"{secret.encode().hex()}\n" for secret in TRIED)
    done = subprocess.run([*command, str(ENCODERS / program)], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [(name, TRIED[int(number)], bytes.fromhex(made)) for name, number, made in rows]


def apart(masked: bytes) -> bytes:
    """What is not secret, without line ends."""
    return masked.replace(b"\n", b"").replace(SHOWN.encode(), b"")


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_left_of_what_a_program_makes_of_a_secret(program: str) -> None:
    made = made_by(program)
    assert {secret for _, secret, _ in made} == set(TRIED)
    left = []
    for name, secret, written in made:
        masking = Masking()
        masking.know([Sensitive(secret)])
        whole = masking.data(b"before " + written + b" after")
        rest = whole.replace(SHOWN.encode(), b"").decode("utf-8", "replace")
        is_left = any(part in rest for part in TELLING) or len(rest) > len("before  after") + 30
        if is_left or SHOWN.encode() not in whole:
            left.append((name, secret, written, whole))
        for cut in range(0, len(written), 5):
            parts = masking.feed(1, b"before " + written[:cut]) + masking.feed(1, written[cut:] + b" after")
            if apart(parts + masking.end(1)) != apart(whole):
                left.append((f"{name}, cut at {cut}", secret, written, parts))
                break
    assert not left, f"{len(left)}: " + "\n".join(map(str, left[:20]))


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_no_secret_stays_as_it_is(program: str) -> None:
    masking = Masking()
    masking.know([Sensitive("never-4712 'there'")])
    for _, _, written in made_by(program):
        assert masking.data(written) is written
        assert masking.feed(1, written) + masking.end(1) == written
