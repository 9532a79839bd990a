"""A query process: answers one question about an ensemble, and ends."""

from __future__ import annotations

import os
import resource
import signal
import traceback
from pathlib import Path

import msgspec

from ordito.app.surroundings import enter
from ordito.base.diagnostics import InvalidDocument
from ordito.planning.refused import PlanRefused
from ordito.results.failure import EXPECTED, Failure, Trouble, failure_of, seen_from
from ordito.results.findings import findings_data
from ordito.server.processes.calls import FAULT, REFUSAL, RESULT, Query
from ordito.server.processes.looks import SERVER_LOOKS

MIB = 1 << 20


def answer(query: Query, given: int, out: int) -> None:
    """Answer a query in this process, which does nothing else: its parameters are read from one descriptor, the answer
    is written to the other."""
    # The system ends what takes too long, whatever it is doing.
    signal.setitimer(signal.ITIMER_REAL, query.seconds)
    resource.setrlimit(resource.RLIMIT_AS, (query.memory, query.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    enter(query.surroundings)
    with os.fdopen(given, "rb") as file:
        parameters = file.read()
    with os.fdopen(out, "wb") as file:
        file.write(_answer(query, parameters))


def _answer(query: Query, parameters: bytes) -> bytes:
    look = SERVER_LOOKS[query.look]
    try:
        # Messages name the files of an ensemble as for somebody who works in it, and nothing of this machine.
        try:
            os.chdir(query.directory)
        except FileNotFoundError:
            gone = Failure("no-ensemble", "the directory is not there any more", "put it back, or remove the ensemble")
            return REFUSAL + msgspec.json.encode(Trouble(gone))
        if query.stored is not None:
            # Without a store nothing of it is imported.
            from ordito.server.processes.attached import attach

            attach(query.stored, Path(), Path(query.directory))
        found = look.answer(".", msgspec.json.decode(parameters, type=look.asked))
        found_json: bytes = found.json
        return RESULT + found_json
    except EXPECTED as error:
        if _is_full(query.memory):
            # Libraries call it by many names when they get no memory.
            return _too_much(query.memory)
        diagnostics = error.diagnostics if isinstance(error, InvalidDocument | PlanRefused) else ()
        return REFUSAL + msgspec.json.encode(
            Trouble(seen_from(failure_of(error), query.directory), findings_data(diagnostics))
        )
    except MemoryError:
        return _too_much(query.memory)
    except Exception:  # noqa: BLE001  the border of this process: the server says that there is a fault
        return FAULT + traceback.format_exc().encode("utf-8", "backslashreplace")


def _too_much(memory: int) -> bytes:
    message = f"answering this needs more than {memory // MIB} MiB of memory"
    return REFUSAL + msgspec.json.encode(Trouble(Failure("too-costly", message, "ask for less at once")))


NEARLY = 0.95


def _is_full(memory: int) -> bool:
    """Whether this process has had nearly all of the address space that it may have."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmPeak:"):
            return int(line.split()[1]) * 1024 >= NEARLY * memory
    return False
