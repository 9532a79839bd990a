"""Webhooks: what is posted, in which order, again and again, and only to where the settings permit."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import hmac
import socket
import sqlite3
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography import x509
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy import insert, select, update

from ordito.server.database.audit import verified
from ordito.server.database.database import Database
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import AUDIT, DELIVERIES, EVENTS, PROJECTS, WEBHOOKS
from ordito.server.outgoing.egress import check_listed, permitted_addresses, split_url
from ordito.server.outgoing.posting import PostFailed, post
from ordito.server.outgoing.webhooks import PAUSES, Webhooks, begin_again
from ordito.server.problems import ApiProblem
from ordito.server.signatures import is_signed, signature
from tests.server.conftest import deployed
from tests.support.receiver import Receiver, talking
from tests.support.serving import MANY_REQUESTS, Client, Served

SECRET = b"a secret of the receiver"
BEGINNING = 1_800_000_000.0


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = BEGINNING

    def __call__(self) -> float:
        return self.now


class Outbox:
    """A database with a project, and webhooks that deliver its events."""

    def __init__(self, place: Path) -> None:
        self.database = Database(place / "server.db")
        self.clock = Clock()
        self.sealer = Fernet(Fernet.generate_key())
        self.egress: tuple[str, ...] = ()
        self.write(lambda c: c.execute(insert(PROJECTS).values(name="shop", description="", created=0.0)))

    def write(self, change: Callable[[Any], Any]) -> Any:
        return self.database.write_now(change)

    def rows(self, table: Any) -> list[Any]:
        return self.database.read_now(lambda c: list(c.execute(select(table).order_by(table.c.id)).all()))

    def hook(self, url: str, name: str = "one", events: str = "[]", ensembles: str = "[]") -> None:
        self.egress = (*self.egress, url.split("/")[2])
        row: dict[str, Any] = {
            "id": name,
            "project": "shop",
            "url": url,
            "secret": self.sealer.encrypt(SECRET),
            "events": events,
        }
        row |= {"ensembles": ensembles, "paused": False, "seen": 0, "who": "ann", "created": 0.0}
        self.write(lambda c: c.execute(insert(WEBHOOKS).values(**row)))

    def tell(self, kind: str, ensemble: str = "prod", project: str = "shop", **fields: object) -> int:
        event = ServerEvent(f"ensemble:{project}/{ensemble}", kind, project, ensemble, fields)
        number: int = self.write(lambda c: tell(c, event, self.clock.now))
        return number

    def round(self) -> None:
        """One round, until nothing is on its way any more, as after a start of the server."""

        async def run() -> None:
            hooks = Webhooks(self.database, self.sealer, lambda: "http://ordito", lambda: self.egress, self.clock)
            await hooks.round()
            await hooks.settled()
            hooks.stop()

        asyncio.run(run())


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    made = Outbox(tmp_path)
    yield made
    made.database.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


def test_an_event_is_posted_with_names_links_and_a_signature(outbox: Outbox, receiver: Receiver) -> None:
    outbox.hook(receiver.url("/take?it=1"))
    number = outbox.tell("job.ended", job="A6BM5PEY0000", status="ok", inputs={"pass": "canary"}, said="canary")
    outbox.round()
    came = receiver.next()
    assert came.path == "/take?it=1"
    at = "http://ordito/api/v1/projects/shop/ensembles/prod"
    assert came.data == {
        "type": "job.ended",
        "event": number,
        "time": "2027-01-15T08:00:00.000Z",
        "project": "shop",
        "ensemble": "prod",
        "job": "A6BM5PEY0000",
        "status": "ok",
        "links": {"ensemble": at, "job": f"{at}/jobs/A6BM5PEY0000"},
    }
    [row] = outbox.rows(DELIVERIES)
    assert (came.headers["Ordito-Delivery"], row.state, row.outcome, row.attempts) == (
        row.id,
        "done",
        "answered 200",
        1,
    )
    moment, _, mac = came.headers["Ordito-Signature"].partition(",")
    wanted = hmac.new(SECRET, moment.removeprefix("t=").encode() + b"." + came.body, hashlib.sha256).hexdigest()
    assert (moment, mac) == (f"t={int(BEGINNING)}", f"v1={wanted}")
    assert came.headers["Host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize(
    ("given", "later", "is_good"),
    [
        ("", 0, True), ("", 300, True), ("", -300, True), ("", 302, False), ("", -302, False),
        ("t=1,v1=", 0, False), ("nothing", 0, False), ("t=99999999999999999999,v1=" + "0" * 64, 0, False),
    ],
)  # fmt: skip
def test_a_signature_holds_for_minutes(given: str, later: float, is_good: bool) -> None:
    text = given or signature(SECRET, b"body", BEGINNING)
    assert is_signed(SECRET, b"body", text, BEGINNING + later) is is_good
    assert not is_signed(SECRET, b"another", text, BEGINNING)
    assert not is_signed(b"another", b"body", text, BEGINNING)


def test_what_is_not_wanted_is_not_posted(outbox: Outbox, receiver: Receiver) -> None:
    outbox.hook(receiver.url(), events='["job.ended"]', ensembles='["prod"]')
    outbox.tell("job.began")
    outbox.tell("job.ended", ensemble="stage")
    outbox.tell("job.ended", project="other")
    outbox.tell("plan.changed")
    wanted = outbox.tell("job.ended")
    outbox.round()
    assert receiver.next().data["event"] == wanted
    assert receiver.is_quiet
    assert len(outbox.rows(DELIVERIES)) == 1


def test_events_come_in_order_and_wait_for_the_one_before(outbox: Outbox, receiver: Receiver) -> None:
    """One that is not taken is posted again with the same id after 1, 5, 30 minutes; those behind it wait."""
    receiver.statuses = [500, 302, 404, 204]
    receiver.more_headers = {"Location": "http://127.0.0.1:1/"}
    outbox.hook(receiver.url())
    numbers = [outbox.tell("job.began"), outbox.tell("job.ended"), outbox.tell("job.began")]
    seen = []
    for pause in (0, 59, 1, 299, 1, 1799, 1):
        outbox.clock.now += pause
        outbox.round()
        seen.append((int(outbox.clock.now - BEGINNING), receiver._came.qsize()))
    assert seen == [(0, 1), (59, 1), (60, 2), (359, 2), (360, 3), (2159, 3), (2160, 6)]
    came = [receiver.next() for _ in range(6)]
    assert [one.data["event"] for one in came] == [numbers[0]] * 4 + numbers[1:]
    assert len({one.headers["Ordito-Delivery"] for one in came}) == 3
    assert [row.state for row in outbox.rows(DELIVERIES)] == ["done"] * 3


def test_after_a_day_a_webhook_is_paused_and_that_is_told(outbox: Outbox, receiver: Receiver) -> None:
    receiver.statuses = [503]
    outbox.hook(receiver.url("/a-secret-place"))
    other = Receiver()
    outbox.hook(other.url(), "two")
    outbox.tell("job.ended")
    outbox.tell("job.began")
    for pause in (0.0, *PAUSES):
        outbox.clock.now += pause
        outbox.round()
    assert 23 * 3600 <= outbox.clock.now - BEGINNING <= 24 * 3600
    assert receiver._came.qsize() == len(PAUSES) + 1
    assert [row.paused for row in outbox.rows(WEBHOOKS)] == [True, False]
    told = select(EVENTS).where(EVENTS.c.project != "").order_by(EVENTS.c.number.desc())
    last = outbox.database.read_now(lambda c: c.execute(told).first())
    assert last is not None
    assert (last.type, last.project, msgspec.json.decode(last.body)["webhook"]) == ("webhook.paused", "shop", "one")
    audit = outbox.database.read_now(lambda c: c.execute(select(AUDIT)).one())
    assert (audit.action, audit.object, audit.outcome, audit.detail) == (
        "webhook.paused", "one", "failed", "answered 503",
    )  # fmt: skip
    assert not outbox.database.read_now(verified).broken
    assert other._came.qsize() == 2
    # What was not taken goes first when it goes on; nothing is lost.
    receiver.statuses = [200]
    while not receiver.is_quiet:
        receiver.next()
    outbox.tell("freeze.changed")
    outbox.round()
    assert receiver.is_quiet
    outbox.write(lambda c: c.execute(update(WEBHOOKS).values(paused=False)))
    outbox.write(lambda c: begin_again(c, "one", outbox.clock.now))
    outbox.round()
    assert [receiver.next().data["type"] for _ in range(3)] == ["job.ended", "job.began", "freeze.changed"]
    other.close()


def test_a_thousand_events_for_one_receiver(outbox: Outbox, receiver: Receiver) -> None:
    outbox.hook(receiver.url())

    def many(connection: Any) -> None:
        for _ in range(1_000):
            tell(connection, ServerEvent("ensemble:shop/prod", "job.began", "shop", "prod"), BEGINNING)

    outbox.write(many)
    for _ in range(3):
        outbox.round()
    numbers = [receiver.next().data["event"] for _ in range(1_000)]
    assert numbers == sorted(set(numbers))
    assert receiver.is_quiet


def test_old_deliveries_are_forgotten(outbox: Outbox, receiver: Receiver) -> None:
    outbox.hook(receiver.url())
    outbox.tell("job.ended")
    outbox.round()
    outbox.clock.now += 8 * 24 * 3600
    outbox.round()
    assert outbox.rows(DELIVERIES) == []


# ------------------------------------------------------------------------------------------------------------- egress


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name have these addresses; addresses stay what they are."""
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *more: Any, **named: Any) -> list[Any]:
        if host.replace(".", "").isdecimal() or ":" in host:
            return real(host, port, *more, **named)
        return [one for address in addresses for one in real(address, port, type=socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.mark.parametrize(
    ("host", "port", "egress", "is_listed"),
    [
        ("hooks.example.org", 443, ("hooks.example.org",), True),
        ("HOOKS.example.org.", 443, ("hooks.example.org",), True),
        ("hooks.example.org", 8443, ("hooks.example.org:8443",), True),
        ("hooks.example.org", 443, ("hooks.example.org:8443",), False),
        ("hooks.example.org", 8443, ("hooks.example.org",), False),
        ("hooks.example.org", 443, (), False),
        ("evil.hooks.example.org", 443, ("hooks.example.org",), False),
        ("hooks.example.org.evil.org", 443, ("hooks.example.org",), False),
        ("bücher.example", 443, ("xn--bcher-kva.example",), True),
        ("127.0.0.1", 80, ("127.0.0.1:80",), True),
        ("::ffff:127.0.0.1", 80, ("127.0.0.1",), True),
        ("::1", 80, ("[::1]:80",), True),
        ("0:0:0:0:0:0:0:1", 80, ("::1",), True),
        ("::1", 81, ("[::1]:80",), False),
        ("2130706433", 80, ("127.0.0.1",), False),
        ("127.1", 80, ("127.0.0.1",), False),
        ("localhost", 80, ("127.0.0.1",), False),
    ],
)
def test_only_what_is_listed_may_be_reached(host: str, port: int, egress: tuple[str, ...], is_listed: bool) -> None:
    if is_listed:
        check_listed(host, port, egress)
        return
    with pytest.raises(ApiProblem) as refused:
        check_listed(host, port, egress)
    assert refused.value.code == "egress"


@pytest.mark.parametrize(
    ("addresses", "is_permitted"),
    [
        (("192.0.2.1", "2001:db8::1"), True), (("127.0.0.1",), False), (("192.0.2.1", "10.1.2.3"), False),
        (("172.16.0.1",), False), (("192.168.1.1",), False), (("100.64.0.1",), False), (("fd12::1",), False),
        (("::1",), False), (("::ffff:127.0.0.1",), False), (("64:ff9b::a00:1",), False),
        (("169.254.169.254",), False), (("::ffff:169.254.169.254",), False), (("fe80::1",), False),
        (("0.0.0.0",), False), (("::",), False), (("224.0.0.1",), False), (("ff02::1",), False),
        (("64:ff9b::a9fe:a9fe",), False), (("2002:a9fe:a9fe::1",), False), (("fd00:ec2::254",), False),
        (("10.1.2.3", "169.254.169.254"), False), (("169.254.169.254", "10.1.2.3"), False),
    ],
)  # fmt: skip
def test_a_name_leads_to_no_special_address(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...], is_permitted: bool
) -> None:
    """All addresses of a listed name are looked at."""
    resolving(monkeypatch, *addresses)
    if is_permitted:
        assert permitted_addresses("hooks.test", 443, ("hooks.test",)) == addresses
        return
    with pytest.raises(ApiProblem) as refused:
        permitted_addresses("hooks.test", 443, ("hooks.test",))
    assert refused.value.code == "egress"


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "fd12::1"])
def test_a_name_leads_to_a_private_network_where_that_is_said(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """An address that is listed itself is what it is; of a name, who serves it decides where it leads."""
    resolving(monkeypatch, address)
    for port, entry in ((443, "hooks.test:private"), (8443, "hooks.test:8443:private")):
        assert permitted_addresses("hooks.test", port, (entry,)) == (address,)
    for entry in ("hooks.test", "hooks.test:443", address, "other.test:private"):
        with pytest.raises(ApiProblem) as refused:
            permitted_addresses("hooks.test", 443, ("hooks.test", entry))
        assert 'egress: [ "hooks.test:private" ]' in refused.value.hint
    assert permitted_addresses(address, 443, (address,)) == (address,)
    with pytest.raises(ApiProblem):
        permitted_addresses("hooks.test", 443, ("hooks.test", "hooks.test:80:private"))


def test_no_entry_leads_to_the_credentials_of_clouds(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("169.254.169.254", "fd00:ec2::254", "100.100.100.200"):
        resolving(monkeypatch, address)
        with pytest.raises(ApiProblem):
            permitted_addresses("hooks.test", 443, ("hooks.test:private",))


def test_a_special_address_is_reached_where_it_is_listed_itself() -> None:
    assert permitted_addresses("169.254.0.9", 80, ("169.254.0.9",)) == ("169.254.0.9",)


def test_a_name_that_changes_its_address_leads_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    """The address that was looked at is the one that is connected to: the name is resolved once."""
    asked = []
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *more: Any, **named: Any) -> list[Any]:
        asked.append(host)
        if host != "hooks.test":
            return real(host, port, *more, **named)
        return real("127.0.0.1" if asked.count(host) == 1 else "169.254.169.254", port, type=socket.SOCK_STREAM)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert post(f"http://hooks.test:{receiver.port}/", b"{}", {}, (f"hooks.test:{receiver.port}:private",)) == 200
    assert asked.count("hooks.test") == 1
    assert receiver.next().headers["Host"] == f"hooks.test:{receiver.port}"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://hooks.test/", "https:///x", "https://user:secret-word@hooks.test/", "https://user@hooks.test/",
        "https://hooks.test:0/", "https://hooks.test:99999/", "https://hooks.test/\r\nX: y", "https://ho oks.test/",
        "https://[::1/", "https://[fe80::1%25eth0]/", "hooks.test", "https://hooks.test/" + "x" * 2_000, "file:///etc",
        "https://hooks.test\\@evil.test/", "https://-x/",
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_used_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ApiProblem) as refused:
        split_url(url, ("https", "http"))
    assert refused.value.code == "malformed"
    assert "secret-word" not in refused.value.detail + refused.value.hint


