"""Every route, asked by everybody: what may be asked follows from the table of routes and that of roles, and from
nothing else."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterator

import msgspec
import pytest

from ordito.server.permissions import AUDITOR, OF_SERVER, ROLES, Access, Permission
from ordito.server.route import BASE, Route
from ordito.server.routes.table import ROUTES
from tests.server.conftest import SERVICE, deployed
from tests.server.test_signing_in import Browser
from tests.support.packages import META, META_PLACE, packed, send_package
from tests.support.serving import Client, Served

MINE, OTHER = "mine", "other"
SAMPLES = {"ensemble": "nothing", "user": "nobody-there", "group": "none", "account": "none", "id": "none"}
SAMPLES |= {"name": "web", "job": "A", "code": "locked", "delivery": "none"}
SAMPLES |= {"digest": "none:1", "label": "none:1", "path": "none"}


class Somebody(msgspec.Struct, frozen=True):
    """Who asks: what the table permits them in the project ``mine``, and on the server."""

    name: str
    token: str
    is_known: bool
    permissions: frozenset[Permission]
    on_server: frozenset[Permission] = frozenset()
    elsewhere: frozenset[Permission] = frozenset()
    of_part: bool = False
    """Whether the permissions are in one ensemble only."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("matrix")
    with Served(place / "home", deployed(place)) as made:
        yield made


@pytest.fixture(scope="module")
def everybody(server: Served) -> list[Somebody]:
    """One for each role, and those who may nothing: nobody, disabled, expired, narrowed, without a role."""
    admin = server.admin()
    for project in (MINE, OTHER):
        admin.do("POST", "projects", {"name": project})
    # Only administrators name paths of the server.
    shop = next(iter(admin.get("ensembles")["items"]))
    assert shop["project"] == "default"
    columns = "name, directory, created"
    with sqlite3.connect(server.home / "server.db") as db:
        for project in (MINE, OTHER):
            copied = f"SELECT ?, {columns} FROM ensemble WHERE project = 'default'"
            db.execute(f"INSERT INTO ensemble (project, {columns}) {copied}", (project,))
    bindings = [{"kind": "user", "who": admin.get("me")["name"], "role": "owner"}]
    found = [Somebody("nobody", "", is_known=False, permissions=frozenset())]
    for role in ROLES:
        admin.do("POST", "users", {"name": role})
        bindings.append({"kind": "user", "who": role, "role": role})
    bindings.append({"kind": "user", "who": "visitor", "role": "maintainer", "ensemble": "shop"})
    admin.do("POST", "users", {"name": "visitor"})
    admin.do("POST", f"projects/{MINE}/accounts", {"name": "robot"})
    bindings.append({"kind": "account", "who": "robot", "role": "operator"})
    admin.do("PUT", "groups/team", {"members": ["approver"]})
    bindings.append({"kind": "group", "who": "team", "role": "planner"})
    now = {"If-Match": "*"}
    admin.do("PUT", f"projects/{MINE}/bindings", {"bindings": bindings}, now)
    for role, permissions in ROLES.items():
        more = ROLES["planner"] if role == "approver" else frozenset()
        found.append(Somebody(role, token_of(admin, role), is_known=True, permissions=permissions | more))
    token = token_of(admin, "visitor")
    found.append(Somebody("visitor", token, is_known=True, permissions=ROLES["maintainer"], of_part=True))
    robot = admin.do("POST", f"projects/{MINE}/accounts/robot/tokens", {"name": "t"})["token"]
    found.append(Somebody("robot", robot, is_known=True, permissions=ROLES["operator"]))
    narrow = {"name": "narrow", "role": "viewer"}
    owner = next(admin.with_token(one.token) for one in found if one.name == "owner")
    token = owner.do("POST", "me/tokens", narrow)["token"]
    found.append(Somebody("narrowed", token, is_known=True, permissions=ROLES["viewer"]))
    elsewhere = {"name": "elsewhere", "projects": [OTHER]}
    token = owner.do("POST", "me/tokens", elsewhere)["token"]
    found.append(Somebody("narrowed to another project", token, is_known=True, permissions=frozenset()))
    admin.do("POST", "users", {"name": "stranger"})
    found.append(Somebody("stranger", token_of(admin, "stranger"), is_known=True, permissions=frozenset()))
    admin.do("POST", "users", {"name": "auditor", "auditor": True})
    read = AUDITOR - OF_SERVER
    found.append(Somebody("auditor", token_of(admin, "auditor"), True, read, AUDITOR & OF_SERVER, read))
    admin.do("POST", "users", {"name": "gone"})
    token = token_of(admin, "gone")
    admin.do("PATCH", "users/gone", {"disabled": True}, {"If-Match": "*"})
    found.append(Somebody("disabled", token, is_known=False, permissions=frozenset()))
    admin.do("POST", "users", {"name": "late"})
    token = token_of(admin, "late")
    with sqlite3.connect(server.home / "server.db") as db:
        db.execute("UPDATE token SET expires = ? WHERE owner = 'late'", (time.time() - 1,))
    found.append(Somebody("expired", token, is_known=False, permissions=frozenset()))
    return found


