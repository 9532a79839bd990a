"""Rules of policies: programs of plug-ins that decide whether a trigger acts (§12.1.1).

A rule is a Python function that a distribution offers by an entry point of the group ``ordito.policy_rules`` whose name
is the full name of a policy type. It runs in a process of its own, so that it can be ended. `docs/plugins.md` describes
its argument.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

GROUP = "ordito.policy_rules"
RUNNER = str(Path(__file__).with_name("policy_rule_runner.py"))

LIMIT = 30.0
"""Seconds that a rule may take; other commands wait meanwhile."""

MOST_SAID = 200
"""How many of the last characters that a failed rule has printed are shown."""


class Ruling(msgspec.Struct, frozen=True):
    """The answer of a rule: whether to act, and why not, for people."""

    acts: bool
    said: str = ""


@cache
def policy_rules() -> Mapping[str, str]:
    """The installed rules by policy type, each as ``module:attribute``. Of several for one type the first in
    alphabetical order counts, so that it is always the same one."""
    # It brings half of the library along, and hardly any command needs it.
    from importlib.metadata import entry_points

    found = sorted((point.name, point.value) for point in entry_points(group=GROUP))
    return dict(reversed(found))


def rule_for(kinds: Sequence[str]) -> str:
    """The first of these types that has a rule (the type itself comes first); "" for none."""
    return next((kind for kind in kinds if kind in policy_rules()), "")


def ask_rule(kind: str, call: Mapping[str, object], limit: float = LIMIT) -> Ruling:
    """Ask the rule of a policy type. A rule that fails, or does not answer in ``limit`` seconds, permits nothing."""
    import subprocess

    settings = {"rule": policy_rules()[kind], "path": [str(Path(place).absolute()) for place in sys.path]}
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", RUNNER, json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(msgspec.json.encode(call), timeout=limit)
    except subprocess.TimeoutExpired:
        return Ruling(acts=False, said=f"the rule of {kind} did not answer within {limit:g} s")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    try:
        return msgspec.json.decode(out, type=Ruling)
    except msgspec.DecodeError:
        last = err.decode("utf-8", "replace").strip()[-MOST_SAID:].rpartition("\n")[2]
        return Ruling(acts=False, said=f"the rule of {kind} failed: {last or f'exit code {process.returncode}'}")
