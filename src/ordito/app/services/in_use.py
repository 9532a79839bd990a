"""The service of an ensemble: the one that is being deployed, or was deployed last, with orphans."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.place import Place
from ordito.app.services.earlier_forms import DeployedForm, EarlierForms, with_mixed_forms
from ordito.app.services.left_behind import whole_service
from ordito.app.services.pinned import read_pinned
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.status import Status, deployed_form, known_forms
from ordito.ensemble.store import Ensemble
from ordito.model.service import Service
from ordito.work.records import JobHeader


class ServiceInUse(msgspec.Struct, frozen=True):
    """A service with orphans, the names of the orphaned nodes (``left``), its inputs, and the folder of its files."""

    service: Service
    left: frozenset[str]
    inputs: Mapping[str, object]
    root: str


def service_in_use(place: Place, ensemble: Ensemble) -> ServiceInUse:
    """The service as written. Raises ``Refused`` if nothing was ever deployed, ``EnsembleError``, and
    ``InvalidDocument`` if its files were changed."""
    said = _said(ensemble)
    if not said.service:
        raise Refused(
            "not-deployed",
            f"nothing was ever deployed in {place.shown}",
            next_words=("deploy",),
            purpose="deploy first",
        )
    return _read(place, said)


def service_as_it_runs(place: Place, ensemble: Ensemble) -> tuple[ServiceInUse | None, str]:
    """The service, with each node in the deployed version of its instances. None if nothing was ever deployed, or if it
    cannot be read, and then also why."""
    said = _said(ensemble)
    if not said.service:
        return None, ""
    try:
        used = _read(place, said)
    except EnsembleError as error:
        return None, error.message
    except InvalidDocument as error:
        return None, f"the pinned service was changed: {error}"
    seen = DeployedForm("", used.service, used.inputs, used.root)
    forms = EarlierForms(place, known_forms(ensemble.status))
    return msgspec.structs.replace(used, service=with_mixed_forms(seen, seen, forms, ensemble.snapshot)), ""


def _said(ensemble: Ensemble) -> Status | JobHeader:
    """What names the service: the header of an open job, else the status."""
    return ensemble.status if ensemble.unfinished is None else ensemble.unfinished.header


def _read(place: Place, said: Status | JobHeader) -> ServiceInUse:
    read = read_pinned(place, deployed_form(said) if isinstance(said, Status) else said.form)
    root = read.package.root
    whole = whole_service(place, read.service, said.left, root)
    return ServiceInUse(whole.service, whole.nodes, said.inputs, root)
