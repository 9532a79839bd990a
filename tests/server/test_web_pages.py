"""The pages of the web UI as the server gives them, and what is written of the API for them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from starlette.requests import Request

from ordito.server.web_pages import FOLDER, WebPages
from tests.support.real.needs import lacking
from tests.support.serving import Answer, Client, Served
from tools import web_types

ROOT = Path(__file__).parent.parent.parent
KIB = 1_024


@pytest.fixture(scope="module")
def anybody(served: Served) -> Client:
    """Who is not signed in, of a server with a web UI."""
    if not (FOLDER / "index.html").exists():
        lacking("chromium", "the web UI is not built; ./run web builds it")
    return Client(served.url)


def asked(client: Client, path: str, encoding: str = "identity", **headers: str) -> Answer:
    """A page or a file of one."""
    return client.ask("GET", path, headers={"Accept-Encoding": encoding, **headers})


def script(client: Client) -> str:
    """The address of the script of the pages."""
    found = re.search(r'src="(/assets/[^"]+\.js)"', asked(client, "/").body.decode())
    assert found
    return found[1]


def test_types_are_those_of_the_routes() -> None:
    assert web_types.PLACE.read_text(encoding="utf-8") == web_types.text(), "write it: python -m tools.web_types"


def test_forms_are_those_of_the_requests() -> None:
    written = web_types.REQUESTS_PLACE.read_text(encoding="utf-8")
    assert written == web_types.requests_text(), "write it: python -m tools.web_types"


def test_packages_are_pinned_without_any_address() -> None:
    text = (ROOT / "web" / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    assert "://" not in text
    assert all("integrity" in one for name, one in packages.items() if name)


@pytest.mark.parametrize(
    "path", ["/", "/sign-in", "/device", "/e/shop/prod", "/e/shop/prod/jobs/A6", "/inbox", "/admin"]
)
def test_every_page_is_the_same_file(anybody: Client, path: str) -> None:
    answer = asked(anybody, path)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.body == asked(anybody, "/").body


def test_pages_have_the_policy_of_the_api(anybody: Client) -> None:
    page, api = asked(anybody, "/").headers, asked(anybody, "/api/v1").headers
    for name in ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy"):
        assert page[name] == api[name]
    assert "unsafe" not in page["Content-Security-Policy"]
    assert api["Cache-Control"] == "no-store"


def test_files_are_kept_for_ever_and_come_compressed(anybody: Client) -> None:
    path = script(anybody)
    plain, packed, best = (asked(anybody, path, encoding) for encoding in ("identity", "gzip;q=1", "gzip, br"))
    assert plain.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    # What asks has unpacked it already.
    assert packed.headers["Content-Encoding"] == "gzip"
    assert best.headers["Content-Encoding"] == "br"
    assert int(packed.headers["Content-Length"]) < len(plain.body) / 2
    assert len({one.headers["ETag"] for one in (plain, packed, best)}) == 3
    again = asked(anybody, path, "gzip", **{"If-None-Match": packed.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


def test_a_head_says_how_long_it_is(anybody: Client) -> None:
    answer = anybody.ask("HEAD", "/inbox", headers={"Accept-Encoding": "identity"})
    assert (answer.status, answer.body) == (200, b"")
    assert int(answer.headers["Content-Length"]) == len(asked(anybody, "/inbox").body)


@pytest.mark.parametrize("path", ["/assets/none.js", "/assets/../index.html", "/nothing", "/index.html", "/api/v2"])
def test_what_is_no_page_is_a_problem(anybody: Client, path: str) -> None:
    answer = asked(anybody, path)
    assert (answer.status, answer.data["code"]) == (404, "unknown-page")


def test_a_browser_that_is_led_to_no_page_gets_one_that_says_so(anybody: Client) -> None:
    accept = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = asked(anybody, "/nothing/here", **accept)
    assert (answer.status, answer.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert (answer.headers["Vary"], answer.headers["Cache-Control"]) == ("Accept", "no-store")
    assert answer.body == asked(anybody, "/").body
    for path in ("/api/v2", "/api/v1/nothing", "/assets/none.js"):
        problem = asked(anybody, path, **accept)
        assert (problem.status, problem.data["code"]) == (404, "unknown-page")


def test_the_page_of_a_code_is_one_for_browsers_and_markdown_for_others(anybody: Client) -> None:
    plain = asked(anybody, "/problems/locked")
    assert plain.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "Accept," in plain.headers["Vary"]
    assert plain.body.startswith(b"## locked")
    shown = asked(anybody, "/problems/locked", Accept="text/html")
    assert shown.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "sha256-" in shown.headers["Content-Security-Policy"]
    assert b"<h1>Another command works on the ensemble</h1>" in shown.body
    assert b"<code>ordito jobs unlock</code>" in shown.body


def test_pages_are_only_read(anybody: Client) -> None:
    answer = anybody.ask("POST", "/sign-in", {})
    assert answer.status == 404


def test_a_name_that_is_not_the_servers_gets_no_page(anybody: Client) -> None:
    answer = asked(anybody, "/", Host="rebound.example")
    assert (answer.status, answer.data["code"]) == (403, "cross-site")


# ------------------------------------------------------------------------------------------------------------- sizes


def sizes() -> dict[str, int]:
    """The bytes of each file that browsers load, compressed as most servers do it."""
    found = [path for path in (FOLDER / "assets").glob("*") if path.suffix in (".js", ".css", ".svg")]
    return {f"assets/{path.name}": len(gzip.compress(path.read_bytes(), 9, mtime=0)) for path in found}


def loaded(parts: dict[str, dict[str, list[str]]], name: str) -> set[str]:
    """The files that are loaded with a part."""
    part, found = parts[name], set[str]()
    for other in part.get("imports", ()):
        found |= loaded(parts, other)
    return found | {str(part["file"]), *part.get("css", ()), *part.get("assets", ())}


def test_nothing_moves_but_what_people_move() -> None:
    """No animation and no transition, with or without the wish for less motion: old figures are dimmed at once."""
    styles = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "web" / "src").rglob("*.css"))
    said = re.findall(r"^\s*(?:animation|transition)[\w-]*: *([^;]+);", styles, re.MULTILINE)
    assert sorted(said) == ["figure-old 0s 2s forwards", "none !important", "none !important"]
    assert re.findall(r"@keyframes ([\w-]+)", styles) == ["figure-old"]


def test_it_is_small(anybody: Client) -> None:
    parts = json.loads((FOLDER / "parts.json").read_text(encoding="utf-8"))
    size = sizes()
    first = loaded(parts, "index.html") | loaded(parts, "src/pages/ensembles/ensembles.tsx")
    topology = loaded(parts, "src/pages/ensemble/ensemble.tsx")
    assert sum(size[name] for name in first) <= 140 * KIB
    assert sum(size[name] for name in topology - first) <= 65 * KIB
    # Every page is a part of its own, loaded when it is opened: nobody loads all of it.
    assert sum(size.values()) <= 260 * KIB


def test_without_the_web_ui_it_is_said_how_to_build_it(tmp_path: Path) -> None:
    pages = WebPages(tmp_path)
    scope = {"type": "http", "method": "GET", "path": "/inbox", "headers": [(b"accept", b"text/html")]}
    answer = pages.answer(Request(scope))
    assert answer is not None
    assert (answer.status_code, b"./run web" in answer.body) == (404, True)
    assert pages.missing(Request({**scope, "path": "/nothing"})) is None
