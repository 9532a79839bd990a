"""In which forms of the service instances are that several clones have worked on by themselves.

The record of an instance that is in what was deployed last names no form. Where clones have deployed different things,
and one of them is what counts as deployed after their histories are joined, what the others have changed is in their
forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from ordito.ensemble.job_history import RecordedJob
from ordito.ensemble.status import Status, with_form
from ordito.instances.records import Snapshot
from ordito.work.forms import forms_in_use, is_same
from ordito.work.records import Form, GivenValue


class FormsOfLines:
    """Follows the records of jobs, each after those that it follows."""

    def __init__(self) -> None:
        self._known: dict[str, Form] = {}
        self._after: dict[str, str] = {}

    def follow(self, record: RecordedJob) -> None:
        """Take notice of what a job has deployed."""
        head, status = record.head, record.file.status
        if record.file.form is not None:
            self._known[head.change_id] = record.file.form
        self._known.update(msgspec.convert(status.get("forms", {}), dict[str, Form]))
        said = status.get("form")
        self._after[head.change_id] = said if isinstance(said, str) else self._after.get(head.previous_id, "")

    def elsewhere(
        self,
        snapshot: Snapshot,
        deployed: str,
        changed_by: Mapping[str, str],
        ancestors: Callable[[str], set[str]],
    ) -> dict[str, str]:
        """The instances that a clone has brought into another form than the one that is deployed, with the ids of
        those; ``changed_by`` are the jobs that have changed something last, ``ancestors`` gives a job with those before
        it."""
        before = ancestors(deployed)
        found: dict[str, str] = {}
        for name, record in snapshot.instances.items():
            form = self._after.get(changed_by.get(name, ""), "")
            if not record.exists or record.form or not form or form in before:
                continue
            if form in self._known and not is_same(self._known[form], self._known.get(deployed)):
                found[name] = form
        return found

    def joined(
        self, status: Status, snapshot: Snapshot, elsewhere: Mapping[str, str], after: str, heads: Iterable[str]
    ) -> Status:
        """The status once histories are joined that parted after the job ``after`` ("" for none) and have come to the
        jobs ``heads``: all that it says of what is deployed is what one of them has deployed, and it remembers the
        forms in which instances are then. Of the inputs that commands gave it remembers those of all."""
        needed = {*forms_in_use(snapshot.instances), *elsewhere.values(), status.base} - {status.form, ""}
        forms = {form: self._known[form] for form in sorted(needed) if form in self._known}
        found = with_form(msgspec.structs.replace(status, forms=forms), self._known.get(status.form))
        return msgspec.structs.replace(found, given=self._given_to_all(after, heads))

    def _given_to_all(self, after: str, heads: Iterable[str]) -> dict[str, GivenValue]:
        """The inputs to remember: what each clone has changed of them since they parted. Of what several have changed
        it is what the last one said."""
        before = self._given(after)
        found = dict(before)
        for head in sorted(heads):
            own = self._given(head)
            for name in {**before, **own}:
                if name not in own:
                    found.pop(name, None)
                elif own[name] != before.get(name):
                    found[name] = own[name]
        return found

    def _given(self, job: str) -> Mapping[str, GivenValue]:
        """The inputs that were remembered after a job."""
        form = self._known.get(self._after.get(job, ""))
        return form.given if form is not None else {}
