"""What every command that has held the ensemble's lock does at its end: it handles the notices that arrived
meanwhile."""

from __future__ import annotations

from pathlib import Path

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import was_held

GIVES_UP = frozenset({ExitCode.INTERRUPTED, ExitCode.TIMED_OUT})
"""The exit codes of commands that were told to end: nothing more is begun then."""


def handle_afterwards(session: Session, code: ExitCode) -> ExitCode:
    """Handle the notices that arrived while the command held the lock, which nobody else will. Returns the exit code:
    it differs from that of the command only if the command succeeded and the handling did not."""
    layout = Layout(Path(session.settings.directory))
    if not was_held(layout) or not layout.inbox.exists():
        return code
    # Hardly any command finds something to do here.
    from ordito.app.notices.handling import HandlingRequest, handle_waiting
    from ordito.cli.failures import EXPECTED, interrupted, present
    from ordito.cli.handling_view import CliOnlooker, say_waiting
    from ordito.ensemble.errors import EnsembleError
    from ordito.ensemble.inbox import Inbox

    try:
        with Inbox(layout) as inbox:
            waiting = inbox.waiting()
        if not waiting:
            return code
        if code in GIVES_UP:
            say_waiting(waiting, session)
            return code
        handling = handle_waiting(HandlingRequest(session.settings.directory), CliOnlooker(session))
    except EXPECTED as error:
        failed = present(error, session)
        return failed if code is ExitCode.DONE and isinstance(error, EnsembleError) else code
    except KeyboardInterrupt:
        return interrupted(session)
    if handling.waiting and not handling.holder and not handling.interrupted:
        say_waiting(handling.waiting, session)
    return ExitCode.JOB_FAILED if handling.has_failed and code is ExitCode.DONE else code
