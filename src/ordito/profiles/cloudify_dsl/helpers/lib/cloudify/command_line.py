"""The command ``ctx``: its words lead through what scripts in Python know as ``ctx``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

from cloudify import context, overlay
from cloudify.exceptions import CloudifyException

WITH_VALUE = ("-t", "--timeout", "--socket-url", "--json-arg-prefix")
METHODS = ("get", "update", "pop", "keys", "values", "items", "setdefault", "copy")
ENDS = {"retry_operation", "abort_operation", "retry"}
NAMES = (
    "type deployment blueprint execution_id workflow_id tenant_name plugin node instance source target operation logger"
    " download_resource download_resource_and_render get_resource get_resource_and_render retry_operation"
    " abort_operation returns send_event bootstrap_context provider_context capabilities"
)
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class Wrong(Exception):
    """Words that lead to nothing."""


def main(words: list[str]) -> None:
    """Run one command, print what it gives, and exit."""
    as_json, prefix, words = _options(words)
    try:
        ctx = context()
        given = _walked(ctx, _arguments(words, prefix))
        ctx.keep()
    except (Wrong, CloudifyException, overlay.NoContext, overlay.SaidTwice) as error:
        sys.exit("ctx {}: {}".format(" ".join(words), error))
    text = _shown(given, as_json)
    if isinstance(text, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
    else:
        print(text)
    sys.stdout.flush()
    # Whoever asks for the end of an attempt means its end.
    sys.exit(1 if any(word.replace("-", "_") in ENDS for word in words[:2]) else 0)


def _options(words: list[str]) -> tuple[bool, str, list[str]]:
    as_json, prefix = False, "@"
    while words and words[0].startswith("-"):
        name, has_value, value = words[0].partition("=")
        if name in ("-j", "--json-output"):
            as_json, words = True, words[1:]
        elif name in WITH_VALUE:
            value, words = (value, words[1:]) if has_value else ((words[1:] or [""])[0], words[2:])
            prefix = value if name == "--json-arg-prefix" else prefix
        else:
            sys.exit("ctx: no option {}; options: -j, -t, --socket-url, --json-arg-prefix".format(name))
    if not words:
        sys.exit("ctx: words are missing; the first is one of {}".format(NAMES))
    return as_json, prefix, words


def _arguments(words: list[str], prefix: str) -> list[Any]:
    found: list[Any] = []
    for word in words:
        if prefix and word.startswith(prefix):
            try:
                found.append(json.loads(word[len(prefix) :]))
            except ValueError:
                raise Wrong("{} is not JSON behind the {}".format(word, prefix)) from None
        else:
            found.append(word)
    return found


def _walked(ctx: Any, words: list[Any]) -> Any:
    at = ctx
    while words:
        if isinstance(at, Mapping):
            return _in_map(at, words)
        if callable(at):
            return _called(at, words)
        word = str(words[0]).replace("-", "_")
        if word.startswith("_") or (not hasattr(type(at), word) and word not in vars(at)):
            known = NAMES if at is ctx else " ".join(sorted(n for n in _names(at)))
            raise Wrong('there is no "{}" here; there are: {}'.format(words[0], known))
        at, words = getattr(at, word), words[1:]
    return at() if callable(at) else at


def _names(at: Any) -> set[str]:
    return {n for n in (*vars(at), *vars(type(at))) if not n.startswith("_")}


def _in_map(values: Mapping[str, Any], words: list[Any]) -> Any:
    """What is at a path in a map; with a second word, set what is there."""
    path = str(words[0])
    if path not in values and path.replace("-", "_") in METHODS:
        found = _called(getattr(values, path.replace("-", "_")), words[1:])
        return list(found) if path in ("keys", "values", "items") else found
    steps: list[Any] = [path] if path in values else [name or int(number) for name, number in _STEP.findall(path)]
    if len(words) == 1:
        at: Any = values
        for step in steps:
            try:
                at = at[step]
            except (KeyError, IndexError, TypeError):
                raise Wrong('there is no "{}"'.format(path)) from None
        return at
    if len(words) > 2:
        raise Wrong("a value is set by its name and the value: write text with blanks in quotes")
    if not isinstance(values, MutableMapping):
        raise Wrong("it can only be read")
    _set(values, steps, words[1], path)
    return words[1]


def _set(values: Any, steps: list[Any], value: Any, path: str) -> None:
    at, rest = values, steps
    while len(rest) > 1:
        step = rest[0]
        if isinstance(at, Mapping) and step not in at:
            at[step] = {}  # type: ignore[index]
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):
            raise Wrong('there is nothing that could hold "{}"'.format(path)) from None
        rest = rest[1:]
    try:
        at[rest[0]] = value
    except (IndexError, TypeError):
        raise Wrong('there is nothing that could hold "{}"'.format(path)) from None


def _called(function: Any, words: list[Any]) -> Any:
    named: dict[str, Any] = {}
    if words and isinstance(words[-1], dict) and getattr(function, "__name__", "") not in ("update", "returns"):
        named, words = words[-1], words[:-1]
        if "and_render" in function.__name__ and "template_variables" not in named:
            named = {"template_variables": named}
    last = words[-1] if words else None
    if isinstance(last, str) and last.startswith("retry_after="):
        named, words = {"retry_after": last.partition("=")[2]}, words[:-1]
    try:
        return function(*words, **named)
    except KeyError as error:
        raise Wrong("there is no {}".format(error)) from None
    except (TypeError, ValueError) as error:
        raise Wrong(str(error)) from None


def _shown(value: Any, as_json: bool) -> Any:
    if isinstance(value, bytes):
        return value
    if isinstance(value, MutableMapping) and not isinstance(value, dict):
        value = dict(value)
    if as_json:
        return json.dumps(value)
    if not value:
        return ""
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value, default=str)
    return str(value)
