"""The checks of `./run check`, with the programs of this Python's environment, whichever checkout it belongs to."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from tools.proofs.results import ROOT


def door() -> ModuleType:
    """The script `./run` as a module."""
    loader = SourceFileLoader("run_script", str(ROOT / "run"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


def main() -> int:
    """Run them all; gives 1 if one fails."""
    programs = Path(sys.executable).parent
    failed = []
    for name, (program, *options) in door().CHECKS.items():
        print(f"== {name}", flush=True)
        if subprocess.run([programs / program, *options], cwd=ROOT, check=False).returncode != 0:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
