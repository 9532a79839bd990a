"""The lock that clones of an ensemble share: a reference in their common repository.

Only one push can create it, so only one clone works at a time. It is taken before the state is read, and released by
the same push that brings the new state, so that no clone begins with an old one. A clone whose command was killed still
holds it: its next command continues with it, and `ordito jobs unlock --remote` removes the lock of a clone that is
gone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time

import msgspec

from ordito.base.git_process import GitFailed
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import read, write_whole
from ordito.ensemble.git.job_files import OwnFiles
from ordito.ensemble.git.sharing import Meeting
from ordito.ensemble.keeping import KeptCommits
from ordito.ensemble.layout import Layout
from ordito.ensemble.owner import LockOwner, SharedLocked, current_user, process_space, start_of

PAUSE = 1.0
"""Seconds between two attempts to take a lock that somebody else holds."""

LIMIT = 120.0
"""Seconds for calls of git that need the network."""


class Lease(msgspec.Struct, frozen=True):
    """A lock in the common repository."""

    id: str
    """The id of the commit that holds its note."""
    owner: LockOwner
    """Its owner, by the note."""


class SharedLock:
    """The lock of one clone, while a command holds it. Failures raise ``EnsembleError``."""

    def __init__(self, layout: Layout, meeting: Meeting, command: str) -> None:
        self._layout = layout
        self._meeting = meeting
        self._git = meeting.tree.git
        self._held = ""
        self._is_left_over = False
        self._is_kept = False
        self._owner = LockOwner(
            user=current_user(),
            machine=socket.gethostname(),
            pid=os.getpid(),
            command=command,
            since=time.time(),
            place=str(layout.root),
            space=process_space(),
            started=start_of(os.getpid()),
        )

    # ------------------------------------------------------------------------------------------------------- taking

    def take(self, wait: float) -> None:
        """Take the lock; wait up to ``wait`` seconds where another clone holds it. Raises ``SharedLocked``."""
        give_up = time.monotonic() + wait
        while True:
            found = find(self._meeting)
            if found is None or self._is_ours(found):
                self._is_left_over = found is not None
                if self._put(found.id if found else "", self._owner):
                    return
                continue
            left = give_up - time.monotonic()
            if left <= 0:
                raise SharedLocked(self._meeting.remote, found.owner)
            time.sleep(min(PAUSE, left))

    def _is_ours(self, found: Lease) -> bool:
        """Whether a command of this very clone left the lock behind: it does not run any more, since this one holds the
        lock of the clone."""
        noted = (read(self._layout.shared_lock) or b"").decode().split()
        return found.id in noted and found.owner.place == self._owner.place

    def name_job(self, job: str) -> None:
        """Write into the lock which job it is held for."""
        if not self._put(self._held, msgspec.structs.replace(self._owner, job=job)):
            raise EnsembleError(f"the lock in {self._meeting.remote} was taken away from this command")

    def _put(self, before: str, owner: LockOwner) -> bool:
        """Make the lock another note, if it is still ``before`` ("" for none); whether that was so."""
        note = _note(self._meeting, owner)
        # Written first, so that a clone that is killed right after the push knows the lock for its own.
        write_whole(self._layout.shared_lock, [f"{self._held or before}\n{note}\n".encode()])
        lease = f"--force-with-lease={self._meeting.lock}:{before}"
        try:
            self._push("--no-verify", lease, f"{note}:{self._meeting.lock}")
        except GitFailed as failure:
            found = find(self._meeting)
            if (found.id if found else "") != before:
                return found is not None and found.id == note and self._hold(note)
            raise _unreachable(self._meeting, failure) from failure
        return self._hold(note)

    def _hold(self, note: str) -> bool:
        self._held = note
        return True

    def check_current(self) -> None:
        """Check that this clone has everything that others have pushed."""
        there = _listed(self._meeting, self._meeting.branch)
        if there and not self._git.holds("merge-base", "--is-ancestor", there, "HEAD"):
            raise EnsembleError(
                f"this clone does not have all that is in {self._meeting.shown}", "bring it up to date: git pull"
            )

    # -------------------------------------------------------------------------------------------------- giving back

    def keep(self) -> None:
        """Do not release the lock when the command ends: other clones must not begin with their state."""
        self._is_kept = True

    def publish(self, kept: KeptCommits) -> KeptCommits:
        """Push the state after a job and release the lock; where that fails, keep the lock, and the result says why."""
        self.keep()
        if not kept.own:
            return _told(kept, f"the lock in {self._meeting.remote} is kept, since the job is not in git", AFTERWARDS)
        try:
            self._push_state()
        except (GitFailed, EnsembleError) as failure:
            why = f"the job is not pushed to {self._meeting.shown}, and the lock there is kept: {failure}"
            return _told(kept, why, AFTERWARDS)
        return kept

    def _push_state(self) -> None:
        meeting = self._meeting
        lease = f"--force-with-lease={meeting.lock}:{self._held}"
        try:
            self._push("--atomic", lease, f"HEAD:{meeting.branch}", f":{meeting.lock}")
        except GitFailed:
            if find(meeting) is not None or _listed(meeting, meeting.branch) != meeting.tree.head():
                raise
        self._forget()

    def release(self, *, is_finished: bool) -> None:
        """Release the lock at the end of a command, if it is still held and no job waits to be resumed."""
        if not self._held or self._is_kept or not is_finished:
            return
        if self._is_left_over:
            # The command that left it had to push what it did.
            if OwnFiles(self._layout, self._meeting.tree).changes():
                raise EnsembleError(
                    f"the lock in {self._meeting.remote} is kept, since the last job is not in git", AFTERWARDS
                )
            try:
                self._push_state()
            except GitFailed as failure:
                raise EnsembleError(
                    f"the lock in {self._meeting.remote} is kept: {failure.message}", AFTERWARDS
                ) from failure
            return
        self.drop()

    def drop(self) -> None:
        """Release the lock without a push of the state, since nothing was done."""
        if self._held and not self._is_left_over:
            remove(self._meeting, self._held)
            self._forget()

    def _forget(self) -> None:
        self._held = ""
        with contextlib.suppress(FileNotFoundError):
            self._layout.shared_lock.unlink()

    def _push(self, *arguments: str) -> None:
        """Push; the options come first, and then references."""
        options = [argument for argument in arguments if argument.startswith("--")]
        self._git.run("push", "--quiet", *options, self._meeting.remote, *arguments[len(options) :], limit=LIMIT)


AFTERWARDS = (
    "git pull --no-rebase (`ordito jobs replay --write` if ensemble.yaml is in conflict), commit, git push; "
    "then `ordito jobs unlock --remote`"
)


def find(meeting: Meeting) -> Lease | None:
    """The lock in the common repository; None where nobody holds it. Raises ``EnsembleError``."""
    while note := _listed(meeting, meeting.lock):
        try:
            meeting.tree.git.run(
                *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", meeting.remote, meeting.lock), limit=LIMIT
            )
            return Lease(note, _owner(meeting, note))
        except GitFailed as failure:
            if _listed(meeting, meeting.lock) == note:
                raise _unreachable(meeting, failure) from failure
    return None


def remove(meeting: Meeting, note: str) -> None:
    """Remove the lock, if it is still the one with this note. Raises ``EnsembleError``."""
    try:
        meeting.tree.git.run(
            *("push", "--quiet", "--no-verify", f"--force-with-lease={meeting.lock}:{note}"),
            *(meeting.remote, f":{meeting.lock}"),
            limit=LIMIT,
        )
    except GitFailed as failure:
        found = _listed(meeting, meeting.lock)
        if found == note:
            raise _unreachable(meeting, failure) from failure
        if found:
            raise EnsembleError("somebody else has taken the lock meanwhile", "look again") from failure


def _listed(meeting: Meeting, reference: str) -> str:
    """The id that a reference has in the common repository, "" where it is not there. Raises ``EnsembleError``."""
    try:
        printed = meeting.tree.git.run("ls-remote", "--quiet", meeting.remote, reference, limit=LIMIT)
    except GitFailed as failure:
        raise _unreachable(meeting, failure) from failure
    lines = [line.split("\t") for line in printed.decode().splitlines()]
    return next((line[0] for line in lines if line[1] == reference), "")


def _note(meeting: Meeting, owner: LockOwner) -> str:
    """The id of a new commit without files that says who the owner is."""
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _identity(owner).items()}
    try:
        tree = meeting.tree.git.run("hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
        text = msgspec.json.encode(owner)
        return meeting.tree.git.run("commit-tree", tree, given=text, more=who).decode().strip()
    except GitFailed as failure:
        raise EnsembleError(f"git cannot write the lock's note: {failure.message}") from failure


def _identity(owner: LockOwner) -> dict[str, str]:
    return {"NAME": f"ordito {owner.user}", "EMAIL": f"{owner.user}@{owner.machine}"}


def _owner(meeting: Meeting, note: str) -> LockOwner:
    text = meeting.tree.git.run("cat-file", "commit", note)
    try:
        return msgspec.json.decode(text.partition(b"\n\n")[2], type=LockOwner)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return LockOwner()


def _unreachable(meeting: Meeting, failure: GitFailed) -> EnsembleError:
    return EnsembleError(
        f"the lock in {meeting.remote} cannot be read or changed: {failure.message}",
        f"see whether it can be reached and written to: git push {meeting.remote} HEAD",
    )


def _told(kept: KeptCommits, why: str, hint: str) -> KeptCommits:
    return msgspec.structs.replace(kept, sharing=f"{why}; afterwards: {hint}")
