"""All that query processes answer: the looks of the command, and what only the server asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordito.results.answer import UseCase
from ordito.results.looks import LOOKS
from ordito.server.processes.making import MAKE

SERVER_LOOKS: Mapping[str, UseCase[Any, Any]] = {**LOOKS, MAKE.name: MAKE}
"""By name."""
