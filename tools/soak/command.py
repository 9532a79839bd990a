"""The command line of what does things at random for a while, and keeps what it did where something was found."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import SystemRandom
from typing import Protocol

import msgspec


class Finds(Protocol):
    """What was found: a struct that can be written as JSON."""

    failures: list[str]


Work = Callable[[Path, float, int], tuple[Finds, bool]]
"""What is to be done: in an empty folder, so much of it, by a seed. Gives what was found, and whether all held."""


def carry_out(name: str, about: str, amount: tuple[str, str], work: Work, arguments: list[str]) -> int:
    """Do it as the arguments say, print what was found as one JSON object, and give the exit code: 0 where all held.

    ``amount`` is what the number is called that says how much is done, and what it means.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tools.{name}", description=about)
    parser.add_argument(amount[0], type=float, help=amount[1])
    parser.add_argument("--seed", type=int, default=None, help="the same seed does the same things")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found into a file as well")
    given = parser.parse_args(arguments)
    seed = SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
    print(f"seed {seed}", file=sys.stderr, flush=True)
    home = Path(tempfile.mkdtemp(prefix=f"ordito-{name}-"))
    found, held = work(home, vars(given)[amount[0]], seed)
    text = msgspec.json.format(msgspec.json.encode(found)).decode()
    print(text)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    if found.failures:
        print(f"what is left of it: {home}", file=sys.stderr)
    else:
        shutil.rmtree(home)
    return 0 if held else 1