def token_of(admin: Client, user: str) -> str:
    """A token that a user makes after having signed in with a link."""

    browser = Browser(admin.url)
    link = admin.do("POST", f"users/{user}/reset")["link"].rpartition("#")[2]
    assert browser.ask("POST", "sessions", {"link": link}).status == 201
    made = browser.ask("POST", "me/tokens", {"name": "matrix"})
    token: str = json.loads(made.data)["token"]
    return token


def path_of(route: Route, project: str) -> str:
    """A path of a route, in a project."""
    names = {**SAMPLES, "project": project, "ensemble": "shop"}
    return re.sub(r"\{(\w+)\}", lambda found: names[found[1]], route.template)


def expected(route: Route, who: Somebody, project: str) -> int:
    """401, 403 or 404 if the table refuses it, 0 if it does not."""
    access = route.access
    if access is Access.ANYBODY:
        # A token that is not valid is refused everywhere.
        return 401 if who.token and not who.is_known else 0
    if not who.is_known:
        return 401
    if access is Access.ME:
        return 0
    if access in OF_SERVER:
        return 0 if access in who.on_server else 403
    if "{project}" not in route.path:
        return 0
    permissions = who.permissions if project == MINE else who.elsewhere
    if Permission.READ not in permissions:
        return 404
    if who.of_part and "{ensemble}" not in route.path:
        return 0 if route.of_part else 403
    return 0 if access in permissions else 403


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_route_may_be_asked_by_whom_the_table_says(route: Route, server: Served, everybody: list[Somebody]) -> None:
    for who in everybody:
        client = Client(server.url, who.token)
        for project in (MINE, OTHER):
            wanted = expected(route, who, project)
            # A body that is no JSON is refused behind the border: nothing is changed by who may.
            headers = {"Content-Type": "text/plain"} if route.takes_body else {}
            body: object = {} if route.takes_body else None
            if not wanted and not route.takes_body and route.changes:
                continue
            found = client.ask(route.method, path_of(route, project), body, headers)
            if wanted:
                assert found.status == wanted, (who.name, project, found)
                assert found.data["code"]
            elif route.takes_body:
                assert found.status == 415, (who.name, project, found)
            else:
                assert found.status not in (401, 403), (who.name, project, found)


def test_every_route_has_its_permission_from_the_table() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)
    for route in ROUTES:
        assert route.summary.endswith(".")
        is_of_project = route.path.startswith(f"{BASE}/projects/{{project}}")
        assert not (is_of_project and isinstance(route.access, Access)), route.path
        if route.changes and isinstance(route.access, Permission):
            assert route.access is not Permission.READ, route.path


def test_a_list_has_only_what_may_be_seen(server: Served, everybody: list[Somebody]) -> None:
    for who in everybody:
        if not who.is_known:
            continue
        found = {one["project"] for one in Client(server.url, who.token).get("ensembles")["items"]}
        wanted = {MINE} if Permission.READ in who.permissions else set()
        wanted |= {OTHER, "default"} if Permission.READ in who.elsewhere else set()
        assert found == wanted, who.name


