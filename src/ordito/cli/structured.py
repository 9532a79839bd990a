"""Results for programs, as JSON or YAML."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.json_text import json_text
from ordito.base.sensitive import shown
from ordito.cli.channel import Channel
from ordito.cli.settings import Format


def write_data(data: Mapping[str, object], form: Format, channel: Channel) -> None:
    """Write plain data in a format for programs."""
    if form is Format.YAML:
        from ordito.ensemble.yaml_writer import block

        channel.write("".join(block({name: shown(value) for name, value in data.items()})))
    else:
        channel.write(json_text(data, indent=2, ascii_only=not channel.is_unicode) + "\n")
