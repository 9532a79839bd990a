"""Restores what was backed up, in place of what is there now."""

import json
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

outputs = json.loads(Path(os.environ["ORDITO_EXECUTE_RESULT"]).read_text(encoding="utf-8"))["outputs"]
path = Path(outputs["path"])
with tempfile.TemporaryDirectory(dir=path.parent) as staging, tarfile.open(outputs["backup"]) as archive:
    archive.extractall(staging)  # noqa: S202  (we have made it)
    if path.is_dir():
        shutil.rmtree(path)
    (Path(staging) / "data").replace(path)
print(f"restored {path} from {outputs['backup']}")