# --------------------------------------------------------------------------------------------------------- receivers


def certificate(place: Path, name: str) -> tuple[Path, Path]:
    """A certificate of a name that nobody else has signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = builder.sign(key, hashes.SHA256())
    chain, private = place / f"{name}.pem", place / f"{name}.key"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return chain, private


def test_a_certificate_must_be_that_of_the_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """TLS asks for the name, though the connection goes to an address; a certificate of another name, or one that
    nobody knows, is refused."""
    chain, private = certificate(tmp_path, "hooks.test")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, private)
    asked: list[str | None] = []
    context.sni_callback = lambda _, name, __: asked.append(name)
    resolving(monkeypatch, "127.0.0.1")
    with Receiver(context=context) as receiver:
        egress = (f"hooks.test:{receiver.port}:private", f"other.test:{receiver.port}:private")
        with pytest.raises(PostFailed, match=r"certificate of hooks\.test is not valid"):
            post(f"https://hooks.test:{receiver.port}/", b"{}", {}, egress)
        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        assert post(f"https://hooks.test:{receiver.port}/", b"{}", {}, egress) == 200
        assert receiver.next().body == b"{}"
        assert asked[-1] == "hooks.test"
        with pytest.raises(PostFailed, match=r"certificate of other\.test is not valid"):
            post(f"https://other.test:{receiver.port}/", b"{}", {}, egress)
        assert receiver.is_quiet


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.statuses = [307]
    receiver.more_headers = {"Location": receiver.url("/elsewhere")}
    assert post(receiver.url(), b"{}", {}, (f"127.0.0.1:{receiver.port}",)) == 307
    receiver.next()
    assert receiver.is_quiet


def test_a_large_answer_is_not_read_to_its_end(receiver: Receiver) -> None:
    receiver.answer = b"x" * (64 << 20)
    assert post(receiver.url(), b"{}", {}, (f"127.0.0.1:{receiver.port}",)) == 200


def _endless_head(opened: socket.socket) -> None:
    opened.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        opened.sendall(b"X: y\r\n" * 200)


def _no_http(opened: socket.socket) -> None:
    opened.recv(1_000)
    opened.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def _closing(opened: socket.socket) -> None:
    opened.recv(1_000)


@pytest.mark.parametrize("talk", [_endless_head, _no_http, _closing])
def test_what_talks_no_http_is_a_failure(talk: Callable[[socket.socket], None]) -> None:
    with talking(talk) as port, pytest.raises(PostFailed) as failed:
        post(f"http://127.0.0.1:{port}/", b"{}", {}, (f"127.0.0.1:{port}",))
    assert "127.0.0.1" in failed.value.message
    assert "SSH" not in failed.value.message


@pytest.mark.parametrize("piece", [b"", b"X"])
def test_a_receiver_that_takes_its_time_is_left(piece: bytes) -> None:
    """Also one that goes on sending a letter now and then, so that no single one is waited for long."""
    over = threading.Event()

    def talk(opened: socket.socket) -> None:
        opened.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while not over.wait(0.05):
            opened.sendall(piece)

    with talking(talk) as port:
        began = time.monotonic()
        with pytest.raises(PostFailed, match="did not answer within 0"):
            post(f"http://127.0.0.1:{port}/", b"{}", {}, (f"127.0.0.1:{port}",), seconds=0.4)
        assert time.monotonic() - began < 20
        over.set()


def test_a_port_that_nobody_listens_on_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(PostFailed, match="refused"):
        post(f"http://127.0.0.1:{port}/", b"{}", {}, (f"127.0.0.1:{port}",))


def test_an_address_that_is_not_listed_is_an_outcome(outbox: Outbox, receiver: Receiver) -> None:
    """The settings may have changed since the webhook was made."""
    outbox.hook(receiver.url())
    outbox.egress = ()
    outbox.tell("job.ended")
    outbox.round()
    [row] = outbox.rows(DELIVERIES)
    assert (row.state, row.attempts) == ("waiting", 1)
    assert row.outcome == f"127.0.0.1 port {receiver.port} is nothing that this server may reach"
    assert receiver.is_quiet


# ------------------------------------------------------------------------------------------------------------ routes

HOOKS = "projects/default/webhooks"


@pytest.fixture(scope="module")
def heard() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, heard: Receiver) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("webhooks")
    settings = f'{MANY_REQUESTS}egress: [ "127.0.0.1:{heard.port}", hooks.example.org ]\n'
    with Served(place / "home", deployed(place), settings=settings) as made:
        yield made


@pytest.fixture(scope="module")
def ann(server: Served) -> Client:
    return server.admin()


def test_a_webhook_is_made_tried_changed_and_removed(server: Served, ann: Client, heard: Receiver) -> None:
    made = ann.do("POST", HOOKS, {"url": heard.url("/x/canary-place"), "events": ["job.ended"]})
    secret, one = made.pop("secret"), f"{HOOKS}/{made['id']}"
    assert len(secret) > 40
    assert made == ann.get(one) == next(hook for hook in ann.get(HOOKS)["items"] if hook["id"] == made["id"])
    assert (made["events"], made["ensembles"], made["paused"]) == (["job.ended"], [], False)
    sent = ann.do("POST", f"{one}/test")
    came = heard.next()
    assert came.headers["Ordito-Delivery"] == sent["id"]
    assert came.data["type"] == "webhook.test"
    assert is_signed(secret.encode(), came.body, came.headers["Ordito-Signature"], time.time())
    # Once more, by hand: the same delivery.
    assert ann.do("POST", f"{one}/deliveries/{sent['id']}/again")["state"] == "waiting"
    assert heard.next().headers["Ordito-Delivery"] == sent["id"]
    now = {"If-Match": ann.ask("GET", one).headers["ETag"]}
    assert ann.ask("PATCH", one, {"paused": True}).data["code"] == "match-required"
    changed = ann.do("PATCH", one, {"secret": "another secret, quite long", "events": []}, now)
    assert changed == {**made, "events": []}
    assert ann.ask("PATCH", one, {"paused": True}, now).data["code"] == "changed"
    ann.do("POST", f"{one}/test")
    came = heard.next()
    assert is_signed(b"another secret, quite long", came.body, came.headers["Ordito-Signature"], time.time())
    ann.do("PATCH", one, {"paused": True}, {"If-Match": "*"})
    assert ann.ask("POST", f"{one}/test").data["code"] == "not-ready"
    assert ann.ask("POST", f"{one}/deliveries/{sent['id']}/again").data["code"] == "not-ready"
    assert ann.ask("DELETE", one).status == 204
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/deliveries"), ("POST", "/test")):
        assert ann.ask(method, one + path).data["code"] == "unknown-webhook"
    assert heard.is_quiet
    # Neither a secret nor the path of the URL, which is as good as one, is anywhere else.
    rows = ann.get("audit", limit=100)["items"]
    actions = [row["action"] for row in rows if row["action"].startswith("webhook.")]
    assert set(actions) == {
        "webhook.make", "webhook.test", "webhook.again", "webhook.change", "webhook.remove"
    }  # fmt: skip
    for word in ("canary-place", secret, "another secret"):
        assert word not in str(rows)
        assert word not in server.log.read_text()
        with sqlite3.connect(server.home / "server.db") as db:
            assert not any(word in str(row) for row in db.execute("SELECT * FROM webhook"))


def test_deliveries_are_listed_by_pages(ann: Client, heard: Receiver) -> None:
    heard.statuses = [200, 200, 500]
    one = f"{HOOKS}/{ann.do('POST', HOOKS, {'url': heard.url()})['id']}"
    sent = []
    for _ in range(3):
        sent.append(ann.do("POST", f"{one}/test")["id"])
        heard.next()
    first = ann.get(f"{one}/deliveries", limit=2)
    rest = ann.get(f"{one}/deliveries", limit=2, after=first["next"])
    assert [row["id"] for row in (*first["items"], *rest["items"])] == sent[::-1]
    assert rest["next"] is None
    deadline = time.monotonic() + 30
    while not (waiting := ann.get(f"{one}/deliveries", state="waiting")["items"])[0]["outcome"]:
        assert time.monotonic() < deadline
    assert [(row["id"], row["outcome"], row["attempts"]) for row in waiting] == [(sent[2], "answered 500", 1)]
    assert waiting[0]["next"]
    assert ann.ask("GET", f"{one}/deliveries", after="nonsense").data["code"] == "bad-cursor"
    assert ann.ask("POST", f"{one}/deliveries/none/again").data["code"] == "unknown-delivery"
    # Who mends the heard need not wait for the next attempt.
    heard.statuses = [200]
    ann.do("PATCH", one, {"paused": False}, {"If-Match": "*"})
    assert heard.next().headers["Ordito-Delivery"] == sent[2]


@pytest.mark.parametrize(
    ("body", "code", "hint"),
    [
        ({"url": "https://elsewhere.example.org/"}, "egress", "egress: [ elsewhere.example.org ]"),
        ({"url": "http://169.254.169.254/latest"}, "egress", ""),
        ({"url": "http://user:secret-word@127.0.0.1/"}, "malformed", ""),
        ({"url": "https://hooks.example.org/", "events": ["job.endet"]}, "unknown-event-type", '"job.ended"?'),
        ({"url": "https://hooks.example.org/", "events": ["x"]}, "unknown-event-type", "there are: plan.waiting"),
        ({"url": "https://hooks.example.org/", "ensembles": ["shpo"]}, "unknown-ensemble", '"shop"?'),
        ({"url": "https://hooks.example.org/", "secret": "short"}, "malformed", ""),
        ({"url": "https://hooks.example.org/#part"}, "malformed", ""),
        ({"url": "https://hooks.example.org/", "event": []}, "malformed", '"events"?'),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_hint(ann: Client, body: dict[str, Any], code: str, hint: str) -> None:
    found = ann.ask("POST", HOOKS, body)
    assert (found.data["code"], found.status) == (
        code,
        {"malformed": 400, "unknown-ensemble": 404}.get(code, found.status),
    )
    assert hint in found.data["hint"]
    assert b"secret-word" not in found.body


def test_a_project_has_only_so_many_webhooks(ann: Client) -> None:
    ann.do("POST", "projects", {"name": "many"})
    for _ in range(50):
        ann.do("POST", "projects/many/webhooks", {"url": "https://hooks.example.org/"})
    found = ann.ask("POST", "projects/many/webhooks", {"url": "https://hooks.example.org/"})
    assert (found.status, found.data["code"]) == (409, "limit-reached")


def test_a_key_gives_the_same_webhook_and_its_secret_again(ann: Client) -> None:
    key = {"Idempotency-Key": "hook-1"}
    made = ann.ask("POST", HOOKS, {"url": "https://hooks.example.org/"}, key)
    again = ann.ask("POST", HOOKS, {"url": "https://hooks.example.org/"}, key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert made.data == again.data


def test_what_was_not_delivered_is_delivered_after_a_restart(tmp_path: Path, receiver: Receiver) -> None:
    """Also where the server was killed: the outbox and the deliveries are on the disk."""
    settings = f'{MANY_REQUESTS}egress: [ "127.0.0.1:{receiver.port}" ]\n'
    home, shop = tmp_path / "home", deployed(tmp_path)
    receiver.statuses = [500]
    with Served(home, shop, settings=settings) as server:
        admin = server.admin()
        one = f"{HOOKS}/{admin.do('POST', HOOKS, {'url': receiver.url()})['id']}"
        sent = admin.do("POST", f"{one}/test")["id"]
        receiver.next()
        server.process.kill()
        server.process.wait()
    receiver.statuses = [200]
    with sqlite3.connect(home / "server.db") as db:
        db.execute("UPDATE delivery SET next = 0")
    with Served(home, settings=settings):
        assert receiver.next().headers["Ordito-Delivery"] == sent
