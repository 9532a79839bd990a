"""The settings of the server: its `server.yaml`, in which every key has a default."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from ordito.app.surroundings import Surroundings
from ordito.ensemble.logs import MOST_BYTES, MOST_JOBS, Retention
from ordito.results.pages import page_data
from ordito.server.names import hint_at
from ordito.server.refused import ServerRefused

SQLITE = "sqlite"
POSTGRESQL = ("postgresql://", "postgres://")


class _SettingsPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Tls(_SettingsPart, frozen=True):
    """The server's own certificate."""

    certificate: str
    """The path of its chain, in PEM, relative to the home."""

    key: str
    """The path of its key."""


class Limits(_SettingsPart, frozen=True):
    """What a request may use."""

    requests: Annotated[float, msgspec.Meta(gt=0)] = 50.0
    """Requests a second of each who is signed in."""

    unknown: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    """Requests a second from an address from which nobody is signed in."""

    body: Annotated[int, msgspec.Meta(gt=0)] = 1 << 20
    """Bytes of a body."""

    package: Annotated[int, msgspec.Meta(gt=0)] = 256 << 20
    """Bytes of a package."""

    project_packages: Annotated[int, msgspec.Meta(gt=0)] = 10 << 30
    """Bytes of all packages of a project."""

    project_ensembles: Annotated[int, msgspec.Meta(gt=0)] = 500
    """How many ensembles a project may have."""

    query_seconds: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    """Seconds that an answer may take."""

    query_memory: Annotated[int, msgspec.Meta(gt=0, le=1 << 46)] = 4 << 30
    """Bytes of address space of the process that answers."""

    plan_seconds: Annotated[float, msgspec.Meta(gt=0)] = 600.0
    """Seconds that making a plan may take."""

    plan_memory: Annotated[int, msgspec.Meta(gt=0, le=1 << 46)] = 8 << 30
    """Bytes of address space of the process that makes one."""


class JobSettings(_SettingsPart, frozen=True):
    """How jobs run."""

    parallel: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 8
    """How many jobs run at a time, each in an ensemble of its own."""

    resume: Literal["server", "always", "never"] = "server"
    """Which interrupted jobs are resumed without being asked: those that a server began, all, or none."""

    keep: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = MOST_JOBS
    """Of how many jobs of each ensemble the logs and the events are kept, the newest ones. Records stay for good."""

    keep_bytes: Annotated[int, msgspec.Meta(gt=0, le=1 << 50)] = MOST_BYTES
    """Bytes that they have all together, other than those of the newest job."""

    @property
    def retention(self) -> Retention:
        """The same, as processes are told."""
        return Retention(self.keep, self.keep_bytes)


Claim = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
"""The name of a claim, or of a group that a provider knows."""


