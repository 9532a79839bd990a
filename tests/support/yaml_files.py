"""YAML of tests, read and written by LibYAML: what is written in Python takes longer than most commands under test."""

from __future__ import annotations

from typing import Any

import yaml


def read_yaml(text: str | bytes) -> Any:
    """The data that a document holds."""
    return yaml.load(text, yaml.CSafeLoader)


def write_yaml(data: object) -> str:
    """A document that holds data; keys keep their order."""
    return str(yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False))
