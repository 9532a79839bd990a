"""`python -m ordito` is the command `ordito`."""

from __future__ import annotations

from ordito.cli.main import main

if __name__ == "__main__":
    main()
