"""What is used of libcloud, which takes a third of a second to import: only where a cloud is spoken with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec

from ordito.work.providing import ProviderFailed

MISSING = "the provider `cloud` needs apache-libcloud: pip install 'ordito[cloud]'"


class Library(msgspec.Struct, frozen=True):
    """The exceptions that libcloud raises for what a cloud refuses, the names of its drivers (each by the words that
    stand for it, in small letters), and what gives the class of one."""

    errors: tuple[type[Exception], ...]
    drivers: Mapping[str, str]
    get_driver: Callable[[str], Any]


@cache
def library() -> Library:
    """Libcloud. Raises ``ProviderFailed`` where it is not installed."""
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
