r"""Shell scripts: which shell runs them, and the few lines around a script that give its variables back.

The script is sourced by a shell that is started with ``-c``, with the script's path as ``$0`` and the options of its
``#!`` line, so that it cannot tell the difference: ``$0`` and ``BASH_SOURCE`` are its path, ``$$`` is its process, and
``exit``, ``set -e`` and its own traps work. When the shell ends, for whatever reason, the wanted variables and the exit
status are written to the result file (`result_files.py` has its format).

Two things need care. A script may have an EXIT trap of its own, and both must run; so the command ``trap`` is
intercepted, and the script's action becomes a part of ours. And bash runs the EXIT trap also when a signal ends it,
with a status that does not show the signal; so the command ``exit`` leaves a note that the end is intended, and a
result without that note, and with status 0, is not marked as complete.

A script that replaces itself (``exec``) writes no result file: its status is still known, and its outputs are those of
``$ORDITO_OUTPUTS``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from ordito.executors.environment import SHELL_NAME
from ordito.executors.result_files import FORMAT

BASH = frozenset({"bash", "rbash"})
SH = frozenset({"sh", "dash", "ash"})

_IDENTITY = "\0identity\0"
"""The placeholder for job, step and attempt; no path or name can contain it."""

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.ASCII | re.DOTALL)


class UnusableInterpreter(Exception):
    """A ``#!`` line cannot be obeyed; the text says why."""


class Interpreter(msgspec.Struct, frozen=True):
    """What a ``#!`` line asks for: a program (a path or a name), its options, and variables to set for it."""

    program: str
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return self.program.rpartition("/")[2]

    @property
    def is_shell(self) -> bool:
        """Whether it can source the script in the way of this module."""
        return self.name in BASH or self.name in SH


DEFAULT = Interpreter("bash")


def interpreter_of(head: bytes) -> Interpreter:
    """The interpreter that a script's first bytes name; bash if there is no ``#!`` line.

    Options are split at blanks, which the kernel does not do, so ``#!/bin/bash -e -u`` works. ``env`` is understood
    with its assignments and ``-S``; ``-i`` is refused, because an operation needs its environment.
    """
    if not head.startswith(b"#!"):
        return DEFAULT
    return _interpreter(head[2:].split(b"\n", 1)[0])


@lru_cache
def _interpreter(rest: bytes) -> Interpreter:
    """The interpreter of a ``#!`` line, without its first two characters."""
    line = rest.decode(errors="replace").strip()
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if not words:
        return DEFAULT
    variables: list[tuple[str, str]] = []
    if words[0].rpartition("/")[2] == "env":
        words = _without_env(words[1:], variables)
    while len(words) > 1 and words[-1] in ("-", "--"):
        words.pop()
    return Interpreter(words[0], tuple(words[1:]), tuple(variables))


def _without_env(words: list[str], variables: list[tuple[str, str]]) -> list[str]:
    """The words after ``env``, without its own options and assignments."""
    while words:
        word = words[0]
        if word in ("-S", "--split-string", "--"):
            words = words[1:]
        elif word.startswith("-S"):
            words = [word[2:], *words[1:]]
        elif word.startswith("--split-string="):
            words = [word.removeprefix("--split-string="), *words[1:]]
        elif word.startswith("-"):
            raise UnusableInterpreter(f'its "#!" line gives env the option {word}, which is not supported')
        elif assignment := _ASSIGNMENT.fullmatch(word):
            variables.append((assignment[1], assignment[2]))
            words = words[1:]
        else:
            return words
    raise UnusableInterpreter('its "#!" line names env but no interpreter')


def wrapper(
    interpreter: Interpreter, identity: Sequence[str], outputs: Sequence[str], result: str, source: str, tools: str = ""
) -> str:
    """The text that a shell runs around the script, which is its ``$0``.

    ``identity`` are job, step and attempt. ``result`` is the path of the result file. ``source`` is the path of a file
    of variables to read first, "" for none. The text is short because every operation has to read it: what only few
    scripts need is in files in the folder ``tools`` ("": that of this module), which are read when needed.
    """
    text = _around(interpreter.name in BASH, tuple(outputs), result, source, tools or _HERE)
    job, step, attempt = map(shlex.quote, identity)
    return text.replace(_IDENTITY, f"{job} {step} {attempt}")


@lru_cache(maxsize=1_024)
def _around(is_bash: bool, outputs: tuple[str, ...], result: str, source: str, tools: str) -> str:
    """The text for every operation that has the same outputs and the same slot, without its identity."""
    names = [name for name in outputs if SHELL_NAME.fullmatch(name)]
    text = _COMMON.format(
        header=f"{FORMAT} {_IDENTITY}",
        values=(_bash_values(names, tools) if is_bash else _plain_values(names)) if names else "",
        identity=_IDENTITY,
        result=shlex.quote(result),
    )
    if source:
        text += f". {shlex.quote(source)}\n"
    trap_file = shlex.quote(f"{tools}/{_TRAP_FILE}")
    if is_bash:
        return text + _BASH.format(trap=trap_file)
    return text + _SH.format(trap=shlex.quote(f". {trap_file} && __ordito_trap"))


def _bash_values(names: Sequence[str], tools: str) -> str:
    value_file = shlex.quote(f"{tools}/{_VALUE_FILE}")
    return "".join([f"\n. {value_file}", *(f"\n__ordito_value {name}" for name in names), _NEXT])


def _plain_values(names: Sequence[str]) -> str:
    return "".join([*(f"""\n[ -z "${{{n}+x}}" ] || printf '%s\\0' {n} text "${n}\"""" for n in names), _NEXT])


_HERE = str(Path(__file__).parent)
_TRAP_FILE, _VALUE_FILE = "shell_trap.sh", "shell_value.bash"

_NEXT = "\nprintf '%s\\0'"

# In these texts nothing may depend on the options, the IFS or the functions that the script has set by the time they
# run. `command` passes by what stands in for `trap` and `exit`.
#
#   __ordito_write STATUS MARK   writes the result file, which is opened without cutting it (see result_files.py)
#   __ordito_end STATUS          the EXIT trap of a script that has none of its own
#   __ordito_bye                 set by `exit`: this end is a chosen one
_COMMON = r"""__ordito_write() {{ {{ printf '%s\0' {header}{values} '' "$1" "$2" {identity}; }} 1<>{result}; }}
__ordito_end() {{ set +eux; case ${{__ordito_bye+x}}$1 in
0) __ordito_write 0 unsure;; *) __ordito_write "$1" end;; esac; }} 2>/dev/null
command trap '__ordito_end "$?"' EXIT
"""

_BASH = """trap() {{ . {trap}; __ordito_trap "$@"; }}
exit() {{ __ordito_bye=${{1-$?}}; [ -z "${{__ordito_in_trap-}}" ] || __ordito_last; command exit "$__ordito_bye"; }}
. "$0"
exit
"""

# Here a function cannot have the name of these commands, but an alias can; it counts in what is read after it.
_SH = """__ordito_exit() {{ __ordito_bye=${{1-$?}}; [ -z "${{__ordito_in_trap-}}" ] || __ordito_last
command exit "$__ordito_bye"; }}
alias trap={trap} exit=__ordito_exit
. "$0"
exit
"""
