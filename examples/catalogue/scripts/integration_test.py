"""Looks whether endpoints answer: pages by a request, all others by a connection."""

import json
import os
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443, "postgres": 5432}
ADDRESSES = ("private_address", "public_address", "address", "ip")

context = json.loads(Path(os.environ["ORDITO_CONTEXT"]).read_text(encoding="utf-8"))
outputs = context.get("outputs") or {}


def address(host: str) -> str:
    """The address of a component by its name; of any other host the name itself."""
    attributes = outputs.get(host)
    if not isinstance(attributes, dict):
        return host
    return next((str(attributes[name]) for name in ADDRESSES if attributes.get(name)), host)


def problem(endpoint: str) -> str:
    """Why an endpoint does not answer; empty where it does."""
    parts = urlsplit(endpoint)
    host, port = address(parts.hostname or ""), parts.port or PORTS.get(parts.scheme, 0)
    try:
        if parts.scheme in ("http", "https"):
            with urllib.request.urlopen(f"{parts.scheme}://{host}:{port}{parts.path}", timeout=10):
                return ""
        with socket.create_connection((host, port), timeout=10):
            return ""
    except urllib.error.HTTPError as error:
        return f"it answers with status {error.code}"
    except OSError as error:
        return str(getattr(error, "reason", None) or error.strerror or error)


failed = 0
for endpoint in json.loads(os.environ["CONFIG_endpoints"]):
    said = problem(endpoint)
    failed += bool(said)
    print(f"{endpoint}: {said or 'it answers'}", file=sys.stderr if said else sys.stdout)
if failed:
    sys.exit(f"IntegrationTest: {failed} endpoints do not answer")
