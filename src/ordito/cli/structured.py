"""Results for programs, as JSON or YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ordito.cli.channel import Channel
from ordito.cli.settings import Format


def write_data(data: Mapping[str, object], form: Format, channel: Channel) -> None:
    """Write plain data in a form for programs."""
    if form is Format.YAML:
        from ordito.ensemble.yaml_writer import block

        channel.write("".join(block(data)))
    else:
        channel.line(json.dumps(data, indent=2, ensure_ascii=not channel.is_unicode))
