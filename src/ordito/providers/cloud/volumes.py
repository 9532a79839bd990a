"""Block storage that is volumes of a cloud (TOSCA 1.3 §5.9.11)."""

from __future__ import annotations

from typing import Any

from ordito.base.sensitive import revealed
from ordito.providers.cloud.amounts import gigabytes
from ordito.providers.cloud.api import Api
from ordito.providers.cloud.dialect import Dialect, Volume
from ordito.providers.cloud.naming import Who, who_of
from ordito.providers.cloud.settings import CloudSettings
from ordito.providers.cloud.waiting import until
from ordito.work.providing import Delegation, Provided, ProviderFailed, Seen

SIZE, VOLUME, SNAPSHOT = "size", "volume_id", "snapshot_id"


class Volumes:
    """Makes volumes, and looks after them."""

    def __init__(self, settings: CloudSettings, api: Api, dialect: Dialect) -> None:
        self._settings = settings
        self._api = api
        self._dialect = dialect

    async def create(self, asked: Delegation) -> Provided:
        """Make a volume, or find it. One that ``volume_id`` names is there already, as it is: of what size, does not
        matter."""
        who, given = who_of(asked), self._given(asked)
        doing = f"making {asked.instance}"
        if given:
            volume = await self._api.run(doing, lambda d: self._dialect.volume(d, who, given))
            if volume is None:
                raise ProviderFailed(
                    f'{asked.instance}: there is no volume "{given}" in the cloud: look at `volume_id`'
                )
            return Provided({VOLUME: volume.id}, f"volume {volume.id}, which was there")
        made = await self._api.run(doing, lambda driver: self._make(driver, who, asked))
        volume, ready = await until(self._settings, lambda: self._volume(who), lambda v: v is not None and v.ready)
        if volume is None or not ready:
            raise ProviderFailed(f"{doing} failed: the volume is not ready after {self._settings.timeout:g} s")
        return Provided({VOLUME: volume.id}, f"{'made' if made else 'found'} volume {volume.id}")

    def _make(self, driver: Any, who: Who, asked: Delegation) -> bool:
        if self._dialect.volume(driver, who) is not None:
            return False
        wanted, snapshot = str(revealed(asked.properties.get(SIZE) or "0 B")), asked.properties.get(SNAPSHOT)
        size = gigabytes(wanted)
        if not size and not snapshot:
            raise ProviderFailed(f"{asked.instance}: a new volume needs its `size`")
        self._dialect.make_volume(driver, who, size, str(revealed(snapshot or "")))
        return True

    async def _volume(self, who: Who) -> Volume | None:
        return await self._api.run(f"looking at {who.instance}", lambda driver: self._dialect.volume(driver, who))

    def _given(self, asked: Delegation) -> str:
        return str(revealed(asked.properties.get(VOLUME) or ""))

    async def delete(self, asked: Delegation) -> bool:
        """Remove a volume that was made; another's stays, and what is on it."""
        who = who_of(asked)
        if self._given(asked):
            return False
        doing = f"removing {asked.instance}"
        volume = await self._volume(who)
        if volume is None:
            return True
        if volume.machine:
            await self._api.run(doing, lambda d: self._dialect.detach(d, volume.id))
            _ = await until(self._settings, lambda: self._volume(who), lambda v: v is None or not v.machine)
        await self._api.run(doing, lambda d: self._dialect.destroy_volume(d, volume.id))
        _, gone = await until(self._settings, lambda: self._volume(who), lambda v: v is None)
        if not gone:
            raise ProviderFailed(f"{doing} failed: volume {volume.id} is still there; retry later")
        return True

    async def look(self, asked: Delegation) -> Seen:
        """Whether a volume is there."""
        given = self._given(asked)
        volume = await self._api.run(
            f"looking at {asked.instance}", lambda driver: self._dialect.volume(driver, who_of(asked), given)
        )
        if volume is None:
            return Seen("absent", message="there is no such volume in the cloud")
        attached = f", attached to {volume.machine}" if volume.machine else ""
        return Seen("ok" if volume.ready else "degraded", {VOLUME: volume.id}, f"volume {volume.id}{attached}")
