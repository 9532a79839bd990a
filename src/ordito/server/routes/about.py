"""The route about what the server runs on, and what it is made of."""

from __future__ import annotations

import asyncio
import json
import platform
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import msgspec
from sqlalchemy import Connection

from ordito import __version__
from ordito.server.call import ApiCall
from ordito.server.permissions import Permission
from ordito.server.route import BASE, Reply, Route
from ordito.server.web_pages import FOLDER

WEB_LICENCES = "licences.json"
"""What the build of the web UI says of the packages that are in it."""

SERVER_EXTRA = "server"
LONGEST = 100
"""More characters than the name of a licence has: then the field holds the licence itself."""


class ComponentData(msgspec.Struct, frozen=True):
    """Something of others that the server is made of."""

    name: str
    version: str
    licence: str
    """Its name, "" where the part itself does not say it."""

    place: str
    """``server`` or ``web``."""


class AboutData(msgspec.Struct, frozen=True):
    """What the server runs on, and what it is made of."""

    ordito: str
    python: str
    system: str
    database: str
    """The kind and version of its database."""

    disk_free: int
    """Bytes free where its home is."""

    disk_size: int
    parts: tuple[ComponentData, ...]
    store: str = ""
    """The address of the store over which it serves, "" for none."""


async def _about(call: ApiCall) -> Reply:
    disk = await asyncio.to_thread(shutil.disk_usage, call.services.home)
    database = await call.services.database.read(_database)
    parts = await asyncio.to_thread(lambda: (*sorted(_distributions(), key=_by_name), *_web_parts(FOLDER)))
    about = (__version__, platform.python_version(), f"{platform.system()} {platform.release()}", database)
    store = call.services.stores.store if call.services.stores is not None else ""
    return Reply(AboutData(*about, disk.free, disk.total, parts, str(store)))


def _database(connection: Connection) -> str:
    version = connection.dialect.server_version_info or ()
    if connection.dialect.name == "sqlite":
        found = getattr(connection.dialect.dbapi, "sqlite_version", "")
        return f"SQLite {found}".strip()
    return f"{connection.dialect.name} {'.'.join(map(str, version))}".strip()


def _by_name(part: ComponentData) -> str:
    return part.name.lower()


def _distributions() -> Iterator[ComponentData]:
    """The distributions that Ordito needs as a server, with those that they need, as far as they are installed."""
    waiting, seen = [("ordito", True)], set[str]()
    while waiting:
        name, is_own = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in seen:
            continue
        seen.add(key)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if not is_own:
            yield ComponentData(found.metadata["Name"], found.version, _licence(found), "server")
        for requirement in found.requires or ():
            needed, _, marker = requirement.partition(";")
            extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", marker)
            if extra is None or (is_own and extra[1] == SERVER_EXTRA):
                waiting.append((re.split(r"[\s\[<>=!~(]", needed.strip(), maxsplit=1)[0], False))


def _licence(found: Distribution) -> str:
    metadata = found.metadata
    for expression in metadata.get_all("License-Expression") or ():
        return str(expression)
    for classifier in metadata.get_all("Classifier") or ():
        if classifier.startswith("License ::"):
            return str(classifier).rpartition(" :: ")[2]
    said = "".join(metadata.get_all("License") or ()).strip()
    return said if len(said) <= LONGEST and "\n" not in said else ""


def _web_parts(folder: Path) -> tuple[ComponentData, ...]:
    """The packages that were built into the web UI."""
    try:
        found = json.loads((folder / WEB_LICENCES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    return tuple(ComponentData(one["name"], one["version"], one.get("identifier") or "", "web") for one in found)


TABLE = (
    Route(
        method="GET",
        path=BASE + "/about",
        access=Permission.ADMINISTER,
        summary="What the server runs on, and what it is made of, with the licences of the parts.",
        handler=_about,
        answers=(AboutData,),
    ),
)