class Oidc(_SettingsPart, frozen=True):
    """The provider of OpenID Connect by which users sign in."""

    issuer: Annotated[str, msgspec.Meta(max_length=1_000)]
    """Its URL, exactly as its tokens say it. The server may reach its host, whatever ``egress`` lists."""

    client_id: Claim
    """As what the server is registered there."""

    client_secret: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    """The secret of the client, "" for one that has none."""

    scopes: Annotated[tuple[Claim, ...], msgspec.Meta(max_length=20)] = ("profile",)
    """What is asked for besides ``openid``."""

    label: Annotated[str, msgspec.Meta(max_length=60)] = ""
    """What the page for signing in calls it, "" for the name of its host."""

    name_claim: Claim = "preferred_username"
    """The claim that gives a new user the name."""

    groups_claim: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The claim that lists the groups of a user, "" where the provider knows none."""

    groups: Annotated[tuple[Claim, ...], msgspec.Meta(max_length=1_000)] = ()
    """Who may sign in: members of one of these groups; none for all whom the provider knows."""

    admin_groups: Annotated[tuple[Claim, ...], msgspec.Meta(max_length=1_000)] = ()
    """The groups whose members administer the server; with any, the provider alone says who of its users does."""

    auditor_groups: Annotated[tuple[Claim, ...], msgspec.Meta(max_length=1_000)] = ()
    """The same of auditors."""

    new_users: bool = True
    """Whether a user is made for somebody who signs in for the first time; otherwise an administrator makes each of
    them, with the subject by which the provider knows them."""

    passwords: bool = True
    """Whether users may sign in with passwords too."""

    @property
    def host(self) -> str:
        """The host of the issuer."""
        return urlsplit(self.issuer).hostname or ""

    @property
    def title(self) -> str:
        """What people call the provider."""
        return self.label or self.host


class ServerSettings(_SettingsPart, frozen=True):
    """How the server listens, and what it permits."""

    listen: str = "127.0.0.1:8420"
    """Address and port; port 0 takes any that is free."""

    url: str = ""
    """The public URL, "" on a loopback address for that address."""

    tls: Tls | None = None
    trusted_proxies: tuple[str, ...] = ()
    """Networks of proxies that say from where a request comes, and that end TLS."""

    variables: tuple[str, ...] = ()
    """Names of further environment variables that operations and inputs may see."""

    reads: tuple[str, ...] = ()
    """Further folders of this machine, relative to the home, in which ensembles may name services and files: never one
    that holds ensembles or keys."""

    egress: tuple[str, ...] = ()
    """What the server may reach: the hosts of webhooks, of repositories in git, and of files that services name, each
    ``NAME`` or ``NAME:PORT``, with ``:private`` at its end where the name may lead to this machine or to a private
    network; URLs of repositories on its own machine, as in ``file:///srv/shop.git``."""

    banner: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    """A message to all who use the server, also to those who have not signed in."""

    isolation: Literal["none", "bubblewrap"] = "none"
    """Whether each project has processes of its own that see nothing of the others."""

    database: Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)] = SQLITE
    """``sqlite``, in the home; or the address of a PostgreSQL that several servers may use, ``postgresql://...``."""

    oidc: Oidc | None = None
    jobs: JobSettings = JobSettings()
    limits: Limits = Limits()

    @property
    def has_passwords(self) -> bool:
        """Whether users may sign in with passwords."""
        return self.oidc is None or self.oidc.passwords

    @property
    def host(self) -> str:
        """The address on which it listens."""
        return self.listen.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.listen.rpartition(":")[2])

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return _is_loopback(self.host)


HOST = r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(:private)?$"
Host = Annotated[str, msgspec.Meta(pattern=HOST, max_length=300)]
"""The name of a host, or its address, with a port or without; ``:private`` at its end where it may lead to private
addresses."""


class ChangedSettings(_SettingsPart, frozen=True):
    """What administrators have set through the API; null is as ``server.yaml`` says."""

    banner: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    jobs: JobSettings | None = None
    limits: Limits | None = None
    egress: Annotated[tuple[Host, ...], msgspec.Meta(max_length=1_000)] | None = None
    """Names of hosts. What ``server.yaml`` permits on the server's own machine stays permitted."""


class CurrentSettings:
    """The settings as they are now: those of ``server.yaml``, and what was set since."""

    def __init__(self, home: Path, of_file: ServerSettings) -> None:
        self._home = home
        self._of_file = of_file
        self.now = of_file
        self.changed = ChangedSettings()

    def change(self, changed: ChangedSettings) -> None:
        """Set what administrators say, in place of what they have said before."""
        said = {name: value for name, value in msgspec.structs.asdict(changed).items() if value is not None}
        if changed.egress is not None:
            own = tuple(one for one in self._of_file.egress if "/" in one)
            said["egress"] = (*own, *changed.egress)
        self.now, self.changed = msgspec.structs.replace(self._of_file, **said), changed

    @property
    def surroundings(self) -> Surroundings:
        """What every process may reach besides what it is about."""
        reads = tuple(str(self._home / one) for one in self.now.reads)
        return Surroundings(reads, (), self.now.variables, self.now.egress)


def read_settings(path: Path, environment: Mapping[str, str], listen: str = "") -> ServerSettings:
    """The settings in a file; all defaults if there is none. ``listen`` replaces what the file says. Raises
    ``ServerRefused``."""
    plain: object = {}
    if path.exists():
        try:
            plain = page_data(path)
        except ValueError as error:
            raise ServerRefused(str(error)) from error
    values = _resolved(plain or {}, path, environment)
    if listen and isinstance(values, dict):
        values["listen"] = listen
    try:
        found = msgspec.convert(values, ServerSettings, strict=False)
    except msgspec.ValidationError as error:
        raise ServerRefused(f"{path}: {error}", hint_at(error, ServerSettings, values)) from error
    _check(found, path)
    return found


