"""Requests to EC2 as they are: tags that are part of what makes something, and filters, where libcloud has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ordito.providers.cloud.naming import ENSEMBLE, INSTANCE, Who


@contextmanager
def with_params(driver: Any, action: str, more: Mapping[str, str]) -> Iterator[None]:
    """Requests for an action carry more than libcloud gives them."""
    connection = driver.connection
    request = connection.request

    def with_more(path: str, params: dict[str, Any] | None = None, **given: Any) -> Any:
        if params is not None and params.get("Action") == action:
            params = {**params, **more}
        return request(path, params=params, **given)

    connection.request = with_more
    try:
        yield
    finally:
        del connection.request


def tags_of(kind: str, who: Who, name: str = "") -> dict[str, str]:
    """The parameters by which what is made has tags from the beginning; ``kind`` is what it is to EC2."""
    found = {"TagSpecification.1.ResourceType": kind}
    tags = {"Name": name or who.name, **{key: value for key, value in who.labels.items() if value}}
    for number, (key, value) in enumerate(tags.items(), 1):
        found |= {f"TagSpecification.1.Tag.{number}.Key": key, f"TagSpecification.1.Tag.{number}.Value": value}
    return found


def own_of(who: Who) -> dict[str, str]:
    """The filters that find what belongs to an instance."""
    return {f"tag:{ENSEMBLE}": who.ensemble, f"tag:{INSTANCE}": who.instance}


def filters_of(filters: Mapping[str, str]) -> dict[str, str]:
    """Filters as parameters, for requests to which libcloud gives none."""
    found: dict[str, str] = {}
    for number, (name, value) in enumerate(filters.items(), 1):
        found |= {f"Filter.{number}.Name": name, f"Filter.{number}.Value.1": value}
    return found
