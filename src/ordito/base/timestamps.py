"""Timestamps as YAML 1.1 writes them: a date, or a date with time, fraction and zone (TOSCA 1.3 §3.3.1)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

GRAMMAR = re.compile(  # in ASCII: \d means 0 to 9 here
    r"(\d{4})-(\d\d?)-(\d\d?)"
    r"(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d{0,300}))?[ \t]*(Z|[-+]\d\d?(?::\d\d)?)?)?",
    re.ASCII,
)
DATE_ONLY = re.compile(r"\d{4}-\d\d?-\d\d?", re.ASCII)


def moment(text: str) -> tuple[datetime, str]:
    """A key that orders timestamps exactly: the moment to the microsecond, and the further digits of the fraction.
    ``parse_timestamp`` has accepted the text before."""
    match = GRAMMAR.fullmatch(text)
    fraction = (match[7] or "") if match is not None else ""
    return parse_timestamp(text), fraction[6:].rstrip("0")


def parse_timestamp(text: str) -> datetime:
    """The moment that a timestamp names, to the microsecond, in UTC where it has no zone. Raises ``ValueError`` where
    the text is not a timestamp."""
    match = GRAMMAR.fullmatch(text)
    if match is None or (len(text) < 10 and DATE_ONLY.fullmatch(text)):
        raise ValueError(f'"{text}" is not a timestamp such as 2026-11-21T10:30:00Z')
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        return datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(zone),
        )
    except ValueError as error:
        raise ValueError(f'"{text}" is not a timestamp: {error}') from None


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    hours, _, minutes = text[1:].partition(":")
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-offset if text[0] == "-" else offset)
