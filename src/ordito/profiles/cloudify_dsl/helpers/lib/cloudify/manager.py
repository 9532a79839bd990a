"""There is no manager: what it would be asked ends the operation."""

from __future__ import annotations

from typing import Any

from cloudify.exceptions import NonRecoverableError


def get_rest_client(*_: Any, **__: Any) -> Any:
    """Refuses."""
    raise NonRecoverableError("cloudify.manager.get_rest_client needs a Cloudify manager, and there is none")
