"""`ordito stop`."""

from __future__ import annotations

from ordito.cli.asked.stop import asked
from ordito.cli.moving import finishing, job_verb

HELP = """Stop instances: from started to configured, dependents first.

What depends on what is named is stopped too: what it hosts, and what requires a node of which no other instance stays
up. Who can do with the others goes on, and is only unlinked. `ordito start` starts them again; so does `ordito deploy`.
A node that a provider made is not stopped, only its state changes."""

finish = finishing("stopped already")

command = job_verb("stop", HELP, asked, finish)
