"""The renderings of one stream of events: lines, the tree, NDJSON, and the report at the end."""

from __future__ import annotations

import errno
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from ordito.base.text_width import width
from ordito.cli.channel import ASCII, Channel
from ordito.cli.progress.ledger import InstancePhase, Ledger, node_of
from ordito.cli.progress.lines import LineProgress
from ordito.cli.progress.ndjson import JsonStream
from ordito.cli.progress.report import (
    MOST_FAILURES,
    MOST_ROWS,
    NextCommand,
    Summary,
    write_failures,
    write_next,
    write_recap,
    write_summary,
)
from ordito.cli.progress.tree import TreeProgress, frame
from ordito.work.events import (
    Event,
    InstanceState,
    JobFinished,
    JobStarted,
    StepFailed,
    StepLog,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWarning,
)
from ordito.work.invocation import Ending, Outcome
from tests.cli.channels import channel, written

JOB = "A6BKKQCN0000"


def started(instance: str, operation: str, at: float, far: str = "") -> StepStarted:
    return StepStarted(JOB, f"{instance}.Standard.{operation}", instance, f"Standard.{operation}", far, at=at)


def ended(instance: str, operation: str, at: float, **outcome: object) -> StepSucceeded:
    done = Outcome(Ending.SUCCEEDED, seconds=0.3, **outcome)  # type: ignore[arg-type]
    return StepSucceeded(JOB, f"{instance}.Standard.{operation}", instance, f"Standard.{operation}", done, at=at)


def failed(instance: str, operation: str, at: float, outcome: Outcome) -> StepFailed:
    return StepFailed(
        JOB,
        f"{instance}.Standard.{operation}",
        instance,
        f"Standard.{operation}",
        outcome,
        declared="service.yaml:52:18",
        artifact="scripts/start.sh",
        at=at,
    )


EXIT_3 = Outcome(Ending.FAILED, exit_code=3, seconds=1.2, tail=("line 1", "Error: bind 0.0.0.0:80: denied"))

STORY: list[Event] = [
    JobStarted(JOB, "deploy", 6, 0, ("server_1", "web_1", "web_2"), at=100.0),
    InstanceState(JOB, "server_1", "creating", "pending", 100.0),
    started("server_1", "create", 100.0),
    StepLog(JOB, "server_1.Standard.create", "first\nsecond", 100.2),
    ended("server_1", "create", 100.3, changed=True),
    InstanceState(JOB, "server_1", "started", "ok", 100.3),
    StepSucceeded(JOB, "server_1.start", "server_1", "Standard.start", Outcome(Ending.SUCCEEDED), no_op=True, at=100.4),
    started("web_1", "create", 104.0, "server_1"),
    failed("web_1", "create", 105.2, EXIT_3),
    InstanceState(JOB, "web_1", "error", "error", 105.2),
    StepSkipped(JOB, "web_1.Standard.start", "web_1", "Standard.start", "web_1.Standard.create", 105.2),
    StepWarning(JOB, "web_2.Standard.create", "input port has no value", 105.3),
    JobFinished(JOB, "deploy", "failed", 2, 1, 1, 1, 5.3, 105.3),
]


def lines_of(events: list[Event], **options: bool) -> list[str]:
    to = channel()
    progress = LineProgress(to, **options)
    for event in events:
        progress(event)
    return [" ".join(line.split()) for line in written(to).splitlines()]


def ledger_of(events: list[Event]) -> Ledger:
    ledger = Ledger()
    for event in events:
        ledger(event)
    return ledger


# ------------------------------------------------------------------------------------------------------------ lines


def test_of_many_attempts_only_some_are_lines() -> None:
    """A check that is asked until all is ready would fill the screen otherwise."""
    story: list[Event] = [started("web_1", "start", 0.0)]
    outcome = Outcome(Ending.FAILED, message="exit 1")
    for number in range(2, 70):
        names = (JOB, "web_1.Standard.start", "web_1", "Standard.start")
        story.append(StepRetrying(*names, outcome, next=number, attempts=301, seconds=1.0, at=float(number)))
        story.append(StepStarted(*names, attempt=number, at=float(number)))
    story.append(ended("web_1", "start", 70.0))
    said = lines_of(story)
    told = [line.partition("; attempt ")[2].split(" ")[0] for line in said if "; attempt " in line]
    assert told == ["2", "3", "4", "8", "16", "32", "64"]
    assert [line for line in said if "from here on, not every attempt is shown" in line] == [said[5]]
    assert len(said) == 2 * len(told) + 2
    assert len(lines_of(story, shows_output=True)) == len(story)