def test_who_sees_one_ensemble_sees_what_belongs_to_it(server: Served, everybody: list[Somebody]) -> None:
    """Of the packages of the project the one of which it is made; not who has which role, nor the rules of others."""
    clients = {one.name: Client(server.url, one.token) for one in everybody}
    files = {META_PLACE: META, "service.yaml": SERVICE, "say.sh": "echo hello\n"}
    first, second = (
        send_package(clients["owner"], MINE, packed({**files, "more": more}), f"shop:{more}").data["digest"]
        for more in ("1", "2")
    )
    visitor, viewer, where = clients["visitor"], clients["viewer"], f"projects/{MINE}/packages"
    assert {one["digest"] for one in viewer.get(where)["items"]} == {first, second}
    assert visitor.get(where)["items"] == []
    with sqlite3.connect(server.home / "server.db") as db:
        db.execute("UPDATE ensemble SET package = ? WHERE project = ?", (first, MINE))
    assert [one["digest"] for one in visitor.get(where)["items"]] == [first]
    for path in ("", "/files/service.yaml", "/content", "/topology"):
        assert visitor.ask("GET", f"{where}/shop:1{path}").status == 200
        for other in ("shop:2", second, "shop:3"):
            found = visitor.ask("GET", f"{where}/{other}{path}")
            assert (found.status, found.data["code"]) == (404, "unknown-package")
            assert "shop:2" not in found.data.get("hint", "")
    assert visitor.get(f"projects/{MINE}")["name"] == MINE
    assert [one["name"] for one in visitor.get(f"projects/{MINE}/ensembles")["items"]] == ["shop"]
    for path in ("bindings", "rules"):
        assert visitor.ask("GET", f"projects/{MINE}/{path}").status == 403
        assert viewer.ask("GET", f"projects/{MINE}/{path}").status == 200


def test_outputs_are_for_those_who_may_see_what_is_printed(server: Served, everybody: list[Somebody]) -> None:
    """Wherever they stand: in the status, in the record of a job, in its events."""
    where = f"projects/{MINE}/ensembles/shop"
    for who in everybody:
        if Permission.READ not in who.permissions:
            continue
        client = Client(server.url, who.token)
        [job] = client.get(f"{where}/jobs")["jobs"]
        answers = [client.ask("GET", f"{where}/{path}") for path in ("status", f"jobs/{job['id']}")]
        answers.append(client.ask("GET", "events", topic=f"job:{MINE}/shop/{job['id']}"))
        assert {answer.status for answer in answers} == {200}
        for answer in answers[:2]:
            assert (b"printed and given out" in answer.body) == (Permission.LOGS in who.permissions), who.name
        if Permission.LOGS not in who.permissions:
            assert not [
                answer for answer in answers if b"printed and given" in answer.body or b"says hello" in answer.body
            ]


def test_topics_are_followed_by_whom_the_table_says(server: Served, everybody: list[Somebody]) -> None:
    for who in everybody:
        for project, permissions in ((MINE, who.permissions), (OTHER, who.elsewhere)):
            for topic, wanted in (("ensemble:{}/shop", "read"), ("job:{}/shop/A6BM5PEY0000", "read"),
                                  ("log:{}/shop/A6BM5PEY0000", "logs")):  # fmt: skip
                expected = 200 if wanted in permissions else 403
                expected = expected if Permission.READ in permissions else 404
                found = Client(server.url, who.token).ask("GET", "events", topic=topic.format(project))
                assert found.status == (expected if who.is_known else 401), (who.name, topic, found)


def test_overall_topics_tell_of_what_may_be_seen(server: Served, everybody: list[Somebody]) -> None:
    """``ensembles`` and ``inbox`` can be followed by all; they tell of plans of ensembles that one may read."""
    owner = next(one for one in everybody if one.name == "owner")
    who_may = {one.name: Permission.READ in one.permissions for one in everybody if one.is_known}
    clients = {one.name: Client(server.url, one.token) for one in everybody if one.is_known}
    cursors = {}
    for name, client in clients.items():
        page = client.get("events", topic=["ensembles", "inbox"])
        assert page["items"] == []
        cursors[name] = page["next"]
    body = {"request": {"workflow": "restart", "all": True}}
    clients[owner.name].do("POST", f"projects/{MINE}/ensembles/shop/plans", body)
    for name, client in clients.items():
        wait = 20 if who_may[name] else 0
        news = client.get("events", topic=["ensembles", "inbox"], after=cursors[name], wait=wait)["items"]
        assert bool(news) == who_may[name], name
        assert {event["project"] for event in news} <= {MINE}


def test_a_refusal_is_written_down(server: Served, everybody: list[Somebody]) -> None:
    viewer = next(one for one in everybody if one.name == "viewer")
    assert Client(server.url, viewer.token).ask("GET", "users").status == 403
    auditor = next(one for one in everybody if one.name == "auditor")
    rows = Client(server.url, auditor.token).get("audit", outcome="denied", actor="viewer", limit=1)["items"]
    assert [(row["action"], row["detail"]) for row in rows] == [("get_users", "needs administer")]
