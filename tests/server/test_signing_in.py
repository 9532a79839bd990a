"""Sessions, passwords and tokens, as people and programs use them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import urllib3

from ordito.server.operating.inspecting import verify
from tests.support.serving import API, Client, Served

GOOD = "four words for shops"


class Browser:
    """Signs in with a cookie, as browsers do."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookie = ""
        self._pool = urllib3.PoolManager(retries=False)

    def ask(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Any:
        """Ask, as a page of the server itself."""
        more = {"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
        text = json.dumps(body).encode() if body is not None else None
        found = self._pool.request(method, f"{self.url}{API}/{path}", body=text, headers={**more, **(headers or {})})
        if "Set-Cookie" in found.headers:
            self.cookie = found.headers["Set-Cookie"].partition(";")[0]
        return found

    def sign_in(self, user: str, password: str) -> int:
        """The status of signing in with a password."""
        status: int = self.ask("POST", "sessions", {"user": user, "password": password}).status
        return status


def test_the_first_user_signs_in_with_a_link_once(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        browser = Browser(server.url)
        made = browser.ask("POST", "sessions", {"link": server.link})
        assert made.status == 201
        for word in ("HttpOnly", "SameSite=Lax"):
            assert word in made.headers["Set-Cookie"]
        assert json.loads(browser.ask("GET", "me").data)["server"] == ["administer", "audit"]
        assert Browser(server.url).ask("POST", "sessions", {"link": server.link}).status == 401
        assert browser.ask("PUT", "me/password", {"new": GOOD}).status == 204
        assert browser.ask("DELETE", "sessions/current").status == 204
        assert browser.ask("GET", "me").status == 401
    with Served(tmp_path) as again:
        assert Browser(again.url).sign_in(json.loads(made.data)["user"], GOOD) == 201


def test_a_new_link_ends_the_tokens_of_a_user(tmp_path: Path) -> None:
    """Who administers the server lists them, ends one, and ends all with the password; never sees their secrets."""
    with Served(tmp_path) as server:
        admin = server.admin()
        admin.do("POST", "users", {"name": "ann"})
        link = admin.do("POST", "users/ann/reset")["link"].rpartition("#")[2]
        browser = Browser(server.url)
        assert browser.ask("POST", "sessions", {"link": link}).status == 201
        made = [json.loads(browser.ask("POST", "me/tokens", {"name": name}).data) for name in "abc"]
        listed = admin.get("users/ann/tokens")["items"]
        assert [one["name"] for one in listed] == ["a", "b", "c"]
        assert not any("token" in one for one in listed)
        admin.do("DELETE", f"users/ann/tokens/{made[0]['id']}")
        assert [admin.with_token(one["token"]).ask("GET", "me").status for one in made] == [401, 200, 200]
        own = admin.get("me/tokens")["items"][0]["id"]
        for path in (f"users/ann/tokens/{own}", "users/nobody/tokens/none"):
            assert admin.ask("DELETE", path).status == 404
        admin.do("POST", "users/ann/reset")
        assert [admin.with_token(one["token"]).ask("GET", "me").status for one in made] == [401, 401, 401]
        assert admin.get("users/ann/tokens")["items"] == []
        assert admin.get("me")


def test_weak_passwords_say_why(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        client = server.admin()
        name = client.get("me")["name"]
        weak = {
            "short": "characters",
            "aaaaaaaaaaaaaaaa": "repeats",
            "abcdefghijklmn": "sequence",
            "password1234567": "tried first",
            "P@ssw0rd-2026!": "tried first",
            "welcomewelcome": "tried first",
            "Admin-1234567": "tried first",
            f"{name} is my password" if len(name) > 3 else "ordito is my word": "name",
        }
        for password, why in weak.items():
            found = client.ask("PUT", "me/password", {"new": password})
            assert found.data["code"] == "weak-password"
            assert why in found.data["detail"]
            assert password not in found.data["detail"]
        for password in ("correct horse battery", "83920184my7261", "blue-password-river"):
            # The first one is set; what comes behind it is asked for that one.
            found = client.ask("PUT", "me/password", {"new": password})
            assert found.status == 204 or found.data["code"] == "bad-credentials", found


def test_pages_of_other_sites_change_nothing(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        browser = Browser(server.url)
        browser.ask("POST", "sessions", {"link": server.link})
        foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"}
        found = browser.ask("POST", "projects", {"name": "stolen"}, foreign)
        assert (found.status, json.loads(found.data)["code"]) == (403, "cross-site")
        assert json.loads(browser.ask("GET", "projects").data)["items"] == []
        rebound = browser.ask("GET", "me", headers={"Host": "elsewhere.example"})
        assert rebound.status == 403


def test_guessing_is_slowed_down_for_users_that_exist_and_others(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        for user in ("nobody", "root"):
            browser = Browser(server.url)
            found = [browser.sign_in(user, "wrong password") for _ in range(7)]
            assert found[:5] == [401] * 5
            assert 429 in found[5:]


def test_tokens_are_narrowed_end_and_are_kept_as_hashes(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        admin = server.admin()
        admin.do("POST", "projects", {"name": "mine"})
        admin.do("POST", "projects", {"name": "other"})
        made = admin.do("POST", "me/tokens", {"name": "ci", "role": "viewer", "projects": ["mine"]})
        narrow = admin.with_token(made["token"])
        assert [one["name"] for one in narrow.get("projects")["items"]] == ["mine"]
        assert narrow.get("projects/mine")["allowed"] == ["read"]
        assert narrow.ask("GET", "projects/other").status == 404
        assert narrow.ask("GET", "users").status == 403
        assert narrow.ask("POST", "me/tokens", {"name": "wider"}).status == 403
        admin.do("DELETE", f"me/tokens/{made['id']}")
        assert narrow.ask("GET", "me").data["code"] == "expired"
        broken = made["token"][:-1] + ("0" if made["token"][-1] != "0" else "1")
        assert admin.with_token(broken).ask("GET", "me").status == 401
        secrets = [part.encode() for token in (made["token"], admin.token) for part in token.split("_")[3:4]]
        kept = b"".join(path.read_bytes() for path in tmp_path.glob("server.db*"))
        assert not [secret for secret in secrets if secret in kept]


def test_the_same_request_with_a_key_is_done_once(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        admin = server.admin()
        key = {"Idempotency-Key": "k1"}
        first = admin.ask("POST", "me/tokens", {"name": "one"}, key)
        again = admin.ask("POST", "me/tokens", {"name": "one"}, key)
        assert (again.status, again.body) == (first.status, first.body)
        assert again.headers["Idempotency-Replayed"] == "true"
        assert len(admin.get("me/tokens")["items"]) == 2
        other = admin.ask("POST", "me/tokens", {"name": "two"}, key)
        assert (other.status, other.data["code"]) == (422, "key-reused")
        token = first.data["token"]
        kept = b"".join(path.read_bytes() for path in tmp_path.glob("server.db*"))
        assert token.encode() not in kept


def test_who_is_disabled_is_out_at_once(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        admin = server.admin()
        admin.do("POST", "users", {"name": "ben"})
        link = admin.do("POST", "users/ben/reset")["link"].rpartition("#")[2]
        ben = Browser(server.url)
        assert ben.ask("POST", "sessions", {"link": link}).status == 201
        token = json.loads(ben.ask("POST", "me/tokens", {"name": "his"}).data)["token"]
        program = Client(server.url, token)
        assert program.get("me")["name"] == "ben"
        admin.do("PATCH", "users/ben", {"disabled": True}, {"If-Match": "*"})
        assert ben.ask("GET", "me").status == 401
        assert program.ask("GET", "me").status == 401
        me = admin.get("me")["name"]
        assert admin.ask("PATCH", f"users/{me}", {"admin": False}, {"If-Match": "*"}).data["code"] == "last-admin"


def test_the_audit_log_shows_what_was_changed_behind_it(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        admin = server.admin()
        admin.do("POST", "projects", {"name": "mine"})
        admin.ask("GET", "me", headers={"Authorization": "Bearer nonsense"})
        rows = admin.get("audit", limit=2)
        assert [row["action"] for row in rows["items"]] == ["project.make", "token.make"]
        older = admin.get("audit", after=rows["next"])["items"]
        assert [row["action"] for row in older] == ["session.begin"]
        lines = admin.ask("GET", "audit/export").body.splitlines()
        assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]
        head = admin.get("audit/head")
        found = verify(tmp_path, head["head"])
        assert (head["rows"], found.broken, found.witnessed) == (3, 0, 3)
        with sqlite3.connect(tmp_path / "server.db") as db:
            db.execute("UPDATE audit SET principal = 'somebody else' WHERE number = 2")
        assert verify(tmp_path, head["head"]).broken == 2


def test_a_list_is_replaced_only_by_who_has_seen_it(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        admin = server.admin()
        me = admin.get("me")["name"]
        admin.do("POST", "projects", {"name": "mine"})
        where = "projects/mine/bindings"
        owner = {"kind": "user", "who": me, "role": "owner"}
        assert admin.ask("PUT", where, {"bindings": [owner]}).status == 428
        tag = admin.ask("GET", where).headers["ETag"]
        assert admin.ask("PUT", where, {"bindings": [owner]}, {"If-Match": tag}).status == 200
        changed = admin.ask("PUT", where, {"bindings": [owner]}, {"If-Match": tag})
        assert (changed.status, changed.data["code"]) == (412, "changed")
        now = {"If-Match": admin.ask("GET", where).headers["ETag"]}
        assert admin.ask("PUT", where, {"bindings": []}, now).data["code"] == "last-owner"
        wrong = admin.ask("PUT", where, {"bindings": [owner, {**owner, "role": "god"}]}, now)
        assert wrong.data["code"] == "unknown-role"


def test_trying_tokens_is_slowed_down(tmp_path: Path) -> None:
    with Served(tmp_path, settings="") as server:
        found = [Client(server.url, "nonsense").ask("GET", "me").status for _ in range(40)]
        assert found[0] == 401
        assert 429 in found
