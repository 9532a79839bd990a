"""What the manual has about each verb besides its help: examples, exit codes, and related verbs.

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
from ordito.cli.places import AT_SERVER
from ordito.results.pages import page_data

FOLDER = Path(__file__).parent / "manual"


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command that can be given; ``given`` and ``after`` are lines of shell."""

    say: str
    run: str
    given: str = ""
    after: str = ""
    needs: str = ""


class Manual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The manual of a verb; ``exits`` are meanings by exit codes."""

    examples: Sequence[Example]
    exits: Mapping[int, str] = {}
    see: Sequence[str] = ()


def manual_of(verb: str) -> Manual:
    """The manual of a verb, such as "jobs show". Raises ``ValueError`` if its file is not valid."""
    return msgspec.convert(page_data(FOLDER / f"{verb.replace(' ', '_')}.yaml"), Manual, strict=False)


EVERY_VERB = (ExitCode.DONE, ExitCode.REFUSED, ExitCode.USAGE, ExitCode.INTERNAL, ExitCode.INTERRUPTED)
BY_OPTION: Mapping[str, Sequence[ExitCode]] = {
    "timeout": (ExitCode.JOB_FAILED, ExitCode.UNREACHABLE, ExitCode.BUSY, ExitCode.TIMED_OUT),
    "wait_lock": (ExitCode.BUSY,),
    "detailed_exitcode": (ExitCode.CHANGES,),
}
"""The exit codes that a verb has because of an option."""
TAKEN_BACK = (ExitCode.ROLLED_BACK, ExitCode.ROLLBACK_INCOMPLETE)


def exits_of(command: click.Command, manual: Manual) -> Mapping[ExitCode, str]:
    """The exit codes of a verb, with their meanings."""
    codes = {*EVERY_VERB, *(ExitCode(code) for code in manual.exits)}
    if getattr(command, "page", "") in AT_SERVER:
        codes.add(ExitCode.NO_SERVER)
    if any(option.name == "wait_approval" for option in command.params):
        codes.add(ExitCode.NOT_APPROVED)
    for option in command.params:
        codes.update(BY_OPTION.get(option.name or "", ()))
        if option.name == "on_failure" and "rollback" in str(option.metavar):
            codes.update(TAKEN_BACK)
    return {code: manual.exits.get(code, MEANINGS[code].when) for code in sorted(codes)}


# What each exit code means, and what to do then: for the help of verbs and the reference.


class Meaning(msgspec.Struct, frozen=True):
    """When a command ends with a code, and what to do then; both in Markdown."""

    when: str
    cure: str


MEANINGS: Mapping[ExitCode, Meaning] = {
    ExitCode.DONE: Meaning(
        "Done, nothing to do, or done with warnings.",
        "Read the warnings, if there are any. A *degraded* job ends with it too: only optional operations failed.",
    ),
    ExitCode.JOB_FAILED: Meaning(
        "The job ran and failed.",
        "`ordito jobs show` says which steps failed, `ordito jobs logs` what they printed. Repair the cause, then"
        " `ordito upgrade` or `ordito deploy` if you changed the service (mostly a script of it), and"
        " `ordito jobs retry` if you did not: what succeeded is not done again. If the result could not be"
        " written (a full disk), the code is 1 too, and one line says so.",
    ),
    ExitCode.CHANGES: Meaning(
        "There are changes, or an instance is not ok; only with `--detailed-exitcode`.",
        "Read what was shown; `ordito deploy` or `ordito upgrade` carries out changes, and `ordito describe` says"
        " what can be done about an instance.",
    ),
    ExitCode.REFUSED: Meaning(
        "Refused before anything ran: a document, an input, a name, the plan or the ensemble's files are not right.",
        "Each finding names its place and its code; `ordito explain CODE` says what it means and how to correct it."
        " Nothing was changed.",
    ),
    ExitCode.UNREACHABLE: Meaning(
        "The job failed, and every failure was a target that could not be reached; or an instance could not be"
        " healed, because its host refuses the login or cannot be reached.",
        "`ordito hosts check` says which hosts answer, and why others do not. If one refuses the login, correct the"
        " key in the inventory or on the host. Once they answer, `ordito jobs retry`; if a host stays unreachable,"
        " `ordito heal INSTANCE` replaces it.",
    ),
    ExitCode.BUSY: Meaning(
        "Another command works on the ensemble, or an interrupted job must be resumed first.",
        "Wait for it (`--wait-lock SECONDS`), or look at it with `ordito status`. A job that was interrupted is"
        " continued by `ordito jobs resume`, or closed by `ordito jobs cancel`.",
    ),
    ExitCode.TIMED_OUT: Meaning(
        "The time of `--timeout` was over before the job was done.",
        "Running steps were ended, what was done is recorded. `ordito jobs retry` does the rest.",
    ),
    ExitCode.ROLLED_BACK: Meaning(
        "The job failed, and everything that it had done was rolled back.",
        "What runs is what ran before. Repair the cause (`ordito jobs logs`), then give the command again.",
    ),
    ExitCode.ROLLBACK_INCOMPLETE: Meaning(
        "The job failed, and not everything that it had done could be rolled back.",
        "`ordito jobs show` lists what remains, `ordito diff` what is different. Repair it by hand if needed,"
        " then `ordito deploy` or `ordito rollback`.",
    ),
    ExitCode.NOT_APPROVED: Meaning(
        "With a server: what was asked for is accepted, and waits for an approval.",
        "Somebody else approves it with `ordito plans approve`; then `ordito plans apply` begins it.",
    ),
    ExitCode.NO_SERVER: Meaning(
        "With a server: it is not reached, or nobody is signed in there.",
        "The message says which of the two. `ordito login URL` signs in; a program has its token in `ORDITO_TOKEN`."
        " Nothing was changed, unless the message says what goes on there.",
    ),
    ExitCode.USAGE: Meaning(
        "The command line is wrong, or an answer was needed and nobody could be asked.",
        "The message names the option that is meant; `ordito VERB --help` shows all. In scripts give `--yes`.",
    ),
    ExitCode.INTERNAL: Meaning(
        "A fault of Ordito itself.",
        "One line names the file that holds the details. A job that was running is not lost: `ordito jobs resume`"
        " continues it.",
    ),
    ExitCode.INTERRUPTED: Meaning(
        "Interrupted, cancelled, or answered with no.",
        "`ordito jobs resume` continues a job that was interrupted; `ordito jobs retry` does the rest of one that"
        " was cancelled.",
    ),
}
