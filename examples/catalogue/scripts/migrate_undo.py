"""Makes a database what it was before it was migrated."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

outputs = json.loads(Path(os.environ["ORDITO_EXECUTE_RESULT"]).read_text(encoding="utf-8"))["outputs"] or {}
if not outputs:
    print("nothing to undo: nothing was migrated")
    sys.exit()
with closing(sqlite3.connect(outputs["before"])) as before, closing(sqlite3.connect(outputs["database"])) as database:
    before.backup(database)
print(f"restored {outputs['database']}")
