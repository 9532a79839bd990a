"""What a command line may ask of a removal."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ordito.cli.options import force_option

TAKES_INPUTS = False

ABOUT = "What was deployed last is removed, by the files as they were then."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a removal; the verb gets them as ``asked``."""

    @force_option
    @functools.wraps(function)
    def with_asked(*arguments: Any, force: bool, **others: Any) -> Any:
        from ordito.app.proposals.undeploy import UndeployAsked

        return function(*arguments, asked=UndeployAsked(force), **others)

    return with_asked
