"""What messages about a service call its parts, in the words of blueprints."""

from __future__ import annotations

import re

WORDS = (
    ("service template", "blueprint"),
    ("topology template", "blueprint"),
    ("the topology", "the blueprint"),
    ("topology", "blueprint"),
    ('requirement "relationships" of', "relationship of"),
    ('requirement "relationships"', "relationship"),
    ("requirements", "relationships"),
    ("requirement", "relationship"),
    ("attributes", "runtime properties"),
    ("attribute", "runtime property"),
    ("parameter definition", "input"),
    ("property definition", "schema of a property"),
    ("of type map", "of type dict"),
    ("is not a map", "is not a dict"),
)
QUOTED = re.compile(r'("[^"]*")')
AN = re.compile(r"\b([Aa])n (?=(?:runtime|relationship|blueprint))")


def in_words_of_blueprints(message: str) -> str:
    """A message with the words of Cloudify; what stands in quotes is the author's and stays."""
    for old, new in WORDS:
        if '"' in old:
            message = message.replace(old, new)
    parts = QUOTED.split(message)
    for number in range(0, len(parts), 2):
        for old, new in WORDS:
            if old in parts[number]:
                parts[number] = parts[number].replace(old, new)
        parts[number] = AN.sub(r"\1 ", parts[number])
    return "".join(parts)
