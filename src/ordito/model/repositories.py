"""Repositories: whether their credentials are what the data type asks for (§3.6.6, §5.3.2)."""

from __future__ import annotations

from ordito.model.schema import Schema
from ordito.model.units import Units
from ordito.model.values import Values
from ordito.source.nodes import Mapping, Node, Scalar

CREDENTIAL = Schema("tosca.datatypes.Credential")


def check_credentials(units: Units, values: Values) -> None:
    """Check the credentials of all repositories, now that data types are known."""
    for unit in units.written:
        for name, repository in (unit.content.repositories or {}).items():
            written = repository.credential
            if written is not None and not _is_bare_token(written):
                values.read(written, CREDENTIAL, f'the credential of repository "{name}"')


def _is_bare_token(node: Node) -> bool:
    """Whether a credential is a token and nothing else: that looks like a call of the function ``token``, which has no
    meaning before the service is known."""
    return isinstance(node, Mapping) and [*node.values] == ["token"] and isinstance(node.values["token"], Scalar)
