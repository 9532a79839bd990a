"""Requests to a cloud: made in a few threads, because libcloud blocks; errors become messages for people."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import msgspec

from ordito.base.sensitive import Sensitive, revealed, sensitive_parts, texts_in
from ordito.base.suggest import nearest
from ordito.providers.cloud.dialect import CloudDialect, Unsupported
from ordito.providers.cloud.settings import CloudSettings
from ordito.work.providing import ProviderFailed
from ordito.work.targets import Unasked

T = TypeVar("T")

WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before a request is repeated that the cloud was too busy for."""

BUSY = (
    "dependencyviolation",
    "in use",
    "throttl",
    "requestlimitexceeded",
    "rate limit",
    "too many requests",
    "slow down",
)
NEVER_SENT = ("failed to establish a new connection", "connecttimeout", "name resolution", "name or service not known")
NO_ANSWER = ("timed out", "timeout", "connection aborted", "connection reset", "remotedisconnected")
POOL = re.compile(r"\bHTTPS?Connection(?:Pool)?\(host='([^']*)', port=(\d+)\)")
"""The description of a connection in its error messages."""

HINTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("invalidcreds", "authfailure", "signaturedoesnotmatch", "unauthorized", "401", "invalidclienttokenid"),
        "look at `key` and `secret` in the section `cloud` of the inventory",
    ),
    (("snapshot",), "look at `snapshot_id` of the node"),
    (("keypair", "key pair"), "look at `key_pair` and `public_key` in the section `cloud`"),
    (("invalidami", "image"), "look at `image` and `images` in the section `cloud`"),
    (("instancetype", "flavor", "instance type"), "look at `size` and `sizes` in the section `cloud`"),
    (
        ("limitexceeded", "quota", "insufficient", "capacity"),
        "let the cloud's quota be raised, or allow others with `sizes` in the section `cloud`",
    ),
    (("securitygroup", "security group", "invalidgroup"), "look at `groups` in the section `cloud`"),
    (("subnet", "vpc", "network"), "look at `network` in the section `cloud`, and at the properties of the network"),
    (("invalid region",), "look at `region` in `arguments` of the section `cloud`"),
    (("availability zone", "availabilityzone"), "look at `zone` in the section `cloud`"),
)
"""What to do about an error of a cloud, by words in its message; the first that fits counts."""


WRONG: tuple[type[Exception], ...] = (Unsupported, OSError, NotImplementedError, ValueError, LookupError)
"""Exceptions of drivers, besides those that libcloud defines."""


class Busy(Exception):
    """The cloud has too many requests; this one was not carried out."""


class UnansweredCall(ProviderFailed):
    """The cloud has not answered a request; it is not known whether the request was carried out."""


