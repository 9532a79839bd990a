"""Plain data as JSON text, whatever characters it holds."""

from __future__ import annotations

import json
import re

from ordito.base.sensitive import encode_hook

HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def json_text(data: object, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """Plain data as JSON. What is not a character, as in a file name that is not UTF-8, becomes U+FFFD."""
    text = json.dumps(data, indent=indent, ensure_ascii=False, default=encode_hook)
    if text.isascii():
        return text
    text = HALF_A_PAIR.sub("\ufffd", text)
    return json.dumps(json.loads(text), indent=indent, ensure_ascii=True) if ascii_only else text
