"""What an ensemble is given: the user's part, the inventory, secrets, and notices; looked at and changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ordito.app.errors import Refused
from ordito.app.place import place_of
from ordito.app.requests import GivenInputs
from ordito.app.work_items import AskedRequest
from ordito.base.diagnostics import Diagnostic, InvalidDocument
from ordito.base.sensitive import shown
from ordito.ensemble.inbox import open_inbox
from ordito.results.answer import Asked, Result, UseCase
from ordito.results.diff import DiffData, diff_data
from ordito.results.findings import FindingData, findings_data
from ordito.results.policies import NoticeData, notice_data
from ordito.results.records import SecretNamesData

if TYPE_CHECKING:
    from ordito.app.proposal import Proposal


class GivenText(Result, frozen=True):
    """A text that the user gives to an ensemble, byte for byte."""

    text: str


class CheckedText(Result, frozen=True):
    """What was found about such a text."""

    valid: bool
    diagnostics: tuple[FindingData, ...]


class TextAsked(Asked, frozen=True):
    """A text that is to be checked, or to be written."""

    text: str
    seen: str = ""
    """The digest of what it replaces, ``*`` for anything."""


def _checked(found: tuple[Diagnostic, ...]) -> CheckedText:
    return CheckedText(True, findings_data(found))


def _check_spec(directory: str, asked: TextAsked) -> CheckedText:
    from ordito.app.given_files import check_spec

    try:
        return _checked(check_spec(directory, asked.text))
    except InvalidDocument as error:
        return CheckedText(False, findings_data(error.diagnostics))


def _check_inventory(directory: str, asked: TextAsked) -> CheckedText:
    from ordito.app.given_files import check_hosts_file

    try:
        return _checked(check_hosts_file(directory, asked.text))
    except InvalidDocument as error:
        return CheckedText(False, findings_data(error.diagnostics))


def _set_spec(directory: str, asked: TextAsked) -> CheckedText:
    from ordito.app.given_files import set_spec

    return _checked(set_spec(directory, asked.text, asked.seen))


def _set_inventory(directory: str, asked: TextAsked) -> CheckedText:
    from ordito.app.given_files import set_hosts

    return _checked(set_hosts(directory, asked.text, asked.seen))


def _spec_text(directory: str, _: Asked) -> GivenText:
    from ordito.app.given_files import read_spec

    return GivenText(read_spec(directory))


def _shown_spec_text(directory: str, _: Asked) -> GivenText:
    from ordito.app.given_files import read_shown_spec

    return GivenText(read_shown_spec(directory))


def _inventory_text(directory: str, _: Asked) -> GivenText:
    from ordito.app.given_files import read_hosts

    return GivenText(read_hosts(directory))


SPEC_TEXT = UseCase("spec text", Asked, (GivenText,), _spec_text)
SPEC_SHOWN = UseCase("spec text shown", Asked, (GivenText,), _shown_spec_text)
"""As others may see it."""

SPEC_CHECK = UseCase("spec check", TextAsked, (CheckedText,), _check_spec)
SPEC_SET = UseCase("spec set", TextAsked, (CheckedText,), _set_spec)
INVENTORY = UseCase("hosts text", Asked, (GivenText,), _inventory_text)
INVENTORY_CHECK = UseCase("hosts file check", TextAsked, (CheckedText,), _check_inventory)
INVENTORY_SET = UseCase("hosts set", TextAsked, (CheckedText,), _set_inventory)

# Secrets.


class SecretAsked(Asked, frozen=True):
    """A secret that is to be kept."""

    name: str
    value: str


class SecretNameAsked(Asked, frozen=True):
    """A secret that is to be forgotten."""

    name: str


class SecretKept(Result, frozen=True):
    """What became of a secret."""

    changed: bool
    short: bool
    """Whether it is too short to be masked in what operations print."""


def _set_secret(directory: str, asked: SecretAsked) -> SecretKept:
    from ordito.app.secrets import set_secret

    kept = set_secret(directory, asked.name, asked.value.encode("utf-8", "replace"))
    return SecretKept(kept.changed, kept.is_short)


def _remove_secret(directory: str, asked: SecretNameAsked) -> SecretKept:
    from ordito.app.secrets import remove_secrets

    remove_secrets(directory, [asked.name])
    return SecretKept(changed=True, short=False)


def _secrets(directory: str, _: Asked) -> SecretNamesData:
    from ordito.app.secrets import list_secrets

    return SecretNamesData(tuple(list_secrets(directory)))


SECRETS = UseCase("secrets list", Asked, (SecretNamesData,), _secrets)
SECRET_SET = UseCase("secrets set", SecretAsked, (SecretKept,), _set_secret)
SECRET_REMOVE = UseCase("secrets rm", SecretNameAsked, (SecretKept,), _remove_secret)

# What it gives out, and what was deployed.


class OutputsData(Result, frozen=True):
    """The outputs of the service, null for those without a value; sensitive ones are not shown."""

    outputs: Mapping[str, object]
    caveat: str
    """Why they are those of the last job, "" where they are those of now."""


class OutputAsked(Asked, frozen=True):
    """About one output, or about all."""

    name: str = ""


def _outputs(directory: str, asked: OutputAsked) -> OutputsData:
    from ordito.app.output import OutputRequest, output

    found = output(OutputRequest(directory, asked.name))
    values = shown(found.outputs)
    assert isinstance(values, Mapping)
    return OutputsData(values, found.caveat)


OUTPUTS = UseCase("output", OutputAsked, (OutputsData,), _outputs)


class DiffAsked(Asked, frozen=True):
    """About what differs from a service."""

    asked: AskedRequest
    """The upgrade to that service, or going back to an earlier revision."""


class ComparedData(Result, frozen=True):
    """What differs from a service."""

    diff: DiffData
    against: str
    """The file of the service, as messages name it."""

    diagnostics: tuple[FindingData, ...]
    """Warnings and notes about it."""


def _diff(directory: str, asked: DiffAsked) -> ComparedData:
    from ordito.app.diff import diff_of
    from ordito.app.plan import PlanRequest, plan
    from ordito.app.unattended import request_of

    request = request_of(asked.asked, directory)
    result = plan(PlanRequest(directory, request, asked.asked.environment))
    if result.proposal is None:
        raise Refused("not-deployed", "nothing was ever deployed here", next_words=("deploy",), purpose="deploy first")
    return compared_data(result.proposal, diff_data(diff_of(result.proposal), result.unfinished))


def compared_data(proposal: Proposal, diff: DiffData) -> ComparedData:
    """What differs from the service of a proposal."""
    package = proposal.source.read.package
    return ComparedData(diff, package.shown(package.main), findings_data(proposal.diagnostics))


DIFF = UseCase("diff", DiffAsked, (ComparedData,), _diff)

# Notices.


class NoticeAsked(Asked, frozen=True):
    """Something that has happened."""

    entity: str
    """A node, an instance, or a pair of instances."""

    event: str
    values: Mapping[str, object] = {}
    """Values of the outputs of the notification."""

    input_texts: Mapping[str, str] = {}
    """Values as texts, as on a command line."""


class NoticeStored(Result, frozen=True):
    """A notice that waits to be handled."""

    number: int


class NoticesData(Result, frozen=True):
    """The inbox of an ensemble, the latest notice first."""

    notices: tuple[NoticeData, ...]


def _put_notice(directory: str, asked: NoticeAsked) -> NoticeStored:
    from ordito.app.notices.notify import NotifyRequest, put_notice

    inputs = GivenInputs(values=asked.values, texts=asked.input_texts)
    return NoticeStored(put_notice(NotifyRequest(directory, asked.entity, asked.event, inputs)))


MOST_NOTICES = 500


def _notices(directory: str, _: Asked) -> NoticesData:
    inbox = open_inbox(place_of(directory).layout)
    if inbox is None:
        return NoticesData(())
    with inbox:
        entries = inbox.all()
    return NoticesData(tuple(map(notice_data, reversed(entries[-MOST_NOTICES:]))))


NOTICES = UseCase("notifications", Asked, (NoticesData,), _notices)
NOTIFY = UseCase("notify", NoticeAsked, (NoticeStored,), _put_notice)
