r"""Shell scripts: which shell, and the few lines around a script that bring its variables back.

The script is sourced by a shell that was started with ``-c`` and the script's path as ``$0``, under the options of its
``#!`` line, so that it cannot tell the difference: ``$0`` and ``BASH_SOURCE`` are its path, ``$$`` is its process, and
``exit``, ``set -e`` and its own traps work. When the shell ends, however it does, the wanted variables and the exit
status are written to the result file (`result.py` has its format).

Two things need care. A script may have an EXIT trap of its own, and both must run; so the command ``trap`` is looked
at on its way, and the script's action becomes a part of ours. And bash runs the EXIT trap also when a signal ends it,
with a status that says nothing of the signal; so the command ``exit`` leaves a note that the end is a chosen one, and
a result without that note, and with status 0, is not marked as complete.

A script that replaces itself (``exec``) writes no result file: its status is known all the same, and its outputs are
those of ``$ORDITO_OUTPUTS``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from ordito.executors.environment import SHELL_NAME
from ordito.executors.result import END, LIST, MAP, TEXT, UNSURE, header

BASH = frozenset({"bash", "rbash"})
SH = frozenset({"sh", "dash", "ash"})

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.ASCII | re.DOTALL)


class UnusableInterpreter(Exception):
    """A ``#!`` line that cannot be carried out; the text says why."""


class Interpreter(msgspec.Struct, frozen=True):
    """What a ``#!`` line asks for: a program (a path or a name), its options, and variables to set for it."""

    program: str
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return PurePosixPath(self.program).name

    @property
    def is_shell(self) -> bool:
        """Whether the script can be sourced by it as this module does."""
        return self.name in BASH or self.name in SH


DEFAULT = Interpreter("bash")


def interpreter_of(head: bytes) -> Interpreter:
    """The interpreter named by a script's first bytes; bash where there is no ``#!`` line.

    Options are split at blanks, which the kernel does not do: ``#!/bin/bash -e -u`` means what it says. ``env`` is
    looked through: its assignments and ``-S``, ``-i`` is refused because an operation lives on its environment.
    """
    if not head.startswith(b"#!"):
        return DEFAULT
    line = head[2:].split(b"\n", 1)[0].decode(errors="replace").strip()
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if not words:
        return DEFAULT
    variables: list[tuple[str, str]] = []
    if PurePosixPath(words[0]).name == "env":
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


def wrapper(interpreter: Interpreter, identity: Sequence[str], outputs: Sequence[str], result: str, source: str) -> str:
    """The text that a shell runs around the script, which is its ``$0``.

    ``identity`` are job, step and attempt, for the result's header. ``result`` is the path of the result file.
    ``source`` is the path of a file of variables to read first, "" for none.
    """
    is_bash = interpreter.name in BASH
    names = [name for name in outputs if SHELL_NAME.fullmatch(name)]
    values = "".join(f"__ordito_value {n}\n" if is_bash else _plain_value(n) for n in names)
    text = _COMMON.format(
        header=" ".join(shlex.quote(word) for word in header(*identity)),
        values=values,
        result=shlex.quote(result),
        complete=END,
        unsure=UNSURE,
    )
    if is_bash and names:
        text += _BASH_VALUE
    text += _BASH_COMMANDS if is_bash else _SH_COMMANDS
    if source:
        text += f". {shlex.quote(source)}\n"
    return text + '. "$0"\nexit\n'


def _plain_value(name: str) -> str:
    return f"""[ -z "${{{name}+x}}" ] || printf '%s\\0' {name} {TEXT} "${name}"\n"""


# In these texts nothing may depend on the options, the IFS or the functions that the script has set by the time they
# run. `command` passes by our own `trap` and `exit`.
#
#   __ordito_write STATUS MARK   writes the result file
#   __ordito_end STATUS          the EXIT trap of a script that has none of its own
#   __ordito_before STATUS       before the script's own EXIT trap, whose $? it must leave behind as it found it
#   __ordito_exit                stands in for `exit`
#   __ordito_trap                stands in for `trap`
#
# The files that `read` looks at tells a subshell from the script's own shell: a subshell that sets a trap must not
# write the result.
_COMMON = r"""__ordito_write() {{
{{ printf '%s\0' {header}
{values}printf '%s\0' '' "$1" "$2"
}} >|{result}
}} 2>/dev/null
__ordito_end() {{
set +eux
if [ -n "${{__ordito_bye-}}" ] || [ "$1" != 0 ]; then __ordito_write "$1" {complete}; else __ordito_write "$1" {unsure}; fi
}} 2>/dev/null
__ordito_main() {{
read -r __ordito_pid __ordito_rest </proc/self/stat && [ "$__ordito_pid" = "$$" ]
}} 2>/dev/null
__ordito_before() {{
__ordito_in_trap=1 __ordito_status=$1
if __ordito_main; then __ordito_write "$1" {unsure}; fi
return "$1"
}} 2>/dev/null
__ordito_after() {{
if __ordito_main; then __ordito_end "$__ordito_status"; fi
}} 2>/dev/null
__ordito_exit() {{
__ordito_bye=${{1-$?}}
if [ -n "${{__ordito_in_trap-}}" ] && __ordito_main; then __ordito_write "$__ordito_bye" {complete} || :; fi
command exit "$__ordito_bye"
}}
__ordito_trap() {{
if [ "${{1-}}" = -- ]; then shift; fi
case $#:${{1-}} in
1:EXIT|1:0) set -- - EXIT;;
[01]:*|*:-[lpP]*) command trap "$@"; return;;
*:*__ordito_before*) return;;
*:*__ordito_end*) shift; set -- - "$@";;
esac
__ordito_new=$1
shift
for __ordito_signal do
case $__ordito_signal:$__ordito_new in
EXIT:|exit:|SIGEXIT:|0:|EXIT:-|exit:-|SIGEXIT:-|0:-)
command trap '__ordito_end "$?"' EXIT;;
EXIT:*|exit:*|SIGEXIT:*|0:*)
__ordito_action=$__ordito_new
command trap 'if __ordito_before "$?"; then eval "$__ordito_action"; else eval "$__ordito_action"; fi; __ordito_after' EXIT;;
*) command trap -- "$__ordito_new" "$__ordito_signal" || return;;
esac
done
}}
command trap '__ordito_end "$?"' EXIT
"""

_BASH_COMMANDS = """trap() { __ordito_trap "$@"; }
exit() { __ordito_exit "$@"; }
"""

_SH_COMMANDS = """alias trap=__ordito_trap exit=__ordito_exit
"""

# An indexed array comes back as a list, an associative one as a map. Bash older than 4.4 gives the first element.
_BASH_VALUE = rf"""__ordito_value() {{
if (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404 )); then
[ -z "${{!1+x}}" ] || printf '%s\0' "$1" {TEXT} "${{!1}}"
return
fi
local -
set +eux
local -n __ordito_r=$1
local __ordito_k
case ${{__ordito_r@a}} in
*a*) printf '%s\0' "$1" {LIST} "${{#__ordito_r[@]}}" "${{__ordito_r[@]}}";;
*A*) printf '%s\0' "$1" {MAP} "${{#__ordito_r[@]}}"
for __ordito_k in "${{!__ordito_r[@]}}"; do printf '%s\0' "$__ordito_k" "${{__ordito_r[$__ordito_k]}}"; done;;
*) [ -z "${{__ordito_r+x}}" ] || printf '%s\0' "$1" {TEXT} "$__ordito_r";;
esac
}}
"""
