"""Scripts of workflows are not run; what they import is there so that a script that only names it goes on."""

from __future__ import annotations

from typing import Any

from cloudify.exceptions import NonRecoverableError


class _Refused:
    """Refuses whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise NonRecoverableError("workflow scripts are not run")


ctx: Any = _Refused()
parameters: Any = _Refused()
api: Any = _Refused()
