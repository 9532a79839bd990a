"""Applies those files of a folder that a database of SQLite has not had; its user_version says how far it is."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

context = json.loads(Path(os.environ["ORDITO_CONTEXT"]).read_text(encoding="utf-8"))
folder = os.environ.get("CONFIG_migrations")
if not folder:
    print("no migrations: the config names no folder")
    sys.exit()
database = os.environ.get("CONFIG_database") or (context.get("values") or {}).get("database")
if not database:
    sys.exit("Migrate: which database? Set database in the config, or the property database of the component")

before = f"{database}.before-{os.environ.get('ORDITO_JOB', 'now')}"
with closing(sqlite3.connect(database, isolation_level=None)) as connection:
    if not Path(before).exists():
        with closing(sqlite3.connect(f"{before}.part")) as copy:
            connection.backup(copy)
        Path(f"{before}.part").replace(before)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for file in sorted(Path(folder).glob("[0-9]*.sql")):
        number = int(file.name.split("_")[0])
        if number <= version:
            continue
        sql = file.read_text(encoding="utf-8")
        try:
            # The version is part of the same transaction, so a file is applied once or not at all.
            connection.executescript(f"BEGIN IMMEDIATE;\n{sql}\n;PRAGMA user_version = {number};\nCOMMIT;")
        except sqlite3.Error as error:
            sys.exit(f"Migrate: {file.name}: {error}")
        print(f"applied {file.name}")
outputs = {"database": database, "before": before}
Path(os.environ["ORDITO_OUTPUTS"]).write_text(json.dumps(outputs), encoding="utf-8")
