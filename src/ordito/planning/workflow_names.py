"""Names of workflows."""

from __future__ import annotations

ALIASES = {"install": "deploy", "uninstall": "undeploy"}
"""Names that the specification has for workflows that are called otherwise here (§7.1)."""
