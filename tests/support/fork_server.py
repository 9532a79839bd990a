"""A program of its own, not a module of tests: it imports all of Ordito once, and forks for each command to come.

Its argument is the number of a socket. A message is a JSON object `{"cwd", "environment", "code", "arguments"}` with
four open files: standard input, output and error of the command, and where to tell its process id and, later, how it
ended.
It ends when nobody is left to ask.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NoReturn

LONGEST = 1 << 17
SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template: { node_templates: { server: { type: tosca.nodes.Compute } } }
"""


def import_all() -> None:
    """Import what a command may need."""
    import ordito

    for module in pkgutil.walk_packages(ordito.__path__, "ordito."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def warm_up() -> None:
    """Read the profile of TOSCA, which every command begins with."""
    from ordito.cli.main import run

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("service.yaml").write_text(SERVICE, encoding="utf-8")
        if run(["plan", "service.yaml"]) != 0:
            raise AssertionError("the smallest service cannot be planned")
        os.chdir("/")
    # Whoever is forked shall not copy all of it at the first collection.
    gc.collect()
    gc.freeze()


def reap(*_: object) -> None:
    """Forget who has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def serve(channel: socket.socket) -> dict[str, Any]:
    """Wait for requests; gives one only in the process that is to become the command."""
    signal.signal(signal.SIGCHLD, reap)
    while True:
        data, files, _, _ = socket.recv_fds(channel, LONGEST, 4)
        if not data:
            sys.exit(0)
        if os.fork() == 0:
            channel.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return watch(json.loads(data), files)
        for file in files:
            os.close(file)


def watch(request: dict[str, Any], files: list[int]) -> dict[str, Any]:
    """Stand between the server and the command, and tell of the command."""
    process = os.fork()
    if process != 0:
        end(process, files)
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    return request


def end(process: int, files: list[int]) -> NoReturn:
    """Tell of a command until it has ended, and end."""
    *streams, tell = files
    for file in streams:
        os.close(file)
    try:
        os.write(tell, b"%d\n" % process)
        _, status = os.waitpid(process, 0)
        os.write(tell, b"%d\n" % os.waitstatus_to_exitcode(status))
    except BrokenPipeError:
        pass
    os._exit(0)


def stream(number: int, errors: str) -> io.TextIOWrapper:
    """A standard stream as a process has it when it begins."""
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=number == 2)


def become(request: dict[str, Any]) -> None:
    """Take on what differs from command to command."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = ["-c", *request["arguments"]]
    sys.path[0] = ""
    # What streams know of their files is as old as they are.
    sys.stdout = stream(1, "strict")
    sys.stderr = stream(2, "backslashreplace")


def leave(code: object) -> None:
    """End as the interpreter does, save that it need not take apart all modules, which takes it longer than most
    commands do."""
    if isinstance(code, int):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    import_all()
    warm_up()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    become(asked)
    exec(asked["code"], {"__name__": "__main__"})
    from ordito.cli.main import main

    try:
        main()
    except SystemExit as ended:
        leave(ended.code)
        raise
