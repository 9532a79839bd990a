"""What each exit code means, and what to do then: for the help of verbs and the reference."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.cli.exit_codes import ExitCode


class Meaning(msgspec.Struct, frozen=True):
    """When a command ends so, and what to do then; both in Markdown."""

    when: str
    cure: str


MEANINGS: Mapping[ExitCode, Meaning] = {
    ExitCode.DONE: Meaning(
        "Done, nothing to do, or done with warnings.",
        "Read the warnings, if there are any. A job that is *degraded* ends so too: what failed was optional.",
    ),
    ExitCode.JOB_FAILED: Meaning(
        "The job ran and failed.",
        "`ordito jobs show` says which steps failed, `ordito jobs logs` what they printed. Mend the cause, then"
        " `ordito upgrade` or `ordito deploy` where you changed the service (mostly a script of it), and"
        " `ordito jobs retry` where you did not: what ended well is not done again. Where the result could not be"
        " written (a full disk), the code is 1 too, and one line says so.",
    ),
    ExitCode.CHANGES: Meaning(
        "There are changes, or an instance is not ok; only with `--detailed-exitcode`.",
        "Look at what was shown; `ordito deploy` or `ordito upgrade` carries changes out, and `ordito describe` says"
        " what can be done about an instance.",
    ),
    ExitCode.REFUSED: Meaning(
        "Refused before anything ran: a document, an input, a name, the plan or the ensemble's files are not right.",
        "Each finding names its place and its code; `ordito explain CODE` says what it means and how to mend it."
        " Nothing was changed.",
    ),
    ExitCode.UNREACHABLE: Meaning(
        "The job failed, and every failure was a target that could not be reached; or what was to be healed could not"
        " be, because its host lets nobody in or is away.",
        "`ordito hosts check` says which hosts answer, and why one does not. Where one lets nobody in, put the key"
        " right in the inventory or on the host. Once they answer, `ordito jobs retry`; where a host stays away,"
        " `ordito heal INSTANCE` has it made anew.",
    ),
    ExitCode.BUSY: Meaning(
        "Another command works on the ensemble, or an interrupted job must be resumed first.",
        "Wait for it (`--wait-lock SECONDS`), or look at it with `ordito status`. A job that was interrupted is"
        " continued by `ordito jobs resume`, or closed by `ordito jobs cancel`.",
    ),
    ExitCode.TIMED_OUT: Meaning(
        "The time that `--timeout` gave was over before the job was done.",
        "Running steps were ended, what was done is recorded. `ordito jobs retry` does the rest.",
    ),
    ExitCode.ROLLED_BACK: Meaning(
        "The job failed, and all that it had done was taken back.",
        "What runs is what ran before. Mend the cause (`ordito jobs logs`), then give the command again.",
    ),
    ExitCode.ROLLBACK_INCOMPLETE: Meaning(
        "The job failed, and not all that it had done could be taken back.",
        "`ordito jobs show` lists what remains, `ordito diff` what is different. Mend it by hand where that is needed,"
        " then `ordito deploy` or `ordito rollback`.",
    ),
    ExitCode.USAGE: Meaning(
        "The command line is wrong, or an answer was needed and there is nobody to ask.",
        "The message names the option that is meant; `ordito VERB --help` shows all. In scripts give `--yes`.",
    ),
    ExitCode.INTERNAL: Meaning(
        "A fault of Ordito itself.",
        "One line names the file that holds the details. A job that was running is not lost: `ordito jobs resume`"
        " continues it.",
    ),
    ExitCode.INTERRUPTED: Meaning(
        "Interrupted, cancelled, or answered with no.",
        "Where a job was cut off, `ordito jobs resume` continues it; one that was cancelled is taken up by"
        " `ordito jobs retry`.",
    ),
}
