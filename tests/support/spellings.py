"""What a secret looks like where a program has written it: what is looked for where nothing of it may be."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Iterator
from urllib.parse import quote, quote_plus


def spellings(secret: str) -> Iterator[bytes]:
    """The secret and each of its lines, as it is and in the usual encodings, in which ends of lines are left out."""
    for text in (secret, *(line for line in secret.splitlines() if line != secret)):
        data = text.encode()
        yield re.sub(rb"\r?\n", b"", data)
        yield from (data.hex().encode(), data.hex().upper().encode())
        yield from (text.encode("utf-16-le"), text.encode("utf-16-be"))
        for before in range(3):
            encoded = base64.b64encode(b"\0" * before + data)
            decided = encoded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
            yield from (decided, decided.translate(bytes.maketrans(b"+/", b"-_")))
        for before in range(5):
            yield base64.b32encode(b"\0" * before + data)[-(-before * 8 // 5) : (before + len(data)) * 8 // 5]
        quoted = [quote(text, safe=""), quote(text), quote_plus(text), html.escape(text), shlex.quote(text)[1:-1]]
        quoted += [json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)]
        quoted += [re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), text) for text in quoted[:3]]
        yield from (text.encode() for text in quoted)
