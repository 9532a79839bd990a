"""A service with lifecycle steps that tells in a file what is done, in that order: a database and an api that requires
it, with blocks of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.yaml_files import write_yaml

SAY, TELL = "test.example/lifecycle/say@v1#Say", "test.example/lifecycle/say@v1#Tell"
"""Blocks that write a word into the log, and do what they are told: the first can be undone."""

RUN = "ordito.dev/lifecycle/run@v1#Operation"

OPERATIONS = ("create", "start", "stop", "delete")

HEAD = """tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito", "profile:blocks" ]
data_types:
  test.example.Say:
    derived_from: tosca.datatypes.Root
    properties:
      exit: { type: integer, default: 0 }
      undo_exit: { type: integer, default: 0 }
      sleep: { type: string, required: false }
      word: { type: string, required: false }
      file: { type: ordito.datatypes.ArchivePath, required: false }
      secret: { type: string, required: false, metadata: { sensitive: "true" } }
policy_types:
  "test.example/lifecycle/say@v1#Say":
    derived_from: ordito.policies.LifecycleStep
    version: 1.0.0
    properties: { config: { type: test.example.Say, required: false } }
  "test.example/lifecycle/say@v1#Tell":
    derived_from: ordito.policies.LifecycleStep
    version: 1.0.0
    properties: { config: { type: test.example.Say, required: false } }
interface_types:
  test.Cache:
    derived_from: tosca.interfaces.Root
    operations: { warm: {}, clear: {} }
node_types:
  "test.example/lifecycle/say@v1#Say":
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: blocks/say.sh, undo: blocks/unsay.sh } } }
  "test.example/lifecycle/say@v1#Tell":
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: blocks/say.sh } } }
  test.Part:
    derived_from: tosca.nodes.Root
    properties:
      version: { type: string, default: "1" }
    attributes:
      address: { type: string }
    interfaces:
      Maintain:
        type: ordito.interfaces.Maintain
        operations: { check: scripts/check.sh }
      Cache:
        type: test.Cache
        operations:
          warm: { implementation: scripts/warm.sh, inputs: { pages: { type: string, default: "1" } } }
          clear: scripts/clear.sh
"""

SCRIPT = """log="{log}"
echo "$INSTANCE.{operation}${{pages:+ $pages}}" >> "$log"
if [ -e "$log.fail.$INSTANCE.{operation}" ]; then exit 1; fi
address="at-$INSTANCE"
"""

CHECK = """log="{log}"
if [ -e "$log.ill.$INSTANCE" ]; then echo "$INSTANCE is ill" >> "$log"; exit 1; fi
echo "$INSTANCE is ready" >> "$log"
"""

SAYS = """log="{log}"
echo "$ORDITO_HOOK" >> "$log"
cp "$ORDITO_CONTEXT" "$log.context.$ORDITO_HOOK"
env | grep '^ORDITO_\\|^CONFIG_' | sort > "$log.environment.$ORDITO_HOOK"
if [ -n "$CONFIG_file" ]; then cat "$CONFIG_file" >> "$log"; fi
if [ -n "$CONFIG_secret" ]; then echo "printed $CONFIG_secret"; fi
if [ -e "$log.hold.$ORDITO_HOOK.execute" ]; then
  read line < "$log.hold.$ORDITO_HOOK.execute"
  echo "$CONFIG_word" >> "$log"
fi
if [ -n "$CONFIG_sleep" ]; then sleep "$CONFIG_sleep"; fi
printf '{{"said": "%s"}}' "$CONFIG_word" > "$ORDITO_OUTPUTS"
if [ -e "$log.fail.$ORDITO_HOOK" ]; then exit 1; fi
exit "${{CONFIG_exit:-0}}"
"""

UNSAYS = """log="{log}"
echo "$ORDITO_HOOK.undo" >> "$log"
cp "$ORDITO_EXECUTE_RESULT" "$log.result.$ORDITO_HOOK"
if [ -e "$log.hold.$ORDITO_HOOK" ]; then
  exec 9<> "$log.hold.$ORDITO_HOOK"
  : > "$log.held.$ORDITO_HOOK"
  read line <&9
fi
exit "${{CONFIG_undo_exit:-0}}"
"""


class Step(dict[str, object]):
    """A lifecycle step in a few words: its phase, its targets, and what else its policy says."""

    def __init__(self, phase: str, *targets: str, **more: object) -> None:
        config = {key: more.pop(key) for key in tuple(more) if key in CONFIG}
        properties = {"phase": phase, **more, **({"config": config} if config else {})}
        super().__init__(type=properties.pop("fqn", SAY), targets=list(targets), properties=properties)


CONFIG = frozenset({"exit", "undo_exit", "sleep", "word", "file", "secret"})


class Shop:
    """The service in a folder, and the log of what was done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shop"
        self.log = folder / "log"
        (self.folder / "scripts").mkdir(parents=True)
        (self.folder / "blocks").mkdir()
        for operation in (*OPERATIONS, "warm", "clear"):
            (self.folder / f"scripts/{operation}.sh").write_text(SCRIPT.format(operation=operation, log=self.log))
        (self.folder / "scripts/check.sh").write_text(CHECK.format(log=self.log))
        (self.folder / "blocks/say.sh").write_text(SAYS.format(log=self.log))
        (self.folder / "blocks/unsay.sh").write_text(UNSAYS.format(log=self.log))

    def write(
        self,
        steps: Mapping[str, Step],
        *,
        version: str = "1",
        nodes: Iterable[str] = ("api", "database"),
        release: str = "",
        **more: object,
    ) -> Path:
        """Write the template; gives its folder. ``version`` is that of the database, ``release`` that of the
        template."""
        templates: dict[str, object] = {}
        for name in nodes:
            operations: dict[str, object] = {o: f"scripts/{o}.sh" for o in OPERATIONS}
            operations["create"] = {
                "implementation": "scripts/create.sh",
                "inputs": {"version": version} if name == "database" else {},
                "outputs": {"address": ["SELF", "address"]},
            }
            templates[name] = {
                "type": "test.Part",
                "properties": {"version": version} if name == "database" else {},
                "interfaces": {"Standard": {"operations": operations}},
                **({"requirements": [{"dependency": "database"}]} if name == "api" else {}),
            }
        topology = {
            "node_templates": templates,
            "policies": [{name: dict(step)} for name, step in steps.items()],
            **more,
        }
        text = HEAD + (f"metadata: {{ template_name: shop, template_version: {release} }}\n" if release else "")
        text += write_yaml({"topology_template": topology})
        (self.folder / "service.yaml").write_text(text)
        return self.folder

    @property
    def done(self) -> list[str]:
        """What was done since it was asked last, in order."""
        found = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found

    def environment(self, step: str) -> dict[str, str]:
        """The variables that a step's block has found."""
        lines = Path(f"{self.log}.environment.{step}").read_text().splitlines()
        return dict(line.partition("=")[::2] for line in lines)
