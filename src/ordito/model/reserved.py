"""Names that TOSCA and its normative lifecycle give a meaning of their own (§4.1, §4.2)."""

from __future__ import annotations

KEYWORDS = frozenset({"SELF", "SOURCE", "TARGET", "HOST", "ORCHESTRATOR", "INDEX"})
"""What stands for something in functions and mappings; no template can be called so."""

NODE_VARIABLES = ("NODE", "INSTANCE", "INSTANCES", "HOST")
"""The variables that every operation of a node finds in its environment, whatever its inputs are called."""

RELATIONSHIP_VARIABLES = (
    *("SOURCE", "SOURCES", "SOURCE_NODE", "SOURCE_INSTANCE", "SOURCE_INSTANCES"),
    *("TARGET", "TARGETS", "TARGET_NODE", "TARGET_INSTANCE", "TARGET_INSTANCES"),
)
"""Those that every operation of a relationship finds."""

ENDS = ("SOURCE", "SOURCES", "TARGET", "TARGETS")
"""Those of relationships whose names TOSCA reserves in operations of nodes as well, where nothing sets them (§4.2)."""
