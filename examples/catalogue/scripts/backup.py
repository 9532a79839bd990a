"""Backs up what the step is about into an archive, which is there as a whole or not at all."""

import json
import os
import sys
import tarfile
from pathlib import Path

context = json.loads(Path(os.environ["ORDITO_CONTEXT"]).read_text(encoding="utf-8"))
path = os.environ.get("CONFIG_path") or (context.get("values") or {}).get("data")
if not path:
    sys.exit("Backup: nothing to back up: set path in the config, or the property data of the component")
if not Path(path).exists():
    sys.exit(f"Backup: there is nothing at {path}")

target = os.environ["CONFIG_target"].removeprefix("file://")
if target.startswith("s3://"):
    target = f"{os.environ['CONFIG_stores']}/{target.removeprefix('s3://')}"
folder = Path(target)
folder.mkdir(parents=True, exist_ok=True, mode=0o700)

# The same job makes the same file, however often it has to try.
name = f"{os.environ.get('ORDITO_COMPONENT') or 'module'}-{os.environ.get('ORDITO_JOB', 'now')}.tar.gz"
backup = folder / name
part = folder / f".{name}.part"
with tarfile.open(part, "w:gz") as archive:
    archive.add(path, arcname="data")
part.replace(backup)

print(f"backed up {path} to {backup}")
Path(os.environ["ORDITO_OUTPUTS"]).write_text(json.dumps({"path": path, "backup": str(backup)}), encoding="utf-8")
