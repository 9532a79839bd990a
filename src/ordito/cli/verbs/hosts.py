"""`ordito hosts`: the group of verbs about the hosts of the inventory."""

from __future__ import annotations

from ordito.cli.grammar import HOSTS_VERBS, VerbGroup

command = VerbGroup("hosts", HOSTS_VERBS, {}, "List the hosts of the inventory, check them, and take them back.")
