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
from ordito.ensemble.revisions import recorded_form
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
        self._recorded: dict[str, Form] = {}
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
            self._read[form] = read_pinned(self._place, self.form(form))
        return self._read[form]

    def form(self, form: str) -> Form:
        """What is known of a form: by the ensemble, or where no instance is in it any more, by the record of the job.
        Raises ``EnsembleError`` where neither knows it."""
        if form in self.forms:
            return self.forms[form]
        if form not in self._recorded:
            found = recorded_form(self._place.layout, form)
            if found is None:
                raise EnsembleError(
                    f"nothing is known of the form of the service that job {form} has deployed",
                    "restore ensemble.yaml and the folder jobs from git",
                )
            self._recorded[form] = found
        return self._recorded[form]

    def former(self, form: str) -> Former | None:
        """A form as planning sees it; None where it cannot be read any more."""
        if form not in self._former:
            try:
                read = self.read(form)
                digests = measured_files(self._place.layout, read).digests
                self._former[form] = Former(read.service, self.form(form).inputs, digests)
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
