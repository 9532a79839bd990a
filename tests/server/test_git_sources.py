"""Sources: repositories in git that ensembles follow, by pushes and by intervals, whatever is in them."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.server.outgoing.packer import variables
from ordito.server.outgoing.sources import check_repository
from ordito.server.problems import ApiProblem
from ordito.server.signatures import signature
from tests.cli.program import until
from tests.server.conftest import SERVICE, deployed
from tests.support.git_http import GitServer, Repository, git
from tests.support.serving import MANY_REQUESTS, Client, Served

SOURCE = "projects/default/ensembles/shop/source"
PLANS = "projects/default/ensembles/shop/plans"
SAY = 'echo "$ORDITO_STEP says hello"\n'


class Following:
    """A server whose ensemble follows a repository that is served over HTTP."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.repository = Repository(place / "served")
        self.repository.commit({"service.yaml": SERVICE, "say.sh": SAY})
        self.git = GitServer(place / "served")
        self.settings = f'{MANY_REQUESTS}egress: [ "127.0.0.1:{self.git.port}", "file://{self.repository.bare}" ]\n'
        self.server = Served(place / "home", deployed(place / "shop"), settings=self.settings)
        self.admin = self.server.admin()
        self.made: dict[str, Any] = {}

    def follow(self, **fields: Any) -> dict[str, Any]:
        """Follow the repository anew, from what it is now; the first plan is made when this returns."""
        self.admin.ask("DELETE", SOURCE)
        body = {"repository": self.git.url(), "branch": "main", **fields}
        self.made = self.admin.do("PUT", SOURCE, body)
        return self.looked()

    def looked(self, before: str | None = None) -> dict[str, Any]:
        """The source once it was looked at, after a moment."""
        return self.until(lambda found: found["looked"] is not None and found["looked"] != before)

    def until(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The source once it is so."""
        found: dict[str, Any] = {}

        def look() -> bool:
            found.update(self.admin.get(SOURCE))
            return is_so(found)

        until(look)
        return found

    def push(self, headers: dict[str, str] | None = None, body: bytes = b'{"ref": "refs/heads/main"}') -> Any:
        """Tell of a push, signed as GitHub does it."""
        secret = self.made["secret"].encode()
        mac = hmac.new(secret, body, hashlib.sha256).hexdigest()
        more = {"X-Hub-Signature-256": f"sha256={mac}"} if headers is None else headers
        return self.post(body, more)

    def post(self, body: bytes, headers: dict[str, str]) -> Any:
        """Tell of a push."""
        found = self.admin._pool.request(
            "POST", self.made["hook"], body=body, headers={"Content-Type": "application/json", **headers}
        )
        return found.status, json.loads(found.data)

    def plan(self) -> dict[str, Any]:
        """The newest plan."""
        found: dict[str, Any] = self.admin.get(PLANS)["items"][0]
        return found

    def settled(self, plan: str) -> dict[str, Any]:
        """A plan once it was made, and carried out where it is to be."""
        found: dict[str, Any] = {}

        def look() -> bool:
            found.update(self.admin.ask("GET", f"{PLANS}/{plan}", headers={"Prefer": "wait=30"}).data)
            return found["state"] not in ("planning", "queued", "starting", "running")

        until(look)
        return found

    def close(self) -> None:
        self.server.__exit__()
        self.git.__exit__()


@pytest.fixture(scope="module")
def following(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Following]:
    made = Following(tmp_path_factory.mktemp("sources"))
    yield made
    made.close()


def test_a_push_is_fetched_packed_and_planned(following: Following) -> None:
    """An upgrade to the package of the commit, by the source, which waits to be applied."""
    found = following.follow()
    first = git(following.repository.tree, "rev-parse", "HEAD")
    assert (found["revision"], found["problem"], found["secret"]) == (first, "", None)
    revision = following.repository.commit({"service.yaml": SERVICE.replace("default: none", "default: other")})
    assert following.push() == (202, {"looks": True})
    found = following.until(lambda one: one["revision"] == revision)
    plan = following.settled(following.plan()["id"])
    assert (plan["workflow"], plan["state"], plan["by"]) == (
        "upgrade",
        "ready",
        {"kind": "git", "name": "default/shop"},
    )
    assert plan["comment"] == f"main at {revision[:12]}"
    [package] = [
        one for one in following.admin.get("projects/default/packages")["items"] if one["created"] >= found["looked"]
    ]
    assert package["by"] == "git default/shop"
    rows = following.admin.get("audit", action="source.follow", limit=1)["items"]
    assert plan["id"] in rows[0]["detail"]
    # The next commit makes what was planned before superfluous.
    later = following.repository.commit({"service.yaml": SERVICE.replace("default: none", "default: third")})
    following.push()
    following.until(lambda one: one["revision"] == later)
    assert following.admin.get(f"{PLANS}/{plan['id']}")["state"] == "discarded"
    # What is known is not packed again.
    before = following.plan()["id"]
    following.push()
    following.looked(following.admin.get(SOURCE)["looked"])
    assert following.plan()["id"] == before


def test_a_folder_of_it_is_applied_by_itself(following: Following) -> None:
    following.repository.commit({"services/shop/service.yaml": SERVICE, "services/shop/say.sh": SAY})
    found = following.follow(path="services/shop", apply="auto")
    assert found["problem"] == ""
    plan = following.settled(following.plan()["id"])
    assert plan["state"] in ("applied", "empty")
    assert plan["applied_by"] in ("git default/shop", "")


def test_an_interval_finds_what_was_pushed(following: Following) -> None:
    following.follow(every=60)
    revision = following.repository.commit({"service.yaml": SERVICE.replace("default: none", "default: fourth")})
    with sqlite3.connect(following.server.home / "server.db") as db:
        db.execute("UPDATE source SET looked = looked - 61, asked = 0")
    following.until(lambda one: one["revision"] == revision)


def test_a_file_on_the_servers_machine_is_followed_only_where_it_is_listed(following: Following) -> None:
    found = following.follow(repository=f"file://{following.repository.bare}")
    assert found["problem"] == ""
    assert found["revision"]
    other = following.admin.ask("PUT", SOURCE, {"repository": "file:///etc", "branch": "main"}, {"If-Match": "*"})
    assert other.data["code"] == "egress"


# -------------------------------------------------------------------------------------------------- what is in there


def broken_after(following: Following, change: Callable[[Repository], object]) -> str:
    """The problem after a change of the repository; the change is taken back."""
    following.made or following.follow()
    before = git(following.repository.tree, "rev-parse", "HEAD")
    change(following.repository)
    following.push()
    problem: str = following.until(lambda one: one["problem"])["problem"]
    git(following.repository.tree, "reset", "--quiet", "--hard", before)
    following.repository.push(force=True)
    following.push()
    assert following.until(lambda one: not one["problem"])["revision"] == before
    return problem


def _link(target: str, name: str = "link.txt") -> Callable[[Repository], object]:
    def change(repository: Repository) -> None:
        path = repository.tree / name
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        repository.commit({})

    return change


def _two_links(repository: Repository) -> None:
    (repository.tree / "deep").mkdir()
    (repository.tree / "deep" / "far").symlink_to("..")
    (repository.tree / "out").symlink_to("deep/far/../secret")
    repository.commit({})


BROKEN: list[tuple[str, Callable[[Repository], object], str]] = [
    (
        "an invalid service",
        lambda repository: repository.commit({"service.yaml": "tosca_definitions_version: 9\n"}),
        "error",
    ),
    ("no service", lambda repository: (git(repository.tree, "rm", "-q", "service.yaml"), repository.commit({})), ""),
    ("an absolute link", _link("/etc/passwd"), "leads out of the folder"),
    ("a link to outside", _link("../../secret"), "leads out of the folder"),
    ("a link over a link", _two_links, "leads out of the folder"),
    ("the branch is gone", lambda repository: git(repository.bare, "branch", "-D", "main"), 'no branch "main"'),
    ("a service that is a link to outside", _link("/etc/hostname", "service.yaml"), "leads out of the folder"),
]


@pytest.mark.parametrize(("change", "problem"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_what_cannot_be_packed_is_said_and_mended(
    following: Following, change: Callable[[Repository], object], problem: str
) -> None:
    found = broken_after(following, change)
    assert problem in found
    assert str(following.place) not in found
    assert "Traceback" not in following.server.log.read_text()


def test_a_repository_that_is_gone_is_said(following: Following) -> None:
    following.follow()
    gone = following.repository.bare.with_suffix(".gone")
    following.repository.bare.rename(gone)
    following.push()
    found = following.until(lambda one: one["problem"])
    assert "git says" in found["problem"]
    assert found["revision"]
    gone.rename(following.repository.bare)
    following.push()
    following.until(lambda one: not one["problem"])


def test_links_inside_and_submodules(following: Following) -> None:
    """Links inside the folder stay; a submodule is left out, and that is said."""
    tree = following.repository.tree
    before = git(tree, "rev-parse", "HEAD")
    (tree / "other.sh").symlink_to("say.sh")
    (tree / "sub").mkdir(exist_ok=True)
    (tree / "sub" / "up").symlink_to("../say.sh")
    git(tree, "add", "--all")
    git(tree, "update-index", "--add", "--cacheinfo", f"160000,{before},vendor/module")
    git(tree, "commit", "--quiet", "-m", "links")
    revision = following.repository.push()
    found = following.follow()
    assert (found["revision"], found["problem"]) == (revision, "submodules are left out: vendor/module")
    git(tree, "reset", "--quiet", "--hard", before)
    following.repository.push(force=True)


def test_a_forced_push_is_followed(following: Following) -> None:
    following.follow()
    git(following.repository.tree, "checkout", "--quiet", "--orphan", "anew")
    revision = following.repository.commit({"note.txt": "history was written anew"}, force=True)
    following.push()
    assert following.until(lambda one: one["revision"] == revision)["problem"] == ""


def test_a_repository_that_is_too_large_is_refused(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "served")
    repository.commit({"service.yaml": SERVICE, "say.sh": SAY})
    with GitServer(tmp_path / "served") as served:
        limits = "limits: { requests: 100000, unknown: 100000, package: 200000 }\n"
        settings = f'{limits}egress: [ "127.0.0.1:{served.port}" ]\n'
        with Served(tmp_path / "home", deployed(tmp_path / "shop"), settings=settings) as server:
            admin = server.admin()
            for name, content in (("small when packed", "x" * 300_000), ("large", "".join(map(str, range(200_000))))):
                repository.commit({"large.txt": content})
                admin.ask("DELETE", SOURCE)
                admin.do("PUT", SOURCE, {"repository": served.url(), "branch": "main"})
                until(lambda: admin.get(SOURCE)["problem"] != "")
                assert "more than 200,000 bytes" in admin.get(SOURCE)["problem"], name
        assert not list((tmp_path / "home" / "sources").iterdir())


def test_a_redirect_is_not_followed(following: Following) -> None:
    following.follow()
    following.git.redirect = "http://127.0.0.1:1"
    following.push()
    found = following.until(lambda one: one["problem"])
    following.git.redirect = ""
    assert "git says" in found["problem"]
    following.push()
    following.until(lambda one: not one["problem"])


# -------------------------------------------------------------------------------------------------------------- hooks


def signatures(secret: str, body: bytes) -> dict[str, dict[str, str]]:
    mac = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "github": {"X-Hub-Signature-256": f"sha256={mac}"},
        "gitea": {"X-Gitea-Signature": mac},
        "forgejo": {"X-Forgejo-Signature": mac},
        "gitlab": {"X-Gitlab-Token": secret},
        "ordito": {"Ordito-Signature": signature(secret.encode(), body, time.time())},
    }


@pytest.mark.parametrize("host", ["github", "gitea", "forgejo", "gitlab", "ordito"])
def test_a_push_is_signed_as_its_host_does_it(following: Following, host: str) -> None:
    following.made or following.follow()
    body = b'{"ref": "refs/heads/another"}'
    good = signatures(following.made["secret"], body)[host]
    assert following.post(body, good) == (202, {"looks": False})
    bad = signatures("another secret", body)[host]
    for headers in (bad, dict.fromkeys(good, ""), {name: value[:-1] for name, value in good.items()}):
        status, data = following.post(body, headers)
        assert (status, data["code"]) == (401, "bad-signature")
    status, data = following.post(b'{"ref": "refs/heads/main"}', good if host != "gitlab" else bad)
    assert (status, data["code"]) == (401, "bad-signature")


def test_hooks_that_are_refused(following: Following) -> None:
    following.made or following.follow()
    body = b"{}"
    assert following.post(body, {})[1]["code"] == "bad-signature"
    old = signature(following.made["secret"].encode(), body, time.time() - 400)
    assert following.post(body, {"Ordito-Signature": old})[1]["code"] == "bad-signature"
    # The same once more is somebody who has recorded it.
    now = {"Ordito-Signature": signature(following.made["secret"].encode(), body, time.time())}
    assert following.post(body, now)[0] == 202
    status, data = following.post(body, now)
    assert (status, data["code"]) == (409, "replayed")
    status, data = following.post(b"x" * (1 << 20) + b"x", now)
    assert (status, data["code"]) == (413, "too-large")
    pool, hook = following.admin._pool, following.made["hook"]
    assert (
        pool.request("POST", hook[:-4] + "0000", body=body, headers={"Content-Type": "application/json"}).status == 404
    )
    assert pool.request("POST", hook, body=body, headers={"Content-Type": "text/plain"}).status == 415
    rows = following.admin.get("audit", outcome="denied", limit=5)["items"]
    assert "git default/shop" in {row["principal"] for row in rows}


def test_a_thousand_hooks_make_few_fetches(following: Following) -> None:
    following.follow()
    following.git.asked.clear()
    revision = following.repository.commit({"note.txt": "pushed often"})

    def push() -> None:
        for _ in range(125):
            assert following.push()[0] == 202

    threads = [threading.Thread(target=push) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    following.until(lambda one: one["revision"] == revision)
    with sqlite3.connect(following.server.home / "server.db") as db:
        following.until(lambda _: not db.execute("SELECT 1 FROM source WHERE asked > looked").fetchone())
    # One that runs when hooks come is followed by another; each asks a few times.
    listed = sum("info/refs" in path for path in following.git.asked)
    assert 1 <= listed < 60
    assert sum(plan["comment"] == f"main at {revision[:12]}" for plan in following.admin.get(PLANS)["items"]) == 1


# ------------------------------------------------------------------------------------------------------- who, and how


def test_a_source_is_set_shown_and_removed(following: Following) -> None:
    admin = following.admin
    following.follow()
    secret = following.made["secret"]
    assert len(secret) > 40
    tag = admin.ask("GET", SOURCE).headers["ETag"]
    body = {"repository": following.git.url(), "branch": "main", "every": 3600}
    assert admin.ask("PUT", SOURCE, body).data["code"] == "match-required"
    changed = admin.ask("PUT", SOURCE, body, {"If-Match": tag})
    assert (changed.data["every"], changed.data["secret"], changed.data["hook"]) == (3600, None, following.made["hook"])
    assert admin.ask("PUT", SOURCE, body, {"If-Match": tag}).data["code"] == "changed"
    before = admin.get(SOURCE)["looked"]
    assert admin.ask("POST", f"{SOURCE}/look").status == 202
    following.looked(before)
    with sqlite3.connect(following.server.home / "server.db") as db:
        assert not any(secret in str(row) for row in db.execute("SELECT * FROM source"))
    assert admin.ask("DELETE", SOURCE).status == 204
    assert admin.ask("GET", SOURCE).data["code"] == "unknown-source"
    assert following.push()[1]["code"] == "unknown-hook"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"repository": "https://elsewhere.example.org/x.git"}, "egress"),
        ({"repository": "git@github.com:a/b.git"}, "malformed"),
        ({"repository": "http://user:secret-word@127.0.0.1/x.git"}, "malformed"),
        ({"repository": "ext::sh -c touch% /tmp/x"}, "malformed"),
        ({"repository": "--upload-pack=touch"}, "malformed"),
        ({"branch": "--upload-pack=x"}, "malformed"),
        ({"branch": "a..b"}, "malformed"),
        ({"branch": "a b"}, "malformed"),
        ({"path": "../outside"}, "malformed"),
        ({"path": "/etc"}, "malformed"),
        ({"every": 5}, "malformed"),
        ({"every": -1}, "malformed"),
        ({"aply": "auto"}, "malformed"),
    ],
)
def test_what_cannot_be_followed_is_refused(following: Following, fields: dict[str, Any], code: str) -> None:
    body = {"repository": following.git.url(), "branch": "main", **fields}
    found = following.admin.ask("PUT", SOURCE, body, {"If-Match": "*"})
    assert found.data["code"] == code
    assert b"secret-word" not in found.body


def test_who_may_not_deploy_any_more_does_not_act(following: Following) -> None:
    following.follow(apply="auto")
    before = following.plan()["id"]
    with sqlite3.connect(following.server.home / "server.db") as db:
        db.execute("UPDATE source SET who = 'nobody-there'")
    following.repository.commit({"note.txt": "by nobody"})
    following.push()
    found = following.until(lambda one: one["problem"])
    assert 'nobody-there, who set it, has no longer the permission "deploy"' in found["problem"]
    assert following.plan()["id"] == before


@pytest.mark.parametrize(
    ("url", "egress", "is_permitted"),
    [
        ("https://git.example.org/x.git", ("git.example.org",), True),
        ("ssh://git@git.example.org/x.git", ("git.example.org",), True),
        ("ssh://git@git.example.org:2222/x.git", ("git.example.org",), False),
        ("ssh://git@git.example.org:2222/x.git", ("git.example.org:2222",), True),
        ("git://git.example.org/x.git", ("git.example.org",), False),
        ("https://git.example.org/x.git#main", ("git.example.org",), False),
        ("file:///srv/x.git", ("file:///srv/x.git",), True),
        ("file:///srv/x.git", ("file:///srv",), False),
        ("file:///srv/../etc", ("file:///srv/x.git",), False),
    ],
)
def test_which_repositories_may_be_reached(url: str, egress: tuple[str, ...], is_permitted: bool) -> None:
    if is_permitted:
        check_repository(url, egress)
        return
    with pytest.raises(ApiProblem):
        check_repository(url, egress)


def test_git_connects_to_the_address_that_was_looked_at() -> None:
    found = variables("https://git.example.org/x.git", ("10.1.2.3", "fd12::1"))
    settings = {
        found[f"GIT_CONFIG_KEY_{n}"]: found[f"GIT_CONFIG_VALUE_{n}"] for n in range(int(found["GIT_CONFIG_COUNT"]))
    }
    assert settings["http.curloptResolve"] == "git.example.org:443:10.1.2.3,[fd12::1]"
    assert (settings["protocol.allow"], settings["protocol.https.allow"]) == ("never", "always")
    assert "protocol.file.allow" not in settings
    command = variables("ssh://git@git.example.org:2222/x.git", ("10.1.2.3",))["GIT_SSH_COMMAND"]
    assert "HostName=10.1.2.3" in command
    assert "'HostKeyAlias=[git.example.org]:2222'" in command
    assert "StrictHostKeyChecking=yes" in command


def test_what_a_killed_server_has_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "home" / "sources" / "tmpabc"
    left.mkdir(parents=True)
    with Served(tmp_path / "home"):
        assert not left.exists()


def test_nobody_follows_without_asking(following: Following) -> None:
    client = Client(following.server.url)
    assert client.ask("GET", SOURCE).status == 401
