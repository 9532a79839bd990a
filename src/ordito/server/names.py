"""The names of projects, ensembles, users, groups and accounts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import msgspec

from ordito.base.suggest import nearest

UNKNOWN = re.compile(r"unknown field `([^`]*)`")


def meant_field(error: msgspec.ValidationError, fields: Iterable[str]) -> str:
    """A hint at the field that was meant where the error is about an unknown one, else ""."""
    found = UNKNOWN.search(str(error))
    near = nearest(found[1], fields) if found is not None else []
    return f'did you mean "{near[0]}"?' if near else ""


LONGEST_NAME = 63
NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
"""What directories may have in their names, and ensembles may not."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Projects, ensembles and service accounts."""

UserName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$")]
"""Users and groups."""

Text = Annotated[str, msgspec.Meta(max_length=1_000)]
"""A description."""
