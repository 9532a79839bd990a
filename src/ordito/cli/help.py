"""The help of a verb: options by group, examples, exit codes, and related verbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from ordito.cli.options import completing, global_options

JOB = frozenset(
    {
        *("parallel", "host_concurrency", "on_failure", "attempts", "interval", "timeout", "commit", "message"),
        *("wait_lock", "detach", "wait_approval"),
    }
)
"""The options about how a job runs, by the names of their parameters."""
OWN, OF_JOBS, OF_EVERY_VERB = "Options", "How the job runs", "Options of every verb"


class VerbCommand(click.Command):
    """A verb with complete help. ``page`` is its name in the manual."""

    def __init__(self, name: str, *, page: str, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.page = page

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options and arguments, with the words that a shell can offer for them."""
        return completing(super().get_params(ctx), ctx, self.page)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of the verb itself first."""
        for title, options in grouped(self.get_params(ctx)):
            records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verb's part of the manual."""
        from ordito.cli.manual import exits_of, manual_of

        manual = manual_of(self.page)
        with formatter.section("Examples"):
            for place, example in enumerate(manual.examples):
                if place:
                    formatter.write_paragraph()
                formatter.write_text(f"{example.say}:")
                for line in example.run.strip().splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}  {line}\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in exits_of(self, manual).items()])
        if manual.see:
            with formatter.section("See also"):
                formatter.write_text(", ".join(f"ordito {verb} --help" for verb in manual.see))


def grouped(params: Sequence[click.Parameter]) -> Iterator[tuple[str, list[click.Option]]]:
    """The options of a verb in groups, each with its title."""
    of_every_verb = {name for option in global_options() for name in option.opts} | {"--help"}
    options = [param for param in params if isinstance(param, click.Option)]
    is_job = any(option.name == "timeout" for option in options)
    groups: dict[str, list[click.Option]] = {OWN: [], OF_JOBS: [], OF_EVERY_VERB: []}
    for option in options:
        if of_every_verb.intersection(option.opts):
            groups[OF_EVERY_VERB].append(option)
        else:
            groups[OF_JOBS if is_job and option.name in JOB else OWN].append(option)
    yield from groups.items()
