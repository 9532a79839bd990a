"""What came of the files of a job in git, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.session import Session

if TYPE_CHECKING:
    from ordito.app.state.edit import Recorded
    from ordito.ensemble.keeping import Kept


def warn_of_kept(kept: Kept, session: Session) -> None:
    """Say what is not committed and why, and why other clones do not have it."""
    for problem in kept.problems:
        session.warn(f"not committed: {problem}")
    if kept.sharing:
        session.warn(kept.sharing)


def commits(kept: Kept) -> str:
    """The commit that holds the files of a job, and those that hold what it was made from, of this job or made before;
    shortened as git does."""
    made_from = ", ".join(f"{commit[:12]} ({tree})" for tree, commit in kept.commits.items())
    return f"{kept.own[:12]} (this ensemble)" + (f"; made from {made_from}" if made_from else "")


def write_kept(kept: Kept, session: Session) -> None:
    """Say both, and in which commits the files are."""
    warn_of_kept(kept, session)
    if kept.own:
        session.note(f"Committed: {commits(kept)}")


def kept_data(kept: Kept) -> dict[str, object]:
    """The same for programs."""
    return {
        "commit": kept.own,
        "commits": dict(kept.commits),
        "not_committed": list(kept.problems),
        "not_shared": kept.sharing,
    }


def recorded_data(recorded: Recorded) -> dict[str, object]:
    """A job that only holds edits, for programs."""
    return {"job": recorded.job, **kept_data(recorded.kept)}
