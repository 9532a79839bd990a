"""Make the shop's database, unless it is there already.

Inputs are environment variables; the output is the global `path`. Like every operation it may be run again.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

shop = Path(os.environ["DIRECTORY"])
home = shop / os.environ["INSTANCE"]
path = str(home / "shop.sqlite")

# No directory above the shop's is made: nothing would remove it again.
if not shop.parent.is_dir():
    raise SystemExit(f"{shop.parent}, in which the shop's directory is to be made, is not a directory")
shop.mkdir(exist_ok=True)
home.mkdir(exist_ok=True)
with closing(sqlite3.connect(path)) as database:
    database.execute(
        "CREATE TABLE IF NOT EXISTS record (id INTEGER PRIMARY KEY, text TEXT NOT NULL, written_by TEXT NOT NULL)"
    )
