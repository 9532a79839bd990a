"""The exceptions of use cases, besides those that lower rooms raise themselves.

The others are ``InvalidDocument`` (base), ``PlanRefused`` (planning), ``EnsembleError`` and ``Locked`` (ensemble).
"""

from __future__ import annotations


class JobUnfinished(Exception):
    """A job of this ensemble was interrupted; it must be resumed before anything else is changed."""

    def __init__(self, job: str, workflow: str) -> None:
        super().__init__(f"job {job} ({workflow}) was interrupted and is not finished")


class Refused(Exception):
    """The request does not make sense here; ``code`` names the reason, ``hint`` says what to do instead.

    ``next_words`` are the words of a helpful command about the same ensemble (without the program's name), and
    ``purpose`` says what it does. ``more_words`` are words to be added to the user's own command instead.
    ``public_inputs`` are the inputs of the command whose values are known not to be secret.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        *,
        next_words: tuple[str, ...] = (),
        more_words: tuple[str, ...] = (),
        purpose: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.next_words = next_words
        self.more_words = more_words
        self.purpose = purpose
        self.public_inputs: frozenset[str] = frozenset()


class Declined(Exception):
    """The question whether to go ahead was answered with no; nothing was changed."""


class NobodyToAsk(Exception):
    """An answer is needed before anything is changed, and there is no terminal to ask at. ``losing`` are the instances
    whose data would be lost."""

    def __init__(self, workflow: str, losing: tuple[str, ...] = ()) -> None:
        super().__init__(f"{workflow} asks before it changes anything, and there is no terminal to answer at")
        self.losing = losing
