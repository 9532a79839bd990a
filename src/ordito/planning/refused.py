"""How a plan is refused."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.base.diagnostics import Diagnostic
from ordito.work.plan import Change


class PlanRefused(Exception):
    """There is no plan: every reason that was found, each with what to do about it. Nothing was changed.

    ``changes`` are the wanted ones, including what is refused, if planning came that far. If it ``is_of_deployed``, the
    deployed service is the reason: what is corrected in its files counts once it is deployed. With ``more_words`` the
    same command is not refused, and does what ``purpose`` says. ``public_inputs`` are the inputs of the command whose
    values are known to be no secrets.
    """

    def __init__(
        self,
        diagnostics: Sequence[Diagnostic],
        changes: Sequence[Change] = (),
        *,
        is_of_deployed: bool = False,
        more_words: tuple[str, ...] = (),
        purpose: str = "",
    ) -> None:
        self.diagnostics = list(diagnostics)
        self.changes = tuple(changes)
        self.is_of_deployed = is_of_deployed
        self.more_words = more_words
        self.purpose = purpose
        self.public_inputs: frozenset[str] = frozenset()
        super().__init__("; ".join(str(d) for d in self.diagnostics[:3]))
