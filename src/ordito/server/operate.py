"""`python -m ordito.server.operate`: what is done to a server beside it, for the verbs of `ordito server`.

The command asks it in a process of its own, since it knows nothing of the server's libraries. It answers with one JSON
value: a result, or why there is none, then with the code 3.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path

import msgspec
from sqlalchemy.exc import DatabaseError

from ordito.results.answer import Result
from ordito.results.failure import Failure
from ordito.server.operating.backup import back_up
from ordito.server.operating.inspecting import look, verify
from ordito.server.problems import ApiProblem
from ordito.server.refused import ServerRefused

REFUSED = 3


def main(arguments: list[str]) -> int:
    """Do what the arguments say, write the answer, and return the exit code."""
    given = _parser().parse_args(arguments)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    os.umask(0o077)
    try:
        answer = _done(given).json
        code = 0
    except ServerRefused as refusal:
        answer, code = _failed(refusal.code, refusal.message, refusal.hint), REFUSED
    except ApiProblem as problem:
        answer, code = _failed(problem.code, problem.detail, problem.hint), REFUSED
    except DatabaseError as error:
        answer, code = _failed("server", f"the database cannot be used: {error.orig}", ""), REFUSED
    sys.stdout.buffer.write(answer)
    sys.stdout.flush()
    return code


def _failed(code: str, message: str, hint: str) -> bytes:
    return msgspec.json.encode(Failure(code, message, hint))


def _done(given: argparse.Namespace) -> Result:
    home = Path(given.home).absolute()
    if given.verb == "verify":
        return verify(home, given.head)
    if given.verb == "status":
        return look(home)
    if given.verb == "backup":
        return back_up(home, Path(given.place).absolute(), with_keys=given.with_keys)
    # They know plans, which takes long to import.
    from ordito.server.operating.restore import restore, resume

    if given.verb == "restore":
        return restore(Path(given.place).absolute(), home, resumes=given.resume)
    return resume(home, new_key=given.new_key)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ordito server", add_help=False)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("verify", "status", "backup", "restore", "resume"):
        verb = verbs.add_parser(name, add_help=False)
        verb.add_argument("home")
        if name == "verify":
            verb.add_argument("--head", default="")
        elif name in ("backup", "restore"):
            verb.add_argument("place")
        option = {"backup": "--with-keys", "restore": "--resume", "resume": "--new-key"}.get(name)
        if option is not None:
            verb.add_argument(option, action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
