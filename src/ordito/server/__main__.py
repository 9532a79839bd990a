"""`python -m ordito.server`."""

from __future__ import annotations

import sys

from ordito.server.main import main

sys.exit(main(sys.argv[1:]))
