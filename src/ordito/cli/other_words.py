"""The verbs by which other tools call what a verb of ours does, where it is not the same enough to be an alias."""

from __future__ import annotations

from collections.abc import Mapping

OTHER_WORDS: Mapping[str, str] = {
    # The command lines of Terraform and OpenTofu
    "force-unlock": "jobs unlock",
    "import": "state adopt",
    "refresh": "discover",
    "show": "describe",
    "taint": "upgrade --replace NODE",
    "workspace": "spec --env NAME",
    # of Cloudify
    "blueprints": "validate SERVICE",
    "deployments": "status",
    "events": "jobs logs",
    "executions": "jobs list",
    "node-instances": "describe NODE",
    "update": "upgrade",
    "workflows": "workflow list",
    # of xOpera
    "info": "status",
    "outputs": "output",
    "unpack": "unpackage",
    # of Yorc
    "tasks": "jobs list",
    # and of others
    "ls": "status",
    "list": "status",
    "log": "jobs logs",
    "logs": "jobs logs",
    "nodes": "status",
    "repair": "heal",
    "resume": "jobs resume",
    "retry": "jobs retry",
    "cancel": "jobs cancel",
    "replay": "jobs replay",
}
"""By a word that is none of our verbs: the command that is meant, or is nearest to it."""

OTHER_OPTIONS: Mapping[str, str] = {
    "--auto-approve": "--yes goes ahead without asking",
    "--check": "`ordito plan` shows what would be done",
    "--dry-run": "`ordito plan` shows what would be done",
    "--plan-only": "`ordito plan` shows what would be done",
}
"""By an option of other tools that is none of ours: what there is in its place."""

OTHER_ARGUMENTS: Mapping[str, str] = {
    "status": "it shows everything; `ordito describe NAME` shows one node or instance",
}
"""By a verb that takes no further words: what there is for somebody who gives it one."""
