"""Earlier forms of a service, read from the pins that they were deployed from: by their definitions instances are
stopped and removed that no job has brought into another form yet."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from ordito.app.place import Place
from ordito.app.services.left_behind import Whole
from ordito.app.services.pinned import measured_files, read_pinned
from ordito.app.services.read import ReadService
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.model.left_behind import Left, with_left_behind
from ordito.model.service import Service
from ordito.planning.options import Former, Forms
from ordito.work.forms import is_same
from ordito.work.records import Form


class EarlierForms:
    """The forms that a job, or what is to become one, has to do with, by their ids; each is read when it is first asked
    for. ``current`` is the one that was deployed last, "" for none; ``known`` are those that were read already."""

    def __init__(
        self,
        place: Place,
        forms: Mapping[str, Form],
        current: str = "",
        known: Mapping[str, ReadService] | None = None,
    ) -> None:
        self._place = place
        self._read: dict[str, ReadService] = {name: read for name, read in (known or {}).items() if name in forms}
        self._former: dict[str, Former | None] = {}
        self.forms = forms
        self.current = current

    @property
    def known(self) -> Mapping[str, ReadService]:
        """Those that were read so far, and that will be."""
        return self._read

    def read(self, form: str) -> ReadService:
        """A form as it was deployed. Raises ``EnsembleError`` where nothing is known of it or its files are missing,
        and ``InvalidDocument`` where somebody has changed them."""
        if form not in self._read:
            found = self.forms.get(form)
            if found is None:
                raise EnsembleError(
                    f"nothing is known of the form of the service that job {form} has deployed",
                    "restore ensemble.yaml from git",
                )
            self._read[form] = read_pinned(self._place, found)
        return self._read[form]

    def former(self, form: str) -> Former | None:
        """A form as planning sees it; None where it cannot be read any more."""
        if form not in self._former:
            try:
                read = self.read(form)
                digests = measured_files(self._place.layout, read).digests
                self._former[form] = Former(read.service, self.forms[form].inputs, digests)
            except (EnsembleError, InvalidDocument):
                self._former[form] = None
        return self._former[form]

    def of_plan(self, own: Form) -> Forms:
        """The forms as a plan has to do with them whose service is ``own``."""
        is_own = not self.current or is_same(self.forms[self.current], own)
        return Forms(self.former, base="" if is_own else self.current)

    def whole(
        self, form: str, own: Whole, inputs: Mapping[str, object], root: str, only: Collection[str] | None = None
    ) -> Service:
        """A form together with the nodes that it does not know and the service of the job does, which is ``own``, with
        its inputs and the folder of its pinned files; with ``only`` those of them, where others do not matter. Raises
        as ``read``."""
        read = self.read(form)
        missing = frozenset(own.service.nodes) - read.service.nodes.keys()
        if only is not None:
            missing = missing.intersection(only)
        if not missing:
            return read.service
        before, now = (os.path.abspath(path) for path in (read.package.root, root))  # noqa: PTH100  (compared as texts)
        return with_left_behind(read.service, [Left("now", own.service, inputs, missing, os.path.relpath(now, before))])
