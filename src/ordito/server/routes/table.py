"""All routes of the API."""

from __future__ import annotations

from ordito.server.route import Route
from ordito.server.routes import (
    about,
    ensembles,
    given,
    identity,
    job_files,
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
    service_inputs,
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
    *service_inputs.TABLE,
    *records.TABLE,
    *plans.TABLE,
    *job_pages.TABLE,
    *job_files.TABLE,
    *jobs.TABLE,
    *rules.TABLE,
    *search.TABLE,
    *live.TABLE,
    *webhooks.TABLE,
    *schedules.TABLE,
    *sources.TABLE,
)
