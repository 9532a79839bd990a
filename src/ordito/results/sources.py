"""The repository in git that an ensemble of a server follows."""

from __future__ import annotations

from typing import Literal

from ordito.results.answer import Result


class SourceData(Result, frozen=True, kw_only=True):
    """The repository that an ensemble follows."""

    repository: str
    branch: str
    path: str
    apply: Literal["ask", "auto"]
    every: float
    hook: str
    """Where pushes are told: by a hook of GitHub, Gitea, Forgejo or GitLab, with JSON, or with `Ordito-Signature`."""

    secret: str | None = None
    """The secret of the hook, when the source is made: it is shown only then."""

    revision: str
    """The last commit of which a plan was made, "" for none."""

    looked: str | None
    """When the repository was looked at last."""

    problem: str
    """Why the last look has led to nothing, or what was left out."""

    by: str
    """Who has set it last: what they may not do any more is not done."""

    created: str
