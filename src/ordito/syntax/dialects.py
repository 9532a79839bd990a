"""The versions of the language that are read, each a table of what differs from the base grammar (§3.1.2)."""

from __future__ import annotations

from ordito.syntax.grammar import Dialect

TOSCA_NAMESPACE = "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3"
TOSCA_1_3 = Dialect(name="tosca_simple_yaml_1_3", uri=TOSCA_NAMESPACE)
DIALECTS = {name: dialect for dialect in (TOSCA_1_3,) for name in (dialect.name, dialect.uri)}
