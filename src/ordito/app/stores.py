"""Ensembles of a store: the directory in which this process works on one."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import secrets
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ordito.app.errors import Refused
from ordito.app.work_items import SEALED_FOR
from ordito.ensemble.backing import put_behind
from ordito.ensemble.journal_database import Fenced

if TYPE_CHECKING:
    from ordito.app.work_items import PlanItem
    from ordito.cluster.moving import Moved
    from ordito.cluster.store import StoreLook
    from ordito.cluster.stored import StoredEnsemble

NEEDED = ("psycopg", "alembic", "sqlalchemy", "cryptography", "dbos")
"""The modules of which one is missing where the extra `cluster` is not installed."""

HOME_VARIABLE = "ORDITO_STORE_HOME"
"""The variable that names the folder for working copies, if it is not to be below the user's home directory."""


def refuse_without_extra() -> None:
    """Raise ``Refused`` where what a store needs is not installed."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Refused("needs-extra", f"a store needs {missing[0]}", "install it: pip install 'ordito[cluster]'")


class StoreRequest(msgspec.Struct, frozen=True):
    """A store, and an ensemble in it."""

    address: str = ""
    """The address of the store, without a password."""
    file: str = ""
    """A file with its whole address, "" for none."""
    key: str = ""
    """The file with the key of the workers, "" for none."""
    ensemble: str = ""
    """PROJECT/NAME."""
    whole: bool = False
    """Whether what closed jobs have printed and told is wanted too."""


class StoreChange(msgspec.Struct, frozen=True):
    """What was done to a store."""

    store: str
    """How messages call it."""
    before: str
    """The version of its tables before, "" where there were none."""
    tables: str
    """The version of its tables."""
    made_key: bool
    """Whether the file with the key of the workers was made."""


def working_copy(request: StoreRequest, turned_away: Callable[[Fenced], None]) -> str:
    """The directory in which this process works on an ensemble of a store from now on, brought up to date. It holds the
    ensemble as a worker of its own; where another one takes it over meanwhile, ``turned_away`` is called, which ends
    this process. Raises ``EnsembleError``."""
    # Without a store nothing of it is imported.
    from ordito.cluster.address import store_at
    from ordito.cluster.holding import OwnWorker, place_id
    from ordito.cluster.keys import PoolKey
    from ordito.cluster.stored import StoredEnsemble, stored_name

    store, name = store_at(request.address, request.file), stored_name(request.ensemble)
    home = _home()
    worker = OwnWorker(store.address, place=place_id(home))
    stored = StoredEnsemble(store, name, worker, PoolKey(request.key), turned_away)
    return prepared(stored, home, whole=request.whole)


def prepared(stored: StoredEnsemble, home: Path, *, whole: bool = False) -> str:
    """The directory below ``home`` in which this process works on an ensemble of a store from now on, brought up to
    date; ``whole`` with what closed jobs have printed and told. Raises ``EnsembleError``."""
    layout = stored.place_in(home)
    stored.look(layout, whole=whole)
    put_behind(layout, stored)
    return str(layout.root)


def queue_item(request: StoreRequest, item: PlanItem, by: str, package: bytes = b"") -> str:
    """Let the workers of a store carry something out with an ensemble of it, which is made there if there is none yet;
    ``package`` is the archive of its service, empty for none. Returns the id of the item. Raises ``EnsembleError``."""
    from ordito.cluster.address import store_at
    from ordito.cluster.connecting import StoreConnection
    from ordito.cluster.items import NewItem, add_item
    from ordito.cluster.keys import PoolKey
    from ordito.cluster.stored import stored_name
    from ordito.cluster.trees import Trees

    store, name = store_at(request.address, request.file), stored_name(request.ensemble)
    ensemble = store.ensemble_id(name.project, name.name)
    if not ensemble:
        ensemble = secrets.token_hex(8)
        store.add_ensemble(ensemble, name.project, name.name)
    found = secrets.token_hex(8)
    if package:
        item = msgspec.structs.replace(item, package=hashlib.sha256(package).hexdigest())
        with closing(StoreConnection(store.address)) as link:
            Trees(link).put_blobs([(item.package, package)])
    body = PoolKey(request.key).sealed(msgspec.json.encode(item), found, SEALED_FOR)
    new = NewItem(id=found, ensemble=ensemble, kind="plan", request=body, by=by)
    with store.connection() as db:
        add_item(db, new)
    return found


def prepare_store(request: StoreRequest, *, is_new: bool) -> StoreChange:
    """Make the tables of a store, and the key of its workers where the request names a file for it; or, unless
    ``is_new``, bring the tables up to date. Raises ``EnsembleError``."""
    from ordito.cluster.address import store_at
    from ordito.cluster.keys import PoolKey
    from ordito.cluster.store import NEWEST

    store = store_at(request.address, request.file)
    before = store.look().tables
    if not is_new and not before:
        store.check()
    store.upgrade()
    made_key = bool(request.key) and PoolKey(request.key).make()
    return StoreChange(str(store), before, NEWEST, made_key)


def look_at_store(request: StoreRequest) -> tuple[str, StoreLook]:
    """How messages call a store, and what is in it. Raises ``EnsembleError``."""
    from ordito.cluster.address import store_at

    store = store_at(request.address, request.file)
    store.check()
    return str(store), store.look()


def move_ensemble(request: StoreRequest, directory: str, *, is_import: bool) -> Moved:
    """Put the ensemble of a directory into a store, or one of a store into a directory. Raises ``Locked`` and
    ``EnsembleError``."""
    from ordito.cluster.address import store_at
    from ordito.cluster.keys import PoolKey
    from ordito.cluster.moving import export_ensemble, import_ensemble
    from ordito.cluster.stored import stored_name

    move = import_ensemble if is_import else export_ensemble
    store, name = store_at(request.address, request.file), stored_name(request.ensemble)
    return move(store, name, directory, PoolKey(request.key))


def _home() -> Path:
    """The folder for working copies of this user."""
    if named := os.environ.get(HOME_VARIABLE):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "ordito"
