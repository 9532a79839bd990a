"""What an ensemble is given: the user's part, the inventory, secrets, and notices; looked at and changed."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.place import place_of
from ordito.app.requests import GivenInputs, UpgradeRequest
from ordito.base.diagnostics import Diagnostic, InvalidDocument
from ordito.base.sensitive import shown
from ordito.ensemble.inbox import open_inbox
from ordito.ensemble.job_format import moment
from ordito.results.answer import Asked, Result, UseCase
from ordito.results.diff import DiffData, diff_data
from ordito.results.findings import FindingData, findings_data
from ordito.results.hosts import CheckedHostsData, ReleasedHostsData, checked_hosts_data, released_hosts_data
from ordito.results.jobs import ReplayData, UnlockedData, replay_data, unlocked_data
from ordito.results.records import RecordsData


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


def _inventory_text(directory: str, _: Asked) -> GivenText:
    from ordito.app.given_files import read_hosts

    return GivenText(read_hosts(directory))


SPEC_TEXT = UseCase("spec text", Asked, (GivenText,), _spec_text)
SPEC_CHECK = UseCase("spec check", TextAsked, (CheckedText,), _check_spec)
SPEC_SET = UseCase("spec set", TextAsked, (CheckedText,), _set_spec)
INVENTORY = UseCase("hosts text", Asked, (GivenText,), _inventory_text)
INVENTORY_CHECK = UseCase("hosts file check", TextAsked, (CheckedText,), _check_inventory)
INVENTORY_SET = UseCase("hosts set", TextAsked, (CheckedText,), _set_inventory)

# Secrets.


class SecretNames(Result, frozen=True):
    """The names of the secrets that an ensemble keeps."""

    secrets: tuple[str, ...]


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


def _secrets(directory: str, _: Asked) -> SecretNames:
    from ordito.app.secrets import list_secrets

    return SecretNames(tuple(list_secrets(directory)))


SECRETS = UseCase("secrets list", Asked, (SecretNames,), _secrets)
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

    service: str = ""
    """The path of the service, "" for that of the ensemble."""

    environment: str | None = None


def _diff(directory: str, asked: DiffAsked) -> DiffData:
    from ordito.app.diff import diff_of
    from ordito.app.plan import PlanRequest, plan

    result = plan(PlanRequest(directory, UpgradeRequest(asked.service), asked.environment))
    if result.proposal is None:
        raise Refused("not-deployed", "nothing was ever deployed here", next_words=("deploy",), purpose="deploy first")
    return diff_data(diff_of(result.proposal), result.unfinished)


DIFF = UseCase("diff", DiffAsked, (DiffData,), _diff)

# Notices.


class NoticeAsked(Asked, frozen=True):
    """Something that has happened."""

    entity: str
    """A node, an instance, or a pair of instances."""

    event: str
    values: Mapping[str, object] = {}
    """Values of the outputs of the notification."""


class NoticeStored(Result, frozen=True):
    """A notice that waits to be handled."""

    number: int


class NoticeFiring(msgspec.Struct, frozen=True):
    """A trigger that reacts to a notice."""

    trigger: str
    """``policy.trigger``."""

    job: str
    """The job that carries out its actions, "" before there is one."""

    said: str
    """Why it does not act, or what the result was."""

    done: bool


class InboxNotice(msgspec.Struct, frozen=True):
    """A notice in the inbox."""

    number: int
    entity: str
    event: str
    at: str
    state: str
    job: str
    """The job that records it, "" before there is one."""

    said: str
    """Why it could not be handled, "" where it could."""

    firings: tuple[NoticeFiring, ...]


class NoticesData(Result, frozen=True):
    """The inbox of an ensemble, the latest notice first."""

    notices: tuple[InboxNotice, ...]


def _put_notice(directory: str, asked: NoticeAsked) -> NoticeStored:
    from ordito.app.notices.notify import NotifyRequest, put_notice

    request = NotifyRequest(directory, asked.entity, asked.event, GivenInputs(values=asked.values))
    return NoticeStored(put_notice(request))


MOST_NOTICES = 500


def _notices(directory: str, _: Asked) -> NoticesData:
    inbox = open_inbox(place_of(directory).layout)
    if inbox is None:
        return NoticesData(())
    with inbox:
        entries = inbox.all()
    return NoticesData(
        tuple(
            InboxNotice(
                entry.number,
                entry.notice.entity,
                entry.notice.event,
                moment(entry.notice.at),
                entry.state,
                entry.job,
                entry.said,
                tuple(NoticeFiring(one.name, one.job, one.said, one.is_done) for one in entry.firings),
            )
            for entry in reversed(entries[-MOST_NOTICES:])
        )
    )


NOTICES = UseCase("notifications", Asked, (NoticesData,), _notices)
NOTIFY = UseCase("notify", NoticeAsked, (NoticeStored,), _put_notice)

# Records and locks.


class StateAsked(Asked, frozen=True):
    """About the records of instances."""

    names: tuple[str, ...] = ()
    """Instances and nodes, none for all."""


class ReplayAsked(Asked, frozen=True):
    """Whether the records of all jobs are only compared, or replace what is recorded."""

    write: bool = False


class HostNamesAsked(Asked, frozen=True):
    """About hosts of the inventory."""

    names: tuple[str, ...] = ()


def _unlock(directory: str, _: Asked) -> UnlockedData:
    from ordito.app.job.jobs import held_lock, take_away

    held = held_lock(directory)
    if held is not None:
        take_away(held)
    return unlocked_data(held)


def _release(directory: str, asked: HostNamesAsked) -> ReleasedHostsData:
    from ordito.app.hosts import HostsRequest, release_hosts

    if not asked.names:
        raise Refused("no-names", "no host is named", "name the hosts that are to be taken back")
    return released_hosts_data(release_hosts(HostsRequest(directory, names=asked.names)))


def _state(directory: str, asked: StateAsked) -> RecordsData:
    from ordito.app.state.show import StateRequest, show

    return RecordsData(show(StateRequest(directory, asked.names)))


def _replay(directory: str, asked: ReplayAsked) -> ReplayData:
    from ordito.app.job.replay import ReplayRequest, replay

    return replay_data(replay(ReplayRequest(directory, write=asked.write)))


def _check_hosts(directory: str, asked: HostNamesAsked) -> CheckedHostsData:
    from ordito.app.hosts import HostsRequest
    from ordito.app.hosts_check import check_hosts

    return checked_hosts_data(check_hosts(HostsRequest(directory, names=asked.names)))


STATE = UseCase("state show", StateAsked, (RecordsData,), _state)
REPLAY = UseCase("jobs replay", ReplayAsked, (ReplayData,), _replay)
UNLOCK = UseCase("jobs unlock", Asked, (UnlockedData,), _unlock)
HOSTS_CHECK = UseCase("hosts check", HostNamesAsked, (CheckedHostsData,), _check_hosts)
HOSTS_RELEASE = UseCase("hosts release", HostNamesAsked, (ReleasedHostsData,), _release)
