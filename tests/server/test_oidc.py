"""Signing in by a provider of OpenID Connect, and what is not believed."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import urllib3

from ordito.server.operating.inspecting import verify
from ordito.server.refused import ServerRefused
from ordito.server.settings import read_settings
from tests.support.provider import CLIENT, SECRET, Provider
from tests.support.serving import API, MANY_REQUESTS, Client, Served

START = f"{API}/oidc/start"


class Browser:
    """Keeps cookies, and goes where it is sent, one step at a time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookies: dict[str, str] = {}
        self._pool = urllib3.PoolManager(retries=False)

    def go(self, address: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Any:
        """Open an address, with the cookies of the server where it is one of its own."""
        where = self.url + address if address.startswith("/") else address
        sent = {"Accept": "application/json", **(headers or {})}
        if where.startswith(self.url):
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        found = self._pool.request(method, where, headers=sent, redirect=False)
        if where.startswith(self.url):
            for cookie in found.headers.getlist("Set-Cookie"):
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value
        return found

    def to_provider(self, after: str = "/") -> str:
        """Begin, and come as far as the way back: its address."""
        sent = self.go(f"{START}?{urlencode({'return': after})}")
        assert sent.status == 302, sent.data
        back = self.go(sent.headers["Location"])
        assert back.status == 302, back.data
        return str(back.headers["Location"])

    def sign_in(self, after: str = "/") -> Any:
        """The answer to the whole way."""
        return self.go(self.to_provider(after))

    def me(self) -> Any:
        """Who it is that is signed in, None for nobody."""
        found = self.go(f"{API}/me")
        return json.loads(found.data) if found.status == 200 else None


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as made:
        yield made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Served]:
    settings = MANY_REQUESTS + provider.settings(admin_groups=["ops"], label="the house")
    with Served(tmp_path_factory.mktemp("home"), settings=settings) as server:
        yield server


@pytest.fixture(scope="module")
def admin(place: Served) -> Client:
    """The first user, who has a link."""
    return place.admin()


@pytest.fixture
def served(place: Served, provider: Provider) -> Iterator[Served]:
    provider.say()
    yield place
    provider.say()


def code_of(answer: Any) -> str:
    """The code of the problem with which something was answered."""
    return str(json.loads(answer.data)["code"])


def detail_of(answer: Any) -> str:
    return str(json.loads(answer.data)["detail"])


def groups_of(admin: Client, user: str) -> list[str]:
    """The names of the groups in which a user is."""
    return [one["name"] for one in admin.get("groups")["items"] if user in one["members"]]


def test_who_the_provider_signs_in_is_a_user_with_the_groups_that_it_says(
    served: Served, provider: Provider, admin: Client
) -> None:
    """With PKCE, the secret and a page to come back to; the session ends at the server, and then at the provider."""
    provider.say(claims={"groups": ["first", "no name!"]})
    browser = Browser(served.url)
    done = browser.sign_in("/e/shop/prod?tab=jobs")
    assert (done.status, done.headers["Location"]) == (302, "/e/shop/prod?tab=jobs")
    me = browser.me()
    assert (me["kind"], me["name"], me["server"], me["sign_out"]) == ("user", "ann", [], f"{API}/oidc/end")
    assert admin.get("users/ann")["subject"] == "s-1"
    assert groups_of(admin, "ann") == ["first"]
    # In the next session: other groups, and with them another role on the server. The user stays the same.
    provider.say(claims={"groups": ["ops"], "preferred_username": "anna"})
    again = Browser(served.url)
    assert again.sign_in().status == 302
    assert again.me()["name"] == "ann"
    assert again.me()["server"] == ["administer", "audit"]
    assert groups_of(admin, "ann") == ["ops"]
    provider.say()
    assert Browser(served.url).sign_in().status == 302
    assert again.me()["server"] == []
    own = {"Sec-Fetch-Site": "same-origin"}
    assert again.go(f"{API}/sessions/current", "DELETE", own).status == 204
    assert again.me() is None
    bye = again.go(f"{API}/oidc/end")
    left = urlsplit(bye.headers["Location"])
    assert bye.headers["Location"].startswith(f"{provider.issuer}/logout?")
    assert parse_qs(left.query)["post_logout_redirect_uri"] == [f"{served.url}/sign-in"]
    assert verify(served.home, "").broken == 0


def test_groups_of_administrators_and_of_the_provider_stand_side_by_side(
    served: Served, provider: Provider, admin: Client
) -> None:
    admin.do("POST", "users", {"name": "ben"})
    provider.say(claims={"sub": "s-cy", "preferred_username": "cy", "groups": ["crew"]})
    assert Browser(served.url).sign_in().status == 302
    there = admin.ask("GET", "groups/crew")
    tag = {"If-Match": there.headers["ETag"]}
    assert admin.do("PUT", "groups/crew", {"members": ["ben"]}, tag)["members"] == ["ben", "cy"]
    provider.say(claims={"sub": "s-cy", "preferred_username": "cy", "groups": []})
    assert Browser(served.url).sign_in().status == 302
    assert admin.get("groups/crew")["members"] == ["ben"]


