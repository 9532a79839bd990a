"""A callback plug-in of Ansible: reports what happens on each host, and how the playbook ended there.

It runs inside Ansible's process and uses the standard library and Ansible's base class only; `../../files.py` describes
what it reads and writes. Each event is printed as a line of JSON after a mark, which tells it apart from other output.
How the playbook ended for a host is written to a file of its own, which is complete or not there at all, because the
process that started the playbook may have died meanwhile.
"""

# It is loaded by Ansible, by its path. What results hold has public names since ansible-core 2.19 only.
# ruff: noqa: INP001, PTH105, PTH123, SLF001

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: ordito_report
type: stdout
short_description: Tells Ordito what happens on each host
description: Tells what happens on each host, and how it ended there.
"""

MARK = "\x1eordito "
SETTINGS = "ORDITO_ANSIBLE"

LONGEST = 4_000
"""How many characters of a message of a module are reported."""

WITHOUT_CONTACT = {"debug", "set_fact", "set_stats", "assert", "fail", "meta", "add_host", "group_by", "include_vars"}
"""Actions that do not touch the host."""

LOST_ON_THE_WAY = re.compile(
    r"Shared connection to .* closed|closed by remote host|Broken pipe|client_loop|not responding|"
    r"Data could not be sent|mux_client",
    re.IGNORECASE,
)
"""What ssh says when an open connection has ended."""


class Seen:
    """What is known of one host."""

    def __init__(self) -> None:
        self.touched = False
        self.changed = False
        self.problem = ""
        self.lost = False
        self.unreachable = False
        self.stats: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Reports what happens."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "ordito_report"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with open(os.environ[SETTINGS], encoding="utf-8") as file:
            settings = json.load(file)
        self._results: str = settings["results"]
        self._folders: list[str] = settings["folders"]
        self._steps: dict[str, dict[str, Any]] = settings["steps"]
        self._seen: dict[str, Seen] = {name: Seen() for name in self._steps}
        self._shared: dict[str, Any] = {}
        self._was_broken_off = False

    # ------------------------------------------------------------------------------------------------ what happens

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """A play begins."""
        self._tell(self._steps, f"PLAY [{play.get_name().strip()}]")

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task has succeeded on a host."""
        found = result._result
        seen = self._of(result)
        if seen is not None:
            if not _is_without_contact(result):
                seen.touched = True
            seen.changed |= bool(found.get("changed"))
            for one in [found, *_items(found)]:
                self._remember(seen, one, result)
        word = "changed" if found.get("changed") else "ok"
        said = _short(found.get("msg", "")) if _action(result) == "debug" and not _items(found) else ""
        self._tell_of(result, f"{word}: [{_name(result._task)}]" + (f" {said}" if said else ""))

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task has failed on a host; it may be rescued."""
        found = result._result
        problem = self._problem(result)
        seen = self._of(result)
        if seen is not None:
            seen.touched = True
            seen.changed |= bool(found.get("changed")) or any(item.get("changed") for item in _items(found))
            if not ignore_errors:
                seen.problem = problem
        self._tell_of(result, f"failed: {problem}" + (" (ignored)" if ignore_errors else ""))
        for name in ("stdout", "stderr", "module_stdout", "module_stderr"):
            for line in str(found.get(name) or "")[-LONGEST:].splitlines():
                self._tell_of(result, f"  {line}")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host could not be reached."""
        problem = self._problem(result)
        seen = self._of(result)
        ignored = bool(getattr(result._task, "ignore_unreachable", False))
        if seen is not None and not ignored:
            seen.problem = problem
            seen.unreachable = True
            seen.lost = seen.touched or bool(LOST_ON_THE_WAY.search(problem))
            self._write(result._host.get_name(), seen, "lost" if seen.lost else "unreachable", {})
        self._tell_of(result, f"unreachable: {problem}" + (" (ignored)" if ignored else ""))

    def v2_runner_on_skipped(self, result: Any) -> None:
        """A task was not needed on a host."""
        self._tell_of(result, f"skipped: [{_name(result._task)}]")

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """A task has succeeded for one item of its loop."""
        found = result._result
        word = "changed" if found.get("changed") else "ok"
        said = _short(found.get("msg", "")) if _action(result) == "debug" else ""
        self._tell_of(result, f"{word}: [{_name(result._task)}] {_item(found)} {said}".rstrip())

    def v2_runner_item_on_failed(self, result: Any) -> None:
        """A task has failed for one item of its loop."""
        self._tell_of(result, f"failed: [{_name(result._task)}] {_item(result._result)} {_message(result._result)}")

    def v2_runner_retry(self, result: Any) -> None:
        """A task will be tried again on a host."""
        self._tell_of(result, f"trying again: [{_name(result._task)}]")

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """A play is for none of the hosts."""
        self._tell(self._steps, "no host of this batch is among those of the play")

    def v2_playbook_on_no_hosts_remaining(self) -> None:
        """The playbook goes on for no host any more."""
        self._was_broken_off = True

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """The playbook has ended."""
        custom = getattr(stats, "custom", {})
        for host, seen in self._seen.items():
            found = stats.summarize(host)
            ending, problem = "ok", ""
            if seen.unreachable and found["unreachable"]:
                ending = "lost" if seen.lost else "unreachable"
            elif found["failures"]:
                ending = "failed"
            elif self._was_broken_off:
                ending, problem = "failed", "the playbook ended early, because it failed on other hosts of the batch"
            elif host not in stats.processed:
                ending, problem = "none", "no play of the playbook has this instance among its hosts"
            seen.problem = problem or (seen.problem if ending != "ok" else "")
            outputs = {**seen.facts, **custom.get("_run", {}), **self._shared, **custom.get(host, {}), **seen.stats}
            self._write(host, seen, ending, outputs)

    # ------------------------------------------------------------------------------------------------------ parts

    def _of(self, result: Any) -> Seen | None:
        return self._seen.get(result._host.get_name())

    def _remember(self, seen: Seen, found: Mapping[str, Any], result: Any) -> None:
        """Keep the facts and statistics that a task of a host has set."""
        stats = found.get("ansible_stats")
        if isinstance(stats, Mapping) and isinstance(stats.get("data"), Mapping):
            seen.stats.update(stats["data"])
            if not stats.get("per_host"):
                self._shared.update(stats["data"])
        facts = found.get("ansible_facts")
        if isinstance(facts, Mapping):
            wanted = self._steps[result._host.get_name()]["outputs"]
            seen.facts.update({name: facts[name] for name in wanted if name in facts})

    def _problem(self, result: Any) -> str:
        """What went wrong: the task, its place in the playbook, its message."""
        place = result._task.get_path() or ""
        for folder in self._folders:
            place = place.removeprefix(f"{folder}/")
        return f'task "{_name(result._task)}" ({place}): {_message(result._result)}'

    def _tell_of(self, result: Any, text: str) -> None:
        self._tell([result._host.get_name()], text)

    def _tell(self, hosts: Iterable[str], text: str) -> None:
        sys.stdout.write(f"{MARK}{json.dumps([list(hosts), text])}\n")
        sys.stdout.flush()

    def _write(self, host: str, seen: Seen, ending: str, outputs: Mapping[str, Any]) -> None:
        """Write how it ended for a host into its result file, atomically."""
        step = self._steps[host]
        wanted = {n: v for n, v in outputs.items() if n in step["outputs"] or n.startswith("ordito_")}
        content = {
            "job": step["job"],
            "step": step["step"],
            "attempt": step["attempt"],
            "ending": ending,
            "changed": seen.changed,
            "message": seen.problem,
            "outputs": wanted,
        }
        path = f"{self._results}/{step['number']}.json"
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(content, file, default=str)
        os.replace(f"{path}.new", path)


def _items(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The results of the items of a loop."""
    items = found.get("results")
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _name(task: Any) -> str:
    return str(task.get_name()).strip()


def _action(result: Any) -> str:
    return str(result._task.action).rpartition(".")[2]


def _is_without_contact(result: Any) -> bool:
    return _action(result) in WITHOUT_CONTACT or bool(result._task.delegate_to)


def _item(found: Mapping[str, Any]) -> str:
    label = found.get("_ansible_item_label", found.get("item", ""))
    return "" if found.get("_ansible_no_log") else f"(item={_short(label)})"


def _message(found: Mapping[str, Any]) -> str:
    """The message of a module about its failure, in one line."""
    if "censored" in found:
        return "its message is hidden (no_log)"
    failed = [item for item in _items(found) if item.get("failed")]
    if failed:
        return "; ".join(f"{_item(item)} {_message(item)}".strip() for item in failed[:3])
    said = found.get("msg") or found.get("stderr") or found.get("module_stderr") or found.get("reason") or "it failed"
    text = str(said)
    if found.get("rc") is not None and found.get("stderr") and text != found["stderr"]:
        text = f"{text}: {str(found['stderr']).strip()[-500:]}"
    return _short(text)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
