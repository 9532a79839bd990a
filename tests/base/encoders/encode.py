"""What Python and its libraries make of texts: lines of name, number of the text, and result in hexadecimal digits."""

import base64
import csv
import html
import io
import json
import pprint
import shlex
import sys
from collections.abc import Callable
from urllib.parse import quote, quote_plus, urlencode
from xml.sax.saxutils import escape, quoteattr

import yaml
from jinja2 import Environment

JINJA = Environment(autoescape=True)


def row(text: str) -> str:
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerow([text])
    return written.getvalue()


def indented(text: str) -> str:
    return "  " + base64.encodebytes(text.encode() * 3).decode().replace("\n", "\n  ")


ENCODINGS: dict[str, Callable[[str], str]] = {
    "json": json.dumps,
    "json in utf-8": lambda s: json.dumps(s, ensure_ascii=False),
    "json in json": lambda s: json.dumps(json.dumps({"a": s})),
    "json in json in json": lambda s: json.dumps(json.dumps([json.dumps([s])])),
    "json in a url": lambda s: quote(json.dumps({"a": s})),
    "json in html": lambda s: html.escape(json.dumps([s])),
    "url in json": lambda s: json.dumps("x?p=" + quote(s)),
    "url twice": lambda s: quote(quote(s, safe=""), safe=""),
    "html twice": lambda s: html.escape(html.escape(s)),
    "quote": quote,
    "quote all": lambda s: quote(s, safe=""),
    "quote plus": quote_plus,
    "urlencode": lambda s: urlencode({"p": s}),
    "html": html.escape,
    "markupsafe": lambda s: JINJA.from_string("{{ s }}").render(s=s),
    "tojson": lambda s: JINJA.from_string("{{ s | tojson }}").render(s=s),
    "xml": escape,
    "xml attribute": lambda s: quoteattr(s, {"'": "&apos;"}),
    "repr": repr,
    "ascii": ascii,
    "bytes": lambda s: repr(s.encode()),
    "pprint": lambda s: pprint.pformat([s]),
    "shlex": shlex.quote,
    "csv": row,
    "sql": lambda s: "'" + s.replace("'", "''") + "'",
    "yaml": lambda s: yaml.safe_dump({"key": {"inner": s}}),
    "yaml in utf-8": lambda s: yaml.safe_dump([s], allow_unicode=True),
    "yaml in quotes": lambda s: yaml.safe_dump(s, default_style='"'),
    "yaml folded": lambda s: yaml.safe_dump({"k": s}, width=10),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 in urls": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "base64 of utf-16": lambda s: base64.b64encode(s.encode("utf-16-le")).decode(),
    "base64 in lines": indented,
    "base64 in lines in json": lambda s: json.dumps(indented(s)),
    "base64 in a url": lambda s: quote(base64.b64encode(b"ab" + s.encode()).decode(), safe=""),
    "base32": lambda s: base64.b32encode(b"abc" + s.encode()).decode(),
    "base16": lambda s: base64.b16encode(s.encode()).decode(),
    "hex": lambda s: s.encode().hex(),
    "escaped bytes": lambda s: "".join(f"\\x{byte:02x}" for byte in s.encode()),
    "octal bytes": lambda s: "".join(f"\\{byte:03o}" for byte in s.encode()),
    "percent bytes": lambda s: "".join(f"%{byte:02x}" for byte in s.encode()),
    "references": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "hexadecimal references": lambda s: "".join(f"&#x{ord(c):X};" for c in s),
}
BYTES: dict[str, Callable[[str], bytes]] = {
    "utf-16-le": lambda s: s.encode("utf-16-le"),
    "utf-16-be": lambda s: s.encode("utf-16-be"),
    "utf-16": lambda s: s.encode("utf-16"),
    "latin-1": lambda s: s.encode("latin-1", "xmlcharrefreplace"),
}

for number, line in enumerate(sys.stdin):
    given = bytes.fromhex(line).decode()
    for name, encode in ENCODINGS.items():
        print(name, number, encode(given).encode().hex(), sep="\t")
    for name, to_bytes in BYTES.items():
        print(name, number, to_bytes(given).hex(), sep="\t")
