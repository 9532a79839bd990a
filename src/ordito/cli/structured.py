"""Results for programs, as JSON or YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ordito.base.sensitive import encode_hook, shown
from ordito.cli.channel import Channel
from ordito.cli.settings import Format

HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def json_text(data: object, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """Plain data as JSON. What is not a character, as in a file name that is not UTF-8, becomes U+FFFD."""
    text = json.dumps(data, indent=indent, ensure_ascii=False, default=encode_hook)
    if text.isascii():
        return text
    text = HALF_A_PAIR.sub("\ufffd", text)
    return json.dumps(json.loads(text), indent=indent, ensure_ascii=True) if ascii_only else text


def write_data(data: Mapping[str, object], form: Format, channel: Channel) -> None:
    """Write plain data in a format for programs."""
    if form is Format.YAML:
        from ordito.ensemble.yaml_writer import block

        channel.write("".join(block({name: shown(value) for name, value in data.items()})))
    else:
        channel.write(json_text(data, indent=2, ascii_only=not channel.is_unicode) + "\n")
