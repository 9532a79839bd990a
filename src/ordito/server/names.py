"""The names of projects, ensembles, users, groups and accounts."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

LONGEST_NAME = 63
NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
"""What directories may have in their names, and ensembles may not."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Projects, ensembles and service accounts."""

UserName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$")]
"""Users and groups."""

Text = Annotated[str, msgspec.Meta(max_length=1_000)]
"""A description."""
