"""Asks a rule of policies. Started as a program, by the interpreter that Ordito runs with.

``python3 -I -B policy_rule_runner.py SETTINGS``: SETTINGS is a JSON object with ``rule`` (where it is found,
``module:attribute``) and ``path`` (where modules are searched for). The argument of the rule is read from the standard
input. Its answer, True or False or a map with ``acts`` and ``said``, goes to the standard output as JSON; what it
prints itself goes to the standard error. If it raises anything, it has failed.
"""

# It is a program of its own, which uses the standard library and the rule only.

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping


def main() -> None:
    """Ask the rule that the command line names."""
    settings = json.loads(sys.argv[1])
    answer = os.dup(1)
    os.dup2(2, 1)
    sys.path[:] = settings["path"]
    call = json.load(sys.stdin)
    module, _, attribute = settings["rule"].partition(":")
    rule = importlib.import_module(module)
    for name in attribute.split("."):
        rule = getattr(rule, name)
    said = rule(call)  # type: ignore[operator]
    ruling = dict(said) if isinstance(said, Mapping) else {"acts": said}
    if not isinstance(ruling.get("acts"), bool):
        raise TypeError(f"{settings['rule']} returned {said!r}, not True or False")
    os.write(answer, json.dumps({"acts": ruling["acts"], "said": str(ruling.get("said", ""))}).encode())


if __name__ == "__main__":
    main()