def _resolved(value: object, path: Path, environment: Mapping[str, str]) -> object:
    """A value in which ``{file: PATH}`` and ``{env: NAME}`` are replaced."""
    if isinstance(value, list):
        return [_resolved(one, path, environment) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"file"}:
        try:
            return (path.parent / str(value["file"])).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ServerRefused(f"{path}: cannot read {value['file']}: {error}") from error
    if value.keys() == {"env"}:
        name = str(value["env"])
        if name not in environment:
            raise ServerRefused(f"{path}: there is no environment variable {name}")
        return environment[name]
    return {name: _resolved(one, path, environment) for name, one in value.items()}


def _check(found: ServerSettings, path: Path) -> None:
    host, _, port = found.listen.rpartition(":")
    try:
        if host != "localhost":
            ipaddress.ip_address(host.strip("[]"))
        if not 0 <= int(port) <= 65_535:
            raise ValueError(port)
        for network in found.trusted_proxies:
            ipaddress.ip_network(network)
    except ValueError as error:
        hint = "write an address and a port, as in 127.0.0.1:8420"
        raise ServerRefused(f"{path}: listen or trusted_proxies: {error}", hint) from error
    if found.url and urlsplit(found.url).scheme not in ("http", "https"):
        raise ServerRefused(f"{path}: url: {found.url} is no URL", "write it whole, as in https://ordito.example.org")
    if found.database != SQLITE and not found.database.startswith(POSTGRESQL):
        hint = "write `sqlite`, or an address as in postgresql://USER@HOST/DATABASE"
        raise ServerRefused(f"{path}: database: this is neither `sqlite` nor the address of a PostgreSQL", hint)
    if found.oidc is not None:
        _check_provider(found.oidc, path)
    for file in (found.tls.certificate, found.tls.key) if found.tls is not None else ():
        if not (path.parent / file).is_file():
            raise ServerRefused(f"{path}: tls: there is no file {file}", "paths are relative to the server's home")


def _check_provider(oidc: Oidc, path: Path) -> None:
    try:
        parts = urlsplit(oidc.issuer)
        is_url = bool(parts.hostname) and not parts.query and not parts.fragment and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or parts.username or parts.scheme not in ("http", "https"):
        hint = "write it exactly as the provider does, as in https://id.example.org"
        raise ServerRefused(f"{path}: oidc: issuer: {oidc.issuer} is no URL of a provider", hint)
    if parts.scheme == "http" and not _is_loopback(oidc.host):
        hint = "give the provider a certificate, and write https://"
        raise ServerRefused(f"{path}: oidc: issuer: {oidc.issuer} would be asked without TLS", hint)
    needing = [name for name in ("groups", "admin_groups", "auditor_groups") if getattr(oidc, name)]
    if needing and not oidc.groups_claim:
        hint = "name the claim of the provider that lists groups, often `groups`"
        raise ServerRefused(f"{path}: oidc: {needing[0]} needs `groups_claim`", hint)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_open(settings: ServerSettings, *, has_users: bool) -> None:
    """Refuse a server that others can reach and that is not secured. Raises ``ServerRefused``."""
    if settings.is_loopback:
        return
    missing = []
    if settings.oidc is None and not has_users:
        missing.append("a user with a password (start it on 127.0.0.1 first, and make one), or `oidc` with a provider")
    if not settings.url:
        missing.append("`url`, the URL by which people reach it")
    if settings.tls is None and not settings.trusted_proxies:
        missing.append("`tls` with a certificate, or `trusted_proxies`")
    if missing:
        raise ServerRefused(
            f"{settings.listen} can be reached from other machines, and this is missing: {'; '.join(missing)}",
            "add it to server.yaml, or listen on 127.0.0.1",
        )


@cache
def own_names(settings: ServerSettings, port: int) -> frozenset[str]:
    """The values of `Host` with which requests are taken: all others come from pages that mean another server."""
    names = {f"{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]")} if settings.is_loopback else set()
    return frozenset(names | ({urlsplit(settings.url).netloc} if settings.url else set()))


@cache
def proxies_of(settings: ServerSettings) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """The networks of the proxies that are trusted."""
    return tuple(map(ipaddress.ip_network, settings.trusted_proxies))


def base_url(settings: ServerSettings, port: int) -> str:
    """The URL of the server, without a slash at its end."""
    scheme = "https" if settings.tls is not None else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.url.rstrip("/") or f"{scheme}://{host}:{port}"
