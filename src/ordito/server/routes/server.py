"""Routes about the server itself."""

from __future__ import annotations

import asyncio
import time

import msgspec
from sqlalchemy import Connection, func, select, text

from ordito import __version__
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_format import moment
from ordito.results.pages import as_html, as_markdown, read_page
from ordito.results.report.style import POLICY
from ordito.server.call import ApiCall, tag_of
from ordito.server.database.tables import DELIVERIES, EVENTS, PLANS, WEBHOOKS
from ordito.server.deployers import warning
from ordito.server.metrics import CountedRows
from ordito.server.permissions import Access, Permission
from ordito.server.plans.states import PlanState
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Reply, Route
from ordito.server.services import keep_settings, kept_settings
from ordito.server.settings import ChangedSettings, JobSettings, Limits

PLAIN = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
DELIVERY_STATES = ("waiting", "done", "failed")


class ServerData(msgspec.Struct, frozen=True):
    """The server: its version, and how to sign in."""

    ordito: str
    api: tuple[str, ...]
    sign_in: tuple[str, ...]
    """The ways to sign in."""

    time: str
    body_limit: int
    """Bytes that a body may have."""

    isolation: str
    """``bubblewrap`` where projects see nothing of each other, else ``none``."""

    banner: str
    """A message to all who use the server, "" for none."""

    provider: str = ""
    """What people call the provider that signs them in, "" where there is none."""


async def _server(call: ApiCall) -> Reply:
    settings = call.services.settings
    provider = settings.oidc
    kept = ("password", *([] if provider is None else ["oidc"]), "link", "token")
    ways = tuple(way for way in kept if way != "password" or settings.has_passwords)
    now = moment(call.now)
    about = (settings.limits.body, settings.isolation, settings.banner, provider.title if provider is not None else "")
    return Reply(ServerData(__version__, ("v1",), ways, now, *about))


async def _problem(call: ApiCall) -> Reply:
    page = read_page(call.path["code"])
    if page is None:
        raise ApiProblem(
            "unknown-page", f'there is no problem "{call.path["code"][:80]}"', "`ordito explain` has a list"
        )
    varies = {"Vary": "Accept"}
    if "text/html" in call.headers.get("accept", ""):
        # It has a style of its own.
        policy = f"{POLICY}; img-src data:; frame-ancestors 'none'"
        return Reply(
            "\n".join(as_html(page)).encode(), headers={**varies, "Content-Security-Policy": policy}, media=HTML
        )
    return Reply("\n".join(as_markdown(page)).encode(), headers=varies, media=PLAIN)


async def _health(_: ApiCall) -> Reply:
    return Reply(HealthData(True, ()))


class HealthData(msgspec.Struct, frozen=True):
    """Whether the server is well."""

    well: bool
    problems: tuple[str, ...]
    """What keeps it from being ready."""


async def _ready(call: ApiCall) -> Reply:
    services = call.services
    problems = []
    if services.draining.is_set():
        problems.append("it is about to stop")
    if not services.link.is_alive:
        problems.append("the fork server does not run")
    began = time.monotonic()
    try:
        await services.database.read(lambda connection: connection.execute(text("SELECT 1")).scalar())
    except ApiProblem as problem:
        problems.append(problem.detail)
    if services.stores is not None:
        try:
            await asyncio.to_thread(services.stores.store.check)
        except EnsembleError as error:
            problems.append(f"the store: {error.message}")
    if time.monotonic() - began > 5:
        problems.append("the database is slow")
    return Reply(HealthData(not problems, tuple(problems)), 503 if problems else 200)


def _counted(connection: Connection) -> CountedRows:
    """What figures count in the database."""
    plans = connection.execute(select(PLANS.c.state, func.count()).group_by(PLANS.c.state)).all()
    queued = PLANS.c.state == PlanState.QUEUED
    by_ensemble = select(func.count()).where(queued).group_by(PLANS.c.project, PLANS.c.ensemble)
    oldest = connection.execute(select(func.min(PLANS.c.queued)).where(queued)).scalar()
    deliveries = connection.execute(select(DELIVERIES.c.state, func.count()).group_by(DELIVERIES.c.state)).all()
    newest = connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0
    slowest = connection.execute(select(func.min(WEBHOOKS.c.seen)).where(~WEBHOOKS.c.paused)).scalar()
    return CountedRows(
        plans={**dict.fromkeys(map(str, PlanState), 0), **{row[0]: row[1] for row in plans}},
        longest_queue=max(connection.execute(by_ensemble).scalars(), default=0),
        oldest_wait=oldest or 0.0,
        deliveries={**dict.fromkeys(DELIVERY_STATES, 0), **{row[0]: row[1] for row in deliveries}},
        event_lag=0 if slowest is None else max(0, newest - slowest),
    )