def test_names_stand_for_nobody_until_an_administrator_says_so(
    served: Served, provider: Provider, admin: Client
) -> None:
    """A user of the same name is another person, whatever mail or name the provider tells."""
    admin.do("POST", "users", {"name": "dan"})
    provider.say(claims={"sub": "s-dan", "preferred_username": "dan", "email": "dan@example.org"})
    refused = Browser(served.url).sign_in()
    assert (refused.status, code_of(refused)) == (403, "oidc-user")
    assert "another user" in detail_of(refused)
    tag = {"If-Match": admin.ask("GET", "users/dan").headers["ETag"]}
    assert admin.do("PATCH", "users/dan", {"subject": "s-dan"}, tag)["subject"] == "s-dan"
    browser = Browser(served.url)
    assert browser.sign_in().status == 302
    assert browser.me()["name"] == "dan"
    # What stands in the audit log is what an administrator needs for it.
    said = [row for row in admin.get("audit", outcome="denied")["items"] if "another user" in row["detail"]]
    assert "--subject s-dan" in said[0]["detail"]
    provider.say(claims={"sub": "s-none", "preferred_username": "no name at all"})
    assert code_of(Browser(served.url).sign_in()) == "oidc-user"


def test_a_user_who_is_disabled_stays_out(served: Served, provider: Provider, admin: Client) -> None:
    provider.say(claims={"sub": "s-eve", "preferred_username": "eve"})
    browser = Browser(served.url)
    assert browser.sign_in().status == 302
    tag = {"If-Match": admin.ask("GET", "users/eve").headers["ETag"]}
    admin.do("PATCH", "users/eve", {"disabled": True}, tag)
    assert browser.me() is None
    refused = browser.sign_in()
    assert (refused.status, code_of(refused)) == (403, "oidc-user")
    assert "disabled" in detail_of(refused)


NOW = int(time.time())

