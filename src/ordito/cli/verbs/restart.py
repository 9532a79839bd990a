"""`ordito restart`."""

from __future__ import annotations

from ordito.cli.asked.restart import asked
from ordito.cli.moving import finishing, job_verb

HELP = """Stop and start instances, and what depends on them, in one job.

First everything is stopped, dependents first, then everything is started the other way round. What is stopped already
is started."""

finish = finishing("as it should be")

command = job_verb("restart", HELP, asked, finish)
