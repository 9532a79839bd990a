"""A program of its own, not a module of tests: it imports all of Ordito once, and forks for each command to come.

Its argument is the number of a socket; with ``adopts`` behind it what its commands leave become its children, and with
``serves`` its commands are servers. A message is a JSON object `{"cwd", "environment", "code", "arguments"}` with
four open files: standard input, output and error of the command, and where to tell its process id and, later, how it
ended.
It ends when nobody is left to ask.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

LONGEST = 1 << 17
PR_SET_CHILD_SUBREAPER = 36
SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template: { node_templates: { server: { type: tosca.nodes.Compute } } }
"""


def import_all() -> None:
    """Import what a command may need."""
    import ordito

    for module in pkgutil.walk_packages(ordito.__path__, "ordito."):
        # A server is a program of its own, and migrations, its own and a store's, run only where there is a database.
        if not module.name.endswith("__main__") and not module.name.startswith(("ordito.server", "ordito.cluster")):
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


def import_server() -> None:
    """Import what a server needs, and make a database, which imports what changes those of former versions."""
    from ordito.server.database.database import Database
    from ordito.server.main import main  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        Database(Path(folder) / "server.db").close()
    gc.collect()
    gc.freeze()


def be_server() -> None:
    """Be a server until it is told to stop."""
    from ordito.server.main import main

    sys.exit(main(sys.argv[1:]))


def be_command() -> None:
    """Be a command."""
    from ordito.cli.main import main

    main()


def serve(channel: socket.socket) -> dict[str, Any]:
    """Wait for requests, and tell of the commands that end; gives a request only in the process that is to become its
    command."""
    told, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    tellers: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([channel.fileno(), told], [], [])
        if told in ready:
            os.read(told, LONGEST)
            tell_of_ended(tellers)
        if channel.fileno() not in ready:
            continue
        data, files, _, _ = socket.recv_fds(channel, LONGEST, 4)
        if not data:
            sys.exit(0)
        *streams, teller = files
        process = os.fork()
        if process == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            channel.close()
            for file in (told, woken, *tellers.values(), teller):
                os.close(file)
            return adopt(json.loads(data), streams)
        for file in streams:
            os.close(file)
        tell(teller, process)
        tellers[process] = teller


def adopt(request: dict[str, Any], streams: list[int]) -> dict[str, Any]:
    """Take the standard streams of a command."""
    for number, file in enumerate(streams):
        os.dup2(file, number)
    for file in streams:
        os.close(file)
    return request


def tell_of_ended(tellers: dict[int, int]) -> None:
    """Tell of all commands that have ended how they did."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            process, status = ended
            if process in tellers:
                tell(tellers[process], os.waitstatus_to_exitcode(status))
                os.close(tellers.pop(process))


def tell(teller: int, number: int) -> None:
    """Tell whoever asked for a command, if there still is anybody."""
    with contextlib.suppress(BrokenPipeError):
        os.write(teller, b"%d\n" % number)


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


def adopt_orphans() -> None:
    """Become the parent of what commands leave behind."""
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


if __name__ == "__main__":
    if "adopts" in sys.argv[2:]:
        adopt_orphans()
    serves = "serves" in sys.argv[2:]
    if serves:
        import_server()
    else:
        import_all()
        warm_up()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    become(asked)
    exec(asked["code"], {"__name__": "__main__"})
    try:
        be_server() if serves else be_command()
    except SystemExit as ended:
        leave(ended.code)
        raise
