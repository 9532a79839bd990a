"""The user's part of an ensemble as one command reads it: evaluated with the variables and files there are now."""

from __future__ import annotations

import os

from ordito.app.place import Place
from ordito.app.spec.environments import Environment
from ordito.app.spec.evaluate import Evaluation, Names
from ordito.app.spec.reach import Reach
from ordito.app.spec.secrets import secrets_of
from ordito.app.spec.sources import Sources
from ordito.base.diagnostics import Diagnostics

NO_ENVIRONMENT = Environment()


def evaluation_of(place: Place, diagnostics: Diagnostics, environment: Environment = NO_ENVIRONMENT) -> Evaluation:
    """What evaluates the values of an ensemble, in an environment."""
    sources = Sources(Reach(place.layout.root, place.shown), os.environ, secrets_of(place.layout), diagnostics)
    root = place.layout.root
    names = Names(os.environ, environment.name, {"directory": str(root), "name": root.name})
    return Evaluation(sources, names, diagnostics)