def test_each_transition_is_a_line_with_the_time_since_the_beginning() -> None:
    assert lines_of(STORY) == [
        f"begin deploy, job {JOB}: 6 steps",
        "00:00:00 server_1 create start",
        "00:00:00 server_1 create ok 0.3s changed",
        "00:00:00 server_1 start no-op",
        "00:00:04 web_1 create -> server_1 start",
        "00:00:05 web_1 create -> server_1 FAILED exit 3 after 1.2s",
        "00:00:05 web_1 start skipped: web_1 create",
        "00:00:05 web_2 create warning: input port has no value",
    ]


def test_what_was_skipped_because_of_one_failure_is_folded() -> None:
    def skipped(number: int, because: str) -> StepSkipped:
        return StepSkipped(JOB, f"web_{number}.Standard.start", f"web_{number}", "Standard.start", because, 105.2)

    many = [skipped(number, "db_1.Standard.create") for number in range(1, 45)]
    few = [skipped(number, "db_2.Standard.create") for number in range(45, 49)]
    state = InstanceState(JOB, "web_1", "error", "error", 105.2)
    assert lines_of([*STORY[:1], *many[:20], state, *many[20:], *few, STORY[-1]])[1:] == [
        *(f"00:00:05 web_{number} start skipped: db_1 create" for number in range(1, 4)),
        "00:00:05 ... 41 more operations skipped: db_1 create",
        *(f"00:00:05 web_{number} start skipped: db_2 create" for number in range(45, 49)),
    ]
    assert len(lines_of([*many, STORY[-1]], shows_output=True)) == len(many)


def test_verbose_shows_what_operations_print_with_who_printed_it() -> None:
    assert "00:00:00 server_1 create │ second" in lines_of(STORY, shows_output=True)


def test_output_cannot_steer_the_terminal() -> None:
    shown = lines_of(
        [STORY[0], started("web_1", "create", 1), StepLog(JOB, "web_1.Standard.create", "\x1b[2J", 1)],
        shows_output=True,
    )
    assert not any("\x1b" in line for line in shown)


def test_a_step_that_never_started_says_why() -> None:
    refused = Outcome(Ending.NOT_STARTED, message="input port has no value")
    assert "FAILED not started: input port has no value" in lines_of([STORY[0], failed("a_1", "x", 1, refused)])[-1]


def test_a_sentence_about_a_failure_has_a_time_only_where_something_was_run() -> None:
    said = "it is in error: see to it, or `ordito deploy --force`"
    for seconds, time in ((0.0, ""), (0.002, ""), (1.2, " (after 1.2s)")):
        outcome = Outcome(Ending.FAILED, message=said, seconds=seconds)
        assert lines_of([STORY[0], failed("a_1", "x", 1, outcome)])[-1].endswith(f"FAILED {said}{time}")


def test_a_resumed_job_says_how_much_is_done() -> None:
    resumed = JobStarted(JOB, "deploy", 6, 4, ("a_1",), resumed=True, at=1)
    assert lines_of([resumed]) == [f"continue deploy, job {JOB}: 6 steps, 4 done"]
    on_its_way_back = JobStarted(JOB, "deploy", 6, 4, ("a_1",), resumed=True, at=1, rolling_back=True)
    assert lines_of([on_its_way_back]) == [f"continue rolling back deploy, job {JOB}: 6 steps, 4 done"]


# ------------------------------------------------------------------------------------------------------------- tree


def test_a_step_that_was_at_work_before_a_crash_is_named_as_all_others() -> None:
    resumed = JobStarted(JOB, "deploy", 6, 4, ("web_1",), resumed=True, at=1)
    doubt = StepWarning(JOB, "web_1.Standard.create", "in doubt", 1)
    assert lines_of([resumed, doubt])[-1] == "00:00:00 web_1 create warning: in doubt"


