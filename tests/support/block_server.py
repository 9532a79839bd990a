"""A program of its own, not a module of tests: it imports what blocks import of the standard library, and forks for
each that is to run, which costs a fraction of a start.

A line of its input is a JSON object `{"script", "environment", "cwd", "out", "err"}`; it answers with the exit status.
It ends with its input.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import sys
from typing import Any, NoReturn

MODULES = (
    *("dataclasses", "errno", "pathlib", "signal", "socket", "sqlite3.dbapi2", "typing", "urllib.parse"),
    *("base64", "fcntl", "hashlib", "http.client", "ipaddress", "shutil", "sqlite3", "ssl", "subprocess", "tarfile"),
    *("tempfile", "urllib.request"),
)


def become(asked: dict[str, Any]) -> NoReturn:
    """Be the process of a block, from here to its end."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv[:] = [asked["script"]]
    sys.path[0] = os.path.dirname(asked["script"])  # noqa: PTH120  (as Python itself does it)
    status: object = 0
    try:
        runpy.run_path(asked["script"], run_name="__main__")
    except SystemExit as ended:
        status = ended.code or 0
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter would take apart all modules first, which takes it longer than most blocks do.
    os._exit(int(str(status)))


if __name__ == "__main__":
    for module in MODULES:
        __import__(module)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            become(json.loads(line))
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
