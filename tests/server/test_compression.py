"""What is sent compressed, and what never is."""

from __future__ import annotations

import gzip
import json

import urllib3

from ordito.server.route import SECRETS
from ordito.server.routes.table import ROUTES
from tests.support.serving import API, Answer, Client

SHOP = "projects/default/ensembles/shop"
REPORT = f"{SHOP}/jobs/latest/report.html"


def packed(client: Client, path: str, *, accept: str = "gzip", headers: dict[str, str] | None = None) -> Answer:
    """An answer, as it was sent."""
    more = {"Authorization": f"Bearer {client.token}", "Accept-Encoding": accept, **(headers or {})}
    pool = urllib3.PoolManager(retries=False)
    found = pool.request("GET", f"{client.url}{API}/{path}", headers=more, decode_content=False)
    return Answer(found.status, found.headers, found.data)


def test_long_answers_are_compressed_for_who_takes_that(admin: Client) -> None:
    job = f"{SHOP}/jobs/latest"
    for path, accept in ((job, "*/*"), (job, "application/yaml"), ("openapi.json", "*/*"), (REPORT, "*/*")):
        found = packed(admin, path, headers={"Accept": accept})
        plain = packed(admin, path, accept="br, gzip;q=0", headers={"Accept": accept})
        assert found.headers["Content-Encoding"] == "gzip", path
        assert found.headers["Content-Length"] == str(len(found.body))
        assert found.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
        assert "Content-Encoding" not in plain.headers
        assert gzip.decompress(found.body) == plain.body
        assert len(found.body) < len(plain.body)


def test_short_answers_and_streams_are_not(admin: Client) -> None:
    assert "Content-Encoding" not in packed(admin, "me").headers
    events = packed(admin, "events?topic=ensembles&wait=0", headers={"Accept": "application/json"})
    assert "Content-Encoding" not in events.headers
    stream = admin.stream("ensemble:default/shop", accept="application/x-ndjson")
    assert next(stream)["type"]
    stream.close()


def test_both_forms_have_tags_of_their_own_and_either_is_known_again(admin: Client) -> None:
    found, plain = packed(admin, REPORT), packed(admin, REPORT, accept="identity")
    assert found.headers["ETag"] != plain.headers["ETag"]
    for answer in (found, plain):
        again = packed(admin, REPORT, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status, again.body) == (304, b"")
        assert again.headers["ETag"] == answer.headers["ETag"]


def test_what_was_read_compressed_can_be_replaced(admin: Client) -> None:
    """The settings are long enough with a banner, and ``If-Match`` takes the tag with which they came."""
    first = packed(admin, "settings")
    made = {"banner": "This server is rebuilt. " * 40}
    admin.do("PUT", "settings", made, {"If-Match": first.headers["ETag"]})
    found = packed(admin, "settings")
    assert found.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(found.body))["banner"] == made["banner"]
    admin.do("PUT", "settings", {}, {"If-Match": found.headers["ETag"]})


def test_no_answer_with_a_secret_is_compressed(admin: Client) -> None:
    """Its length would tell of it where somebody else can put something beside it."""
    secret = {route.name for route in ROUTES if route.is_secret}
    assert {"post_me_tokens", "post_users_user_reset", "post_logins", "get_logins_id"} <= secret
    assert SECRETS
    named = {"name": "long", "expires": 1}
    more = {"Authorization": f"Bearer {admin.token}", "Accept-Encoding": "gzip", "Content-Type": "application/json"}
    pool = urllib3.PoolManager(retries=False)
    body = json.dumps({**named, "projects": [f"project-{number}" for number in range(200)]}).encode()
    found = pool.request("POST", f"{admin.url}{API}/me/tokens", body=body, headers=more, decode_content=False)
    assert found.status == 201, found.data
    assert len(found.data) > 1024
    assert "Content-Encoding" not in found.headers
    assert "Vary" not in found.headers
