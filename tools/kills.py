"""Random kills: ``python -m tools.kills COUNT`` kills commands at any moment until so many were killed, and carries on
each: deploying, changing, healing, scaling, removing a shop of real processes. After each command what is recorded is
what is there, no operation was completed twice, and no two processes of one step were alive together.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import msgspec

from tools.soak.command import carry_out
from tools.soak.course import Course
from tools.soak.report import Figure
from tools.soak.shop import Shop

ACTIONS = 10
"""How much is done between a deployment and a removal."""


class Found(msgspec.Struct):
    """What was done and seen."""

    seed: int
    actions: dict[str, int] = {}
    kills: dict[str, int] = {}
    resumed: dict[str, int] = {}
    """Of what was killed, how often a job had begun and was carried on to its end."""
    failures: list[str] = []
    figures: list[Figure] = []


def run(home: Path, count: int, seed: int) -> Found:
    """Kill so many commands."""
    found = Found(seed)
    shop = Shop(home)
    course = Course(shop, seed, kill_share=1.0)
    try:
        while sum(course.kills.values()) < count:
            course.do(course.deploy)
            course.do_some(ACTIONS)
            course.do(course.undeploy)
            course.do(course.forget)
            shop.check_history()
            shop.check_secret()
            print(course.said(), file=sys.stderr, flush=True)
    except Exception:  # noqa: BLE001  (any exception is a find)
        found.failures.append(f"{' '.join(course.told[-12:])}: {traceback.format_exc()}")
    finally:
        shop.end()
    found.actions, found.kills, found.resumed = dict(course.counts), dict(course.kills), dict(course.resumed)
    kills, resumed = sum(course.kills.values()), sum(course.resumed.values())
    found.figures = [
        Figure("kills.kills", kills, count, "", least=True, held=kills >= count),
        Figure("kills.resumed", resumed, count / 5, "", least=True, held=resumed >= count / 5),
        Figure("kills.failures", len(found.failures), 0, "", least=False, held=not found.failures),
    ]
    return found


def main(arguments: list[str]) -> int:
    """Run it; gives the exit code."""

    def work(home: Path, count: float, seed: int) -> tuple[Found, bool]:
        found = run(home / "shop", int(count), seed)
        return found, not found.failures

    about = (__doc__ or "").partition("\n")[0]
    return carry_out("kills", about, ("count", "how many commands are killed at least"), work, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
