"""Results for programs, as JSON or YAML."""

from __future__ import annotations

import json

import yaml

from ordito.cli.channel import Channel
from ordito.cli.settings import Format


def write_data(data: object, form: Format, channel: Channel) -> None:
    """Write plain data in a form for programs."""
    if form is Format.YAML:
        text = yaml.dump(
            data, Dumper=YamlDumper, sort_keys=False, allow_unicode=channel.is_unicode, default_flow_style=False
        )
        channel.write(text)
    else:
        channel.line(json.dumps(data, indent=2, ensure_ascii=not channel.is_unicode))


class YamlDumper(yaml.CSafeDumper):
    """Writes every value out, rather than referring to an earlier place where the same one stands."""

    def ignore_aliases(self, data: object) -> bool:
        """No value is referred to."""
        return True
