"""Importing lifecycle steps from a CUE module: what `cue` exports, as a file of lifecycle steps."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.output_file import write_document

VARIABLE = "CUE_EXE"
MOST_SECONDS = 60
MOST_BYTES = 16 << 20
MOST_SAID = 500
NAMED = (
    "{if M.#lifecycle != _|_ {module: M.#lifecycle}, "
    'if M.#components != _|_ {components: {for k, v in M.#components if v.#lifecycle != _|_ {"\\(k)": v.#lifecycle}}}}'
)
"""The expression for a module that a file calls M: an export leaves definitions out, and steps are definitions."""
OF_MODULE = "module: #lifecycle"
OF_COMPONENTS = 'components: {for k, v in #components if v.#lifecycle != _|_ {"\\(k)": v.#lifecycle}}'
WHOLE = (f"{{{OF_MODULE}, {OF_COMPONENTS}}}", f"{{{OF_COMPONENTS}}}", f"{{{OF_MODULE}}}")
"""The expressions to try if the file is the module itself: in CUE, it is an error to name something that the module
does not have."""
NOT_FOUND = "not found"
HOW_TO_GET = "install it from https://cuelang.org, or set CUE_EXE to its path; steps in YAML or JSON do not need it"


class ImportRequest(msgspec.Struct, frozen=True):
    """The file or folder of a CUE module; ``value`` is the name of the module in it, "" for the file itself. ``out`` is
    the file to write, "" for none."""

    module: str
    value: str = ""
    out: str = ""


class Imported(msgspec.Struct, frozen=True):
    """The text of the file of steps, and the number of steps."""

    text: str
    steps: int
    out: str = ""


def import_steps(request: ImportRequest, environment: Mapping[str, str]) -> Imported:
    """Ask `cue` for the lifecycle steps of a module. Raises ``Refused``."""
    if not Path(request.module).exists():
        raise Refused("file-not-found", f"there is no module {request.module}", "name a file of CUE, or its folder")
    text, steps = _checked(_exported(_program(environment), request, environment))
    if request.out:
        write_document(request.out, text.encode(), [request.module])
    return Imported(text, steps, request.out)


def _program(environment: Mapping[str, str]) -> str:
    given = environment.get(VARIABLE, "")
    found = shutil.which(given or "cue", path=environment.get("PATH"))
    if found is None:
        why = f"{VARIABLE} is {given}, which is not a program" if given else "there is no program cue on this machine"
        raise Refused("no-cue", why, HOW_TO_GET)
    return found


def _exported(program: str, request: ImportRequest, environment: Mapping[str, str]) -> bytes:
    """The output of `cue` about the steps of a module. Raises ``Refused``."""
    if request.value:
        code, exported, said = _asked(program, NAMED.replace("M.", f"{request.value}."), request, environment)
    else:
        for expression in WHOLE:
            code, exported, said = _asked(program, expression, request, environment)
            if code == 0 or NOT_FOUND not in said:
                break
    if code != 0:
        raise Refused("cue-failed", f"{program} ended with {code}: {said}", _hint(said, request))
    if len(exported) > MOST_BYTES:
        raise Refused("too-large", f"the output of {program} is larger than {MOST_BYTES >> 20} MiB")
    return exported


def _asked(
    program: str, expression: str, request: ImportRequest, environment: Mapping[str, str]
) -> tuple[int, bytes, str]:
    """The exit code and output of `cue` for an expression. Raises ``Refused``."""
    path = Path(request.module)
    folder, target = (path, ".") if path.is_dir() else (path.parent, path.name)
    words = [program, "export", target, "-e", expression, "--out", "json"]
    try:
        done = subprocess.run(
            words, cwd=folder, env=dict(environment), capture_output=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Refused("cue-failed", f"{program} said nothing for {MOST_SECONDS} s", "try it by hand") from None
    except OSError as error:
        raise Refused("cue-failed", f"{program} cannot be run: {error.strerror}", HOW_TO_GET) from error
    said = " ".join(done.stderr.decode(errors="replace").split())
    return done.returncode, done.stdout, said[:MOST_SAID]


def _hint(said: str, request: ImportRequest) -> str:
    if not request.value and NOT_FOUND in said:
        return "name the module in the file with --value, as in: --value myModule"
    return f"cue vet {request.module} says what is wrong with the module"


class _Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"on_failure": "onFailure"}):
    fqn: str
    description: str = ""
    condition: str = ""
    timeout: str = ""
    on_failure: str = ""
    config: object = None


class _Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    before: list[_Step] = []
    after: list[_Step] = []


class _Lifecycle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    install: _Phase = _Phase()
    upgrade: _Phase = _Phase()
    delete: _Phase = _Phase()

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return sum(len(p.before) + len(p.after) for p in (self.install, self.upgrade, self.delete))


class _Steps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    module: _Lifecycle = _Lifecycle()
    components: dict[str, _Lifecycle] = {}


def _checked(exported: bytes) -> tuple[str, int]:
    """The exported steps as the text of a file, and their number. Raises ``Refused``."""
    try:
        found = msgspec.json.decode(exported, type=_Steps)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(
            "bad-steps", f"the output of cue is not valid lifecycle steps: {error}", "check the lifecycle of the module"
        ) from error
    text = json.dumps(json.loads(exported), indent=2, ensure_ascii=False) + "\n"
    return text, found.module.steps + sum(lifecycle.steps for lifecycle in found.components.values())
