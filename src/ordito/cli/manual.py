"""What the manual says of each verb besides its help: examples, exit codes, and what to see also.

It is the file ``manual/VERB.yaml``, with the keys

    examples   a list; of each ``say``, what it does, in half a sentence; ``run``, the command; and where it takes more
               than the examples before it have left, ``given`` and ``after``: lines of shell before and after it, which
               readers do not see; ``needs``, a program that has to be there, without which the example is not run
    exits      where the codes of the verb's options are not all that there are, or where one means something of its
               own: a map of codes to meanings
    see        other verbs

The examples are executed in the order of the verbs, as one story: `docs/reference/commands.md` is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from ordito.cli.exit_codes import ExitCode
from ordito.cli.exit_meanings import MEANINGS
from ordito.cli.page_files import page_data

FOLDER = Path(__file__).parent / "manual"


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command that can be given; ``given`` and ``after`` are lines of shell."""

    say: str
    run: str
    given: str = ""
    after: str = ""
    needs: str = ""


class Manual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a verb; ``exits`` are meanings by codes."""

    examples: Sequence[Example]
    exits: Mapping[int, str] = {}
    see: Sequence[str] = ()


def manual_of(verb: str) -> Manual:
    """What the manual says of a verb, such as "jobs show". Raises ``ValueError`` where its file is not right."""
    return msgspec.convert(page_data(FOLDER / f"{verb.replace(' ', '_')}.yaml"), Manual, strict=False)


EVERY_VERB = (ExitCode.DONE, ExitCode.REFUSED, ExitCode.USAGE, ExitCode.INTERNAL, ExitCode.INTERRUPTED)
BY_OPTION: Mapping[str, Sequence[ExitCode]] = {
    "timeout": (ExitCode.JOB_FAILED, ExitCode.UNREACHABLE, ExitCode.BUSY, ExitCode.TIMED_OUT),
    "wait_lock": (ExitCode.BUSY,),
    "detailed_exitcode": (ExitCode.CHANGES,),
}
"""The exit codes that a verb has because it takes an option."""
TAKEN_BACK = (ExitCode.ROLLED_BACK, ExitCode.ROLLBACK_INCOMPLETE)


def exits_of(command: click.Command, manual: Manual) -> Mapping[ExitCode, str]:
    """The codes with which a verb can end, and what each means there."""
    codes = {*EVERY_VERB, *(ExitCode(code) for code in manual.exits)}
    for option in command.params:
        codes.update(BY_OPTION.get(option.name or "", ()))
        if option.name == "on_failure" and "rollback" in str(option.metavar):
            codes.update(TAKEN_BACK)
    return {code: manual.exits.get(code, MEANINGS[code].when) for code in sorted(codes)}