async def _metrics(call: ApiCall) -> Reply:
    services = call.services
    of_store = await asyncio.to_thread(services.stores.figures) if services.stores is not None else None
    figures = services.metrics.text(await services.database.read(_counted), call.now, of_store)
    return Reply(figures.encode(), media="text/plain; version=0.0.4; charset=utf-8")


class SettingsData(msgspec.Struct, frozen=True):
    """How the server is set, as far as its users notice; what is secret in its settings is not among it."""

    banner: str
    isolation: str
    warning: str
    """What its administrators should change, "" for nothing."""

    jobs: JobSettings
    limits: Limits
    egress: tuple[str, ...]
    """What the server itself may reach."""

    changed: ChangedSettings
    """What was set here; null is as the server's own file says."""


async def _settings(call: ApiCall) -> Reply:
    settings, changed = call.services.settings, call.services.current.changed
    said = await call.services.database.read(lambda connection: warning(connection, settings.isolation))
    about = (settings.banner, settings.isolation, said, settings.jobs, settings.limits, settings.egress, changed)
    return Reply(SettingsData(*about), headers={"ETag": tag_of(changed)})


async def _set_settings(call: ApiCall) -> Reply:
    given: ChangedSettings = call.body

    def change(connection: Connection) -> Reply:
        call.must_match(kept_settings(connection))
        keep_settings(connection, given)
        return Reply()

    names = [name for name, value in msgspec.structs.asdict(given).items() if value is not None]
    await call.change("settings.set", change, about="server", detail=" ".join(names))
    call.services.use(given)
    call.services.keeper.wake()
    return await _settings(call)


async def _openapi(call: ApiCall) -> Reply:
    return Reply(call.services.api.openapi())


TABLE = (
    Route(
        method="GET",
        path=BASE,
        access=Access.ANYBODY,
        summary="The version of the server, and how to sign in.",
        handler=_server,
        answers=(ServerData,),
    ),
    Route(
        method="GET",
        path=BASE + "/openapi.json",
        access=Access.ANYBODY,
        summary="This API as OpenAPI 3.1.",
        handler=_openapi,
    ),
    Route(
        method="GET",
        path="/problems/{code}",
        access=Access.ANYBODY,
        summary="What the code of a problem means, and what to do about it: in Markdown, or a page for browsers.",
        handler=_problem,
        problems=("unknown-page",),
        verb="explain",
        media=PLAIN,
    ),
    Route(
        method="GET",
        path="/healthz",
        access=Access.ANYBODY,
        summary="Whether the server answers.",
        handler=_health,
        answers=(HealthData,),
    ),
    Route(
        method="GET",
        path="/readyz",
        access=Access.ANYBODY,
        summary="Whether the server can do what is asked of it: database and processes.",
        handler=_ready,
        answers=(HealthData,),
    ),
    Route(
        method="GET",
        path=BASE + "/settings",
        access=Permission.ADMINISTER,
        summary="How the server is set: banner, isolation, jobs, limits, and what it may reach.",
        handler=_settings,
        answers=(SettingsData,),
        verb="server settings show",
    ),
    Route(
        method="PUT",
        path=BASE + "/settings",
        access=Permission.ADMINISTER,
        summary="Set the banner, how jobs run, limits, and what the server may reach, from now on; null is as its"
        " file says.",
        handler=_set_settings,
        body=ChangedSettings,
        answers=(SettingsData,),
        problems=("match-required", "changed"),
    ),
    Route(
        method="GET",
        path="/metrics",
        access=Permission.AUDIT,
        summary="Figures for Prometheus.",
        handler=_metrics,
        media=PLAIN,
    ),
)
