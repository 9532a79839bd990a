"""Starting the process of an operation: ``posix_spawn`` of the C library, which can also change the directory.

Thousands of operations are started, and for a short one ``subprocess.Popen`` costs more than everything else. It is
used only if the library cannot change the directory (glibc before 2.29).

Every process gets a *mark*, a number that identifies the processes of one step: the soft limit of ``RLIMIT_LOCKS``,
which Linux has ignored since 2.4.25, but passes on to every child. A process can change its group, its session, its
parent and its environment; it keeps the mark.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

FILE_LOCKS = 10
"""``RLIMIT_LOCKS``, for which Python has no name."""

_SETSIGDEF, _SETSIGMASK, _SETSID = 0x04, 0x08, 0x80
_ROOM = 1_024
"""Bytes for a structure of the library whose size is not known; the largest one known has 336."""

_POINTER = ctypes.sizeof(ctypes.c_void_p)

_HEEDED = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores, but that programs do not expect to be ignored."""


class ProcessCommand(msgspec.Struct, frozen=True):
    """A program to start: its file, its arguments (the first is its name), environment and working directory."""

    program: str
    arguments: Sequence[str]
    environment: dict[str, str]
    folder: str


def spawn(command: ProcessCommand, source: int, output: int, mark: int) -> int:
    """Start a process in a session of its own, with these descriptors as its input and output; returns its id. Raises
    ``OSError`` if it cannot be started, ``ValueError`` for texts that no process can get."""
    soft, hard = _limits()
    can_mark = hard == resource.RLIM_INFINITY
    if can_mark:
        resource.setrlimit(FILE_LOCKS, (mark, hard))
    try:
        library = _library()
        return library.spawn(command, source, output) if library else _popen(command, source, output)
    finally:
        if can_mark:
            resource.setrlimit(FILE_LOCKS, (soft, hard))


@cache
def _limits() -> tuple[int, int]:
    """The limits of this process itself, which only ``spawn`` changes, and only while it starts a process."""
    return resource.getrlimit(FILE_LOCKS)


class _Library:
    """The functions of the C library that are needed, and what is the same for all processes."""

    def __init__(self, library: ctypes.PyDLL) -> None:
        # With PyDLL no other thread runs meanwhile, which might start a process that is none of the step's.
        self._spawn = library.posix_spawn
        self._begin = library.posix_spawn_file_actions_init
        self._end = library.posix_spawn_file_actions_destroy
        self._duplicate = library.posix_spawn_file_actions_adddup2
        self._change = library.posix_spawn_file_actions_addchdir_np
        self._attributes = ctypes.create_string_buffer(_ROOM)
        self._actions = ctypes.create_string_buffer(_ROOM)
        nothing, heeded = (ctypes.create_string_buffer(_ROOM) for _ in range(2))
        library.sigemptyset(nothing)
        library.sigemptyset(heeded)
        for number in _HEEDED:
            library.sigaddset(heeded, int(number))
        library.posix_spawnattr_init(self._attributes)
        library.posix_spawnattr_setsigmask(self._attributes, nothing)
        library.posix_spawnattr_setsigdefault(self._attributes, heeded)
        library.posix_spawnattr_setflags(self._attributes, ctypes.c_short(_SETSIGDEF | _SETSIGMASK | _SETSID))

    def spawn(self, command: ProcessCommand, source: int, output: int) -> int:
        """See ``spawn``."""
        program, folder = os.fsencode(command.program), os.fsencode(command.folder)
        arguments, environment = _vectors(command.arguments, _entries(command.environment))
        pid = ctypes.c_int()
        self._begin(self._actions)
        try:
            for descriptor, place in ((source, 0), (output, 1), (output, 2)):
                self._duplicate(self._actions, descriptor, place)
            self._change(self._actions, folder)
            error = self._spawn(ctypes.byref(pid), program, self._actions, self._attributes, arguments, environment)
        finally:
            self._end(self._actions)
        if error:
            at_fault = command.program if os.path.isdir(folder) else command.folder  # noqa: PTH112
            raise OSError(error, os.strerror(error), at_fault)
        return pid.value


@cache
def _library() -> _Library | None:
    try:
        return _Library(ctypes.PyDLL(None))
    except (OSError, AttributeError):
        return None


def _entries(environment: Mapping[str, str]) -> list[str]:
    if "" in environment or any("=" in name for name in environment):
        raise ValueError("a variable has no name, or one with a = in it")
    return [f"{name}={value}" for name, value in environment.items()]


def _vectors(first: Sequence[str], second: Sequence[str]) -> tuple[object, object]:
    """Two arrays of C strings, each with a null pointer at its end; the second follows the first."""
    texts = [*first, *second]
    encoded = os.fsencode("\0".join(texts)).split(b"\0")
    if len(encoded) != len(texts):
        raise ValueError("embedded null byte")
    count = len(first)
    both = _array(len(encoded) + 2)(*encoded[:count], None, *encoded[count:], None)
    return both, ctypes.byref(both, (count + 1) * _POINTER)


@cache
def _array(length: int) -> type[ctypes.Array[ctypes.c_char_p]]:
    """The type of an array of C strings, cached: ``ctypes`` drops a type with its last array, and making one is
    slow."""
    return ctypes.c_char_p * length


def _popen(command: ProcessCommand, source: int, output: int) -> int:
    process = subprocess.Popen(
        command.arguments,
        executable=command.program,
        env=command.environment,
        cwd=command.folder,
        stdin=source,
        stdout=output,
        stderr=output,
        start_new_session=True,
        close_fds=False,
    )
    # It is waited for by its id.
    process.returncode = 0
    return process.pid