class Api:
    """Makes requests to a cloud. A driver serves one request at a time, so every thread has its own."""

    def __init__(self, settings: CloudSettings, dialect: CloudDialect) -> None:
        self._settings = settings
        self._dialect = dialect
        self._own = threading.local()
        self._threads: ThreadPoolExecutor | None = None

    async def run(self, doing: str, work: Callable[[Any], T]) -> T:
        """Run ``work`` with a driver of libcloud. ``doing`` says what it does, for people: "making server_1".

        If the cloud is too busy, ``work`` is repeated from the beginning. Raises ``ProviderFailed`` (``UnansweredCall``
        if the cloud does not answer), and ``Unasked`` if the request did not reach the cloud.
        """
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._settings.requests, "cloud")
        loop = asyncio.get_running_loop()
        for wait in WAITS:
            try:
                return await loop.run_in_executor(self._threads, self._work, doing, work)
            except Busy:
                await asyncio.sleep(wait)
        try:
            return await loop.run_in_executor(self._threads, self._work, doing, work)
        except Busy as busy:
            raise ProviderFailed(f"{self._failed(doing)}: {busy}; retry later") from busy

    def _work(self, doing: str, work: Callable[[Any], T]) -> T:
        found = library()
        try:
            return work(self._driver(found))
        except WRONG + found.errors as error:
            raise self._told(doing, error) from error

    def _driver(self, found: Library) -> Any:
        driver = getattr(self._own, "driver", None)
        if driver is None:
            settings = self._settings
            arguments = {"timeout": settings.request_timeout, **self._dialect.arguments, **settings.arguments}
            given = [str(revealed(v)) for v in (settings.key, settings.secret) if revealed(v)]
            make = found.get_driver(found.drivers.get(settings.driver.lower(), settings.driver.lower()))
            _check_arguments(make, settings)
            driver = self._own.driver = self._dialect.opened(make(*given, **_plain(arguments)))
        return driver

    def _told(self, doing: str, error: Exception) -> Exception:
        """What went wrong, for people: the message of the cloud without secrets, and what to do next."""
        said = self._without_secrets(_said(error))
        kinds = " ".join(kind.__name__ for kind in type(error).__mro__).lower()
        sought = f"{kinds} {said}".lower()
        if any(word in sought for word in BUSY):
            return Busy(said)
        if isinstance(error, Unsupported):
            return ProviderFailed(f"{self._failed(doing)}: {said}")
        if isinstance(error, NotImplementedError):
            return ProviderFailed(f"{self._failed(doing)}: the driver of libcloud cannot do that ({said})")
        if isinstance(error, LookupError):
            kind = type(error).__name__
            return ProviderFailed(f"{self._failed(doing)}: libcloud does not understand its answer ({kind}: {said})")
        if isinstance(error, OSError) and any(word in sought for word in NEVER_SENT):
            return Unasked(f"{self._failed(doing)}: the cloud cannot be reached ({said}); look at `arguments`")
        if isinstance(error, OSError) and any(word in sought for word in NO_ANSWER):
            return UnansweredCall(
                f"{self._failed(doing)}: no answer ({said}); the next command finds out what it has done"
            )
        hint = next((hint for words, hint in HINTS if any(word in sought for word in words)), "")
        return ProviderFailed(f"{self._failed(doing)}: {said}" + (f"; {hint}" if hint else ""))

    def _failed(self, doing: str) -> str:
        return f"{doing} failed in the cloud {self._settings.driver}"

    def _without_secrets(self, text: str) -> str:
        settings = self._settings
        for secret in _secrets(
            {
                "key": Sensitive(revealed(settings.key)),
                "secret": Sensitive(revealed(settings.secret)),
                "arguments": settings.arguments,
            }
        ):
            text = text.replace(secret, "(sensitive)")
        return text


def _check_arguments(driver: type, settings: CloudSettings) -> None:
    """Raise ``Unsupported`` for an argument that looks like a misspelled one, because drivers ignore arguments that
    they do not know. There is no complete list of them."""
    makers = [vars(kind)["__init__"] for kind in driver.__mro__[:-1] if "__init__" in vars(kind)]
    known = {name for maker in makers for name in inspect.signature(maker).parameters}
    for name in settings.arguments:
        meant = nearest(name, sorted(known - {"self", "args", "kwargs"})) if name not in known else None
        if meant and not name.startswith("ex_"):
            raise Unsupported(
                f'the driver {settings.driver} has no argument "{name}"; did you mean "{meant[0]}"? Look at `arguments`'
            )


def _said(error: Exception) -> str:
    """The message of an error; for a connection that was never made only the reason, without the request."""
    reason = getattr(next(iter(error.args), None), "reason", None)
    said = " ".join(str(reason or error).split()) or type(error).__name__
    return POOL.sub(r"\1:\2", said)


def _secrets(settings: Mapping[str, object]) -> Iterator[str]:
    for part in sensitive_parts(settings):
        yield from (text for text in texts_in(part.reveal()) if len(text) > 2)


def _plain(arguments: Mapping[str, object]) -> dict[str, Any]:
    return {name: revealed(value) for name, value in arguments.items()}


# What is used of libcloud, which takes a third of a second to import: only where a cloud is spoken with.

MISSING = "the provider `cloud` needs apache-libcloud: pip install 'ordito[cloud]'"


class Library(msgspec.Struct, frozen=True):
    """What is used of libcloud: the exceptions for requests that a cloud refuses, the names of its drivers (by alias,
    in lower case), and the function that returns the class of one."""

    errors: tuple[type[Exception], ...]
    drivers: Mapping[str, str]
    get_driver: Callable[[str], Any]


@cache
def library() -> Library:
    """Load libcloud. Raises ``ProviderFailed`` if it is not installed."""
    try:
        from libcloud.common.exceptions import BaseHTTPError
        from libcloud.common.types import LibcloudError
        from libcloud.compute.providers import DRIVERS, get_driver
        from libcloud.compute.types import Provider
    except ImportError as error:
        raise ProviderFailed(MISSING) from error
    values = {str(getattr(value, "value", value)).lower() for value in DRIVERS}
    constants = {name.lower(): str(value).lower() for name, value in vars(Provider).items() if name.isupper()}
    names = {**{value: value for value in values}, **{n: v for n, v in constants.items() if v in values}}
    return Library((BaseHTTPError, LibcloudError), names, get_driver)
