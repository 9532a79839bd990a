"""What is deployed, as the ground on which records are changed by hand."""

from __future__ import annotations

from ordito.app.place import Place
from ordito.app.services.left_behind import Whole, file_digests, left_behind, whole_service
from ordito.app.services.pinned import PinnedService, read_pinned
from ordito.app.state.edit import Basis
from ordito.ensemble.status import deployed_form
from ordito.ensemble.store import Ensemble


def deployed(place: Place, ensemble: Ensemble) -> Basis:
    """The service as it was deployed last, with what it has left behind.

    Raises ``EnsembleError``, and ``InvalidDocument`` where the pinned service was changed.
    """
    status = ensemble.status
    read = read_pinned(place, deployed_form(status))
    root = read.package.root
    left = left_behind(read.service, ensemble.snapshot, status)
    whole = whole_service(place, read.service, left, root)
    pinned = PinnedService(status.service, status.main, root)
    digests = {**file_digests(place, status.service, read), **whole.digests}
    whole = Whole(whole.service, status.left, whole.nodes, digests)
    return Basis(whole, pinned, status.inputs, status.given, environment=status.environment, named=status.named)