WRONG: Mapping[str, tuple[dict[str, object], str]] = {
    "issuer": ({"claims": {"iss": "https://elsewhere.example"}}, "another issuer"),
    "audience": ({"claims": {"aud": "another"}}, "another client"),
    "audiences": ({"claims": {"aud": [CLIENT, "another"]}}, "another client"),
    "party": ({"claims": {"aud": [CLIENT, "another"], "azp": "another"}}, "another client"),
    "expired": ({"claims": {"exp": NOW - 3600}}, "over"),
    "endless": ({"claims": {"exp": None}}, "when it is valid"),
    "odd time": ({"claims": {"exp": "tomorrow"}}, "when it is valid"),
    "early": ({"claims": {"iat": NOW + 7200}}, "not valid yet"),
    "not before": ({"claims": {"nbf": NOW + 7200}}, "not valid yet"),
    "nonce": ({"nonce": "of another sign-in"}, "another sign-in"),
    "no nonce": ({"claims": {"nonce": None}}, "another sign-in"),
    "nobody": ({"claims": {"sub": ""}}, "whose it is"),
    "none": ({"alg": "none"}, "is signed by 'none'"),
    "key confusion": ({"alg": "HS256"}, "is signed by 'HS256'"),
    "foreign key": ({"key": "stranger"}, "not signed by one of its keys"),
    "broken": ({"key": "broken"}, "not signed by one of its keys"),
    "key of another kind": ({"alg": "ES256", "kid": "rsa"}, "not signed by one of its keys"),
    "its own error": ({"back": {"error": "access_denied"}}, "access_denied"),
    "no code": ({"back": {}}, "no code"),
    "odd error": ({"back": {"error": "<b>write this</b>"}}, "no code"),
    "unknown code": ({"back": {"code": "never given"}}, "400"),
    "other sender": ({"back": {"code": "x", "iss": "https://elsewhere.example"}}, "from the provider that was asked"),
    "other person": ({"claims": {"groups": None}, "userinfo": {"sub": "another"}}, "different people"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_hold_signs_nobody_in(served: Served, provider: Provider, case: str) -> None:
    said, why = WRONG[case]
    provider.say(**said)
    browser = Browser(served.url)
    refused = browser.sign_in()
    assert (refused.status, code_of(refused)) == (401, "oidc-refused"), refused.data
    assert why in detail_of(refused)
    assert browser.me() is None
    # A person is sent to the page for signing in, in whose address stands nothing but the code.
    shown = browser.go(browser.to_provider(), headers={"Accept": "text/html"})
    assert (shown.status, shown.headers["Location"]) == (302, "/sign-in?problem=oidc-refused")


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_each_kind_of_key_is_taken_also_when_it_was_changed(served: Served, provider: Provider, algorithm: str) -> None:
    """Nobody has to tell the server that the keys of the provider are others now; clocks may differ a little."""
    ahead = int(time.time()) + 20
    provider.say(alg=algorithm, claims={"iat": ahead, "nbf": ahead, "exp": ahead - 40})
    for _ in range(2):
        assert Browser(served.url).sign_in().status == 302
        provider.rotate()
    keys = provider.asked().count("/keys")
    assert Browser(served.url).sign_in().status == 302
    assert Browser(served.url).sign_in().status == 302
    assert provider.asked().count("/keys") == keys + 1


def test_groups_may_stand_in_what_is_asked_for_besides(served: Served, provider: Provider) -> None:
    provider.say(claims={"groups": None}, userinfo={"groups": ["ops"]})
    browser = Browser(served.url)
    assert browser.sign_in().status == 302
    assert browser.me()["server"] == ["administer", "audit"]


def test_a_way_back_is_used_once_and_by_the_browser_that_was_sent(served: Served) -> None:
    browser, other = Browser(served.url), Browser(served.url)
    back = browser.to_provider()
    stolen = other.go(back)
    assert (stolen.status, code_of(stolen)) == (400, "oidc-state")
    assert other.me() is None
    assert browser.go(back).status == 302
    again = browser.go(back)
    assert (again.status, code_of(again)) == (400, "oidc-state")
    parts = urlsplit(browser.to_provider())
    fields = {name: values[0] for name, values in parse_qs(parts.query).items()}
    for state in ("", "guessed", fields["state"][:-1]):
        asked = urlencode({**fields, "state": state})
        assert code_of(browser.go(f"{parts.path}?{asked}")) == "oidc-state"


def test_two_windows_come_back_in_either_order(served: Served) -> None:
    browser = Browser(served.url)
    first, second = browser.to_provider("/one"), browser.to_provider("/two")
    assert browser.go(second).headers["Location"] == "/two"
    assert browser.go(first).headers["Location"] == "/one"


@pytest.mark.parametrize(
    "after", ["//elsewhere.example", "/\\elsewhere.example", "https://elsewhere.example", "/a\nb", "/sign-in"]
)
def test_nobody_is_sent_elsewhere_afterwards(served: Served, after: str) -> None:
    assert Browser(served.url).sign_in(after).headers["Location"] == "/"


def test_nothing_that_leaves_or_is_kept_shows_a_secret(served: Served) -> None:
    browser = Browser(served.url)
    sent = browser.go(START)
    fields = parse_qs(urlsplit(sent.headers["Location"]).query)
    assert fields["code_challenge_method"] == ["S256"]
    assert "code_verifier" not in fields
    back = browser.go(sent.headers["Location"]).headers["Location"]
    assert browser.go(back).status == 302
    code = parse_qs(urlsplit(back).query)["code"][0]
    kept = b"".join(
        path.read_bytes() for path in served.home.iterdir() if path.is_file() and path.name != "server.yaml"
    )
    secrets = [SECRET, code, fields["state"][0], *browser.cookies.values()]
    encoded = [base64.b64encode(SECRET.encode()).decode()]
    assert not [one for one in [*secrets, *encoded] if one.encode() in kept]


def test_a_provider_that_is_away_is_told_and_harms_nobody(tmp_path: Path) -> None:
    with Provider() as gone, Served(tmp_path, settings=MANY_REQUESTS + gone.settings()) as server:
        admin = server.admin()
        browser = Browser(server.url)
        assert browser.sign_in().status == 302
        back = browser.to_provider()
        gone.say(status=502)
        fresh = Browser(server.url)
        # What it has said of itself is known for an hour.
        assert fresh.go(START).status == 302
        gone.stop()
        away = browser.go(back)
        assert (away.status, code_of(away)) == (503, "oidc-away")
        assert browser.me()["name"] == "ann"
        assert browser.go(f"{API}/oidc/end").status == 302
        assert admin.get("/readyz")["well"]
    with Served(tmp_path, settings="") as again:
        away = Browser(again.url).go(START)
        assert (away.status, code_of(away)) == (503, "oidc-away")
        shown = Browser(again.url).go(START, headers={"Accept": "text/html"})
        assert shown.status == 503


def test_only_hosts_that_the_settings_list_are_asked(tmp_path: Path, provider: Provider) -> None:
    """The host of the issuer is named in the settings; where its answers lead is nothing that anybody has permitted."""
    port = urlsplit(provider.issuer).port
    provider.say(about={"token_endpoint": f"http://localhost:{port}/token"})
    settings = MANY_REQUESTS + provider.settings()
    try:
        with Served(tmp_path, settings=settings) as server:
            refused = Browser(server.url).sign_in()
            assert code_of(refused) == "egress"
            assert f"localhost port {port}" in detail_of(refused)
        listed = f'egress: [ "localhost:{port}:private" ]\n'
        with Served(tmp_path, settings=settings + listed) as server:
            assert Browser(server.url).sign_in().status == 302
    finally:
        provider.say()


def test_who_may_sign_in_is_a_rule(tmp_path: Path, provider: Provider) -> None:
    """By group, and only those whom an administrator has made."""
    settings = MANY_REQUESTS + provider.settings(groups=["staff"], new_users=False, passwords=False)
    with Served(tmp_path, settings=settings) as server:
        admin = server.admin()
        about = admin.get(API)
        assert (about["sign_in"], about["provider"]) == (["oidc", "link", "token"], "127.0.0.1")
        unknown = Browser(server.url).sign_in()
        assert (unknown.status, code_of(unknown)) == (403, "oidc-user")
        assert "--subject s-1" in json.loads(unknown.data)["hint"]
        admin.do("POST", "users", {"name": "ann"})
        tag = {"If-Match": admin.ask("GET", "users/ann").headers["ETag"]}
        admin.do("PATCH", "users/ann", {"subject": "s-1"}, tag)
        assert Browser(server.url).sign_in().status == 302
        provider.say(claims={"groups": ["guests"]})
        outside = Browser(server.url).sign_in()
        assert (outside.status, code_of(outside)) == (403, "oidc-user")
        provider.say()
        headers = {"Origin": server.url}
        password = admin.ask("POST", "sessions", {"user": "ann", "password": "four words for shops"}, headers)
        assert (password.status, password.data["code"]) == (403, "forbidden")
        assert admin.ask("PUT", "me/password", {"new": "four words for shops"}).data["code"] == "forbidden"
        # Nobody else may be the same person.
        admin.do("POST", "users", {"name": "bob"})
        tag = {"If-Match": admin.ask("GET", "users/bob").headers["ETag"]}
        assert admin.ask("PATCH", "users/bob", {"subject": "s-1"}, tag).data["code"] == "exists"
        admin.do("DELETE", "users/ann")
        tag = {"If-Match": admin.ask("GET", "users/bob").headers["ETag"]}
        assert admin.do("PATCH", "users/bob", {"subject": "s-1"}, tag)["subject"] == "s-1"


def test_a_command_signs_in_with_a_code_that_such_a_session_confirms(
    served: Served, provider: Provider, admin: Client
) -> None:
    browser = Browser(served.url)
    assert browser.sign_in().status == 302
    login = admin.with_token("").do("POST", "logins", {"name": "ordito on laptop"})
    pool = urllib3.PoolManager(retries=False)
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = {"Cookie": cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
    body = json.dumps({"code": login["code"]}).encode()
    where = f"{served.url}{API}/logins/{login['id']}/confirm"
    assert pool.request("POST", where, body=body, headers=headers).status == 204
    found = admin.with_token("").ask("GET", f"logins/{login['id']}", headers={"Ordito-Login": login["secret"]})
    assert admin.with_token(found.data["token"]).get("me")["name"] == browser.me()["name"]


@pytest.mark.parametrize(
    ("oidc", "why"),
    [
        ({"issuer": "id.example.org"}, "is no URL of a provider"),
        ({"issuer": "http://id.example.org"}, "without TLS"),
        ({"issuer": "https://user@id.example.org"}, "is no URL of a provider"),
        ({"issuer": "https://id.example.org", "admin_groups": ["ops"]}, "groups_claim"),
        ({"issuer": "https://id.example.org", "clientid": "x"}, "clientid"),
        ({"issuer": "https://id.example.org", "client_secret": {"file": "missing"}}, "cannot read missing"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, oidc: dict[str, object], why: str) -> None:
    (tmp_path / "server.yaml").write_text(json.dumps({"oidc": {"client_id": CLIENT, **oidc}}))
    with pytest.raises(ServerRefused, match=why) as refused:
        read_settings(tmp_path / "server.yaml", {})
    assert str(tmp_path) in refused.value.message


def test_a_server_for_others_needs_no_user_where_there_is_a_provider(tmp_path: Path) -> None:
    text = "listen: 0.0.0.0:0\nurl: https://o.example.org\ntrusted_proxies: [ 127.0.0.1/32 ]\n"
    known = {"issuer": "https://id.example.org", "client_id": CLIENT, "passwords": False}
    with Served(tmp_path, settings=f"{text}oidc: {json.dumps(known)}\n", listen="") as server:
        assert server.url == "https://o.example.org"