def rows(events: list[Event], height: int = 24, now: float = 106.0) -> list[str]:
    return [text for _, text in frame(ledger_of(events), height, channel(), now)]


def test_the_tree_folds_what_is_done_and_shows_what_runs() -> None:
    shown = [" ".join(row.split()) for row in rows(STORY[:8])]
    assert shown == [
        f"deploy job {JOB} 00:00:06 2/6 steps 1 running",
        "✓ server started",
        "▸ web 0 of 2 done, 1 waiting",
        "▸ web_1 create -> server_1 00:00:02",
        "stop: Ctrl-C once = let running steps finish, twice = end them now",
    ]


def test_the_last_line_of_a_running_operation_is_shown() -> None:
    assert any('last: "second"' in row for row in rows(STORY[:4]))


def test_failures_stay_in_sight() -> None:
    assert any(row.split()[:2] == ["✗", "web_1"] for row in rows(STORY))


def many(count: int) -> list[Event]:
    names = tuple(f"n{number}_1" for number in range(count))
    story: list[Event] = [JobStarted(JOB, "deploy", count, 0, names, at=0)]
    story += [started(name, "create", 0) for name in names[: count // 2]]
    story += [ended(name, "create", 0) for name in names[: count // 4]]
    story += [InstanceState(JOB, name, "started", "ok", 0) for name in names[: count // 4]]
    return story


def test_the_tree_never_has_more_rows_than_the_screen() -> None:
    for height in (8, 24, 50):
        shown = rows(many(1_000), height)
        assert len(shown) < height
        assert any("500 instances waiting" in row for row in shown)
        assert any("250 instances done" in row for row in shown)


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["start", "ok", "fail", "skip", "settle"])), max_size=60))
def test_counts_kept_up_event_by_event_agree_with_the_accounts(moves: list[tuple[int, str]]) -> None:
    ledger = Ledger()
    for number, move in moves:
        name = f"n_{number}"
        events: dict[str, Event] = {
            "start": started(name, "create", 0),
            "ok": ended(name, "create", 0),
            "fail": failed(name, "create", 0, EXIT_3),
            "skip": StepSkipped(JOB, f"{name}.create", name, "create"),
            "settle": InstanceState(JOB, name, "started", "ok"),
        }
        ledger(events[move])
    expected = [sum(account.phase is phase for account in ledger.accounts.values()) for phase in InstancePhase]
    assert ledger.counts == expected
    assert sum(len(node.busy) for node in ledger.nodes.values()) == expected[InstancePhase.BUSY]


def test_the_node_of_an_instance() -> None:
    assert [node_of(name) for name in ("web_1", "my_web_12", "odd", "_1")] == ["web", "my_web", "odd", "_1"]


# ------------------------------------------------------------------------------------------------------------ JSON


def test_the_stream_begins_with_its_version_and_has_an_object_a_line() -> None:
    to = channel()
    stream = JsonStream(to)
    for event in STORY:
        stream(event)
    stream.say("result", {"result": {"status": "ok"}})
    objects = [json.loads(line) for line in written(to).splitlines()]
    assert objects[0]["type"] == "version"
    assert objects[0]["format"] == "ordito.events/1"
    assert [found["type"] for found in objects[1:4]] == ["job.started", "instance.state", "step.started"]
    assert objects[-1] == {"type": "result", "result": {"status": "ok"}}
    assert len(objects) == len(STORY) + 2


# ---------------------------------------------------------------------------------------------------------- report


def report_of(events: list[Event]) -> str:
    to = channel()
    ledger = ledger_of(events)
    write_failures(ledger.failures, to)
    write_recap(ledger, to)
    write_summary(Summary(JOB, "deploy", "failed", 5.3, 2, 1, 1, 1), to)
    write_next([NextCommand("ordito status", "see"), NextCommand("ordito deploy", "again")], to)
    return written(to)


def test_why_a_host_is_out_of_reach_is_said_once() -> None:
    """The other operations on it are named below; what is said otherwise, or may fail, stays apart."""
    away = Outcome(Ending.UNREACHABLE, message="far: nothing listens there")
    other = Outcome(Ending.UNREACHABLE, message="near: nothing listens there")
    failed = [
        StepFailed(JOB, f"{instance}.Standard.{name}", instance, f"Standard.{name}", outcome, optional=optional)
        for instance, name, outcome, optional in (
            ("web_1", "create", away, False),
            ("db_1", "create", other, False),
            ("web_2", "create", away, False),
            ("web_3", "stop", away, False),
            ("web_4", "create", away, True),
        )
    ]
    to = channel()
    write_failures(failed, to)
    assert written(to) == (
        "FAILED web_1 create: unreachable: far: nothing listens there\n"
        "   likewise: web_2 create, web_3 stop\n"
        "FAILED db_1 create: unreachable: near: nothing listens there\n"
        "FAILED (optional) web_4 create: unreachable: far: nothing listens there\n"
    )


def test_the_report_of_a_failed_job() -> None:
    assert report_of(STORY) == (
        "FAILED web_1 create: exit 3 after 1.2s (scripts/start.sh)\n"
        "   │ line 1\n"
        "   │ Error: bind 0.0.0.0:80: denied\n"
        " operation declared at service.yaml:52:18\n"
        "RECAP\n"
        "  server_1  ok=1 changed=1 no-op=1\n"
        "  web_1     FAILED=1 skipped=1\n"
        f"Job {JOB} (deploy) failed after 00:00:05: 1 ok, 1 no-op, 1 failed, 1 skipped.\n"
        "Next:  ordito status    see\n"
        "       ordito deploy    again\n"
    )


def test_what_was_not_needed_is_counted_alike_for_its_instance_and_for_the_job() -> None:
    needless = StepSkipped(JOB, "web_1.early", "web_1", "early", "there is nothing to do", 100.5, needless=True)
    assert "  web_1     no-op=1 FAILED=1 skipped=1\n" in report_of([*STORY, needless])


def test_a_long_recap_is_folded_into_nodes() -> None:
    names = [f"web_{number}" for number in range(1, MOST_ROWS + 2)]
    story: list[Event] = [ended(name, "create", 0) for name in names]
    text = report_of([*story, ended("db_1", "create", 0)])
    assert f"web ({len(names)})  ok={len(names)}" in text
    assert "web_7 " not in text


def test_of_very_many_nodes_those_with_failures_are_shown() -> None:
    story: list[Event] = [ended(f"n{number}_1", "create", 0) for number in range(MOST_ROWS + 5)]
    text = report_of([*story, failed("bad_1", "create", 0, EXIT_3)])
    recap = text.partition("RECAP\n")[2].splitlines()
    assert [line.split() for line in recap[:2]] == [
        ["bad", "(1)", "FAILED=1"],
        [str(MOST_ROWS + 5), "other", "nodes", f"ok={MOST_ROWS + 5}"],
    ]
    assert recap[2].startswith("Job ")


def test_very_many_failures_are_counted() -> None:
    story: list[Event] = [failed(f"web_{n}", "create", 0, EXIT_3) for n in range(MOST_FAILURES + 5)]
    assert "... and 5 more failures" in report_of(story)


def test_symbols_have_ascii_forms() -> None:
    ascii_channel = channel("ascii")
    assert ascii_channel.symbols == ASCII
    shown = [text for _, text in frame(ledger_of(STORY), 24, ascii_channel, 106.0)]
    assert all(row.isascii() for row in shown)


def test_every_row_fits_where_it_should() -> None:
    assert all(width(row) < 200 for row in rows(many(500), 40))


class Gone(io.StringIO):
    """A terminal that was closed."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "gone")


def test_nothing_is_kept_for_a_terminal_that_is_gone() -> None:
    """The job goes on, and what it prints is forgotten."""
    progress = TreeProgress(Channel(Gone()), shows_output=True)
    for event in STORY[:4]:
        progress(event)
    progress._thread.join()
    for number in range(100):
        progress(StepLog(JOB, "server_1.Standard.create", f"line {number}", 101.0))
    progress.close()
    assert progress._above.taken() == ""
