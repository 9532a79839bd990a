"""All routes of the API."""

from __future__ import annotations

from ordito.server.route import Route
from ordito.server.routes import (
    about,
    ensembles,
    given,
    identity,
    job_pages,
    jobs,
    known_ensembles,
    live,
    logins,
    packages,
    plans,
    projects,
    records,
    rules,
    schedules,
    search,
    server,
    sources,
    users,
    webhooks,
)

ROUTES: tuple[Route, ...] = (
    *server.TABLE,
    *about.TABLE,
    *identity.TABLE,
    *logins.TABLE,
    *users.TABLE,
    *projects.TABLE,
    *packages.TABLE,
    *known_ensembles.TABLE,
    *ensembles.TABLE,
    *given.TABLE,
    *records.TABLE,
    *plans.TABLE,
    *job_pages.TABLE,
    *jobs.TABLE,
    *rules.TABLE,
    *search.TABLE,
    *live.TABLE,
    *webhooks.TABLE,
    *schedules.TABLE,
    *sources.TABLE,
)
