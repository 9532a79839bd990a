"""The workflows whose plans can be saved, and what a command asks of each."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from ordito.app.errors import Refused
from ordito.app.proposal import Asked
from ordito.work.workflows import is_written

ASKED: Mapping[str, tuple[str, str]] = {
    "deploy": ("deploy", "DeployAsked"),
    "upgrade": ("upgrade", "UpgradeAsked"),
    "rollback": ("rollback", "RollbackAsked"),
    "undeploy": ("undeploy", "UndeployAsked"),
    "scale": ("scale", "ScaleAsked"),
    "heal": ("heal", "HealAsked"),
    "stop": ("move", "MoveAsked"),
    "start": ("move", "MoveAsked"),
    "restart": ("move", "MoveAsked"),
    "check": ("look", "LookAsked"),
    "discover": ("look", "LookAsked"),
    "run": ("run", "RunAsked"),
    "workflow": ("workflow", "WorkflowAsked"),
}
"""By workflow: the file in this folder, and the class in it; all those of templates are one."""


def asked_type(workflow: str) -> type[Asked]:
    """What a command asks of a workflow. Raises ``Refused`` for one that is not known."""
    key = "workflow" if is_written(workflow) else workflow
    if key not in ASKED:
        raise Refused("unknown-workflow", f'this version of ordito knows no workflow "{workflow}"')
    module, name = ASKED[key]
    found: type[Asked] = getattr(importlib.import_module(f"ordito.app.proposals.{module}"), name)
    return found
