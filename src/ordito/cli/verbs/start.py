"""`ordito start`."""

from __future__ import annotations

from ordito.cli.asked.start import asked
from ordito.cli.moving import finishing, job_verb

HELP = """Start instances that are stopped: from configured to started, and link them.

What they require has to be up, or named too."""

finish = finishing("started already")

command = job_verb("start", HELP, asked, finish)
