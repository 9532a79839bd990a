"""The route about the store over which the server serves."""

from __future__ import annotations

import asyncio

from ordito.results.workers import StoreStateData
from ordito.server.call import ApiCall
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Reply, Route


async def _store(call: ApiCall) -> Reply:
    stores = call.services.stores
    if stores is None:
        hint = "`ordito serve HOME --store ADDRESS` serves one"
        raise ApiProblem("unknown-page", "this server serves directories of its machine, and no store", hint)
    return Reply(await asyncio.to_thread(stores.state))


TABLE = (
    Route(
        method="GET",
        path=BASE + "/store",
        access=Permission.ADMINISTER,
        summary="The store over which the server serves: its workers, and what waits for them.",
        handler=_store,
        answers=(StoreStateData,),
        problems=("unknown-page", "ensemble"),
    ),
)
