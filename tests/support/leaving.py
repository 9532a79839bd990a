"""A small catalogue with one block, which says what it is given and can be undone."""

from __future__ import annotations

from pathlib import Path

FQN = "example.org/lifecycle/files@v1#Leave"
BLOCKS = f"""tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
data_types:
  example.Leave:
    derived_from: tosca.datatypes.Root
    properties:
      text: {{ type: string, description: What is written., constraints: [ min_length: 2 ] }}
      times: {{ type: integer, default: 1 }}
      token: {{ type: string, required: false, metadata: {{ sensitive: true }} }}
      like: {{ type: ordito.datatypes.ArchivePath, required: false }}
policy_types:
  {FQN}:
    derived_from: ordito.policies.LifecycleStep
    description: Leaves a file. It can be taken back.
    version: VERSION
    properties: {{ config: {{ type: example.Leave }} }}
node_types:
  {FQN}:
    derived_from: ordito.nodes.LifecycleBlock
    version: VERSION
    interfaces:
      Block:
        operations:
          execute: {{ implementation: {{ primary: scripts/leave.sh, dependencies: [ scripts/lib.sh ], timeout: 20 }} }}
          undo: scripts/undo.sh
"""
LEAVE = """. "$(dirname "$0")/lib.sh"
echo "leaving $CONFIG_text $CONFIG_times ${CONFIG_token:-} ${CONFIG_like:+$(cat "$CONFIG_like")}"
[ "$CONFIG_text" != fail ] || { echo "cannot" >&2; exit 3; }
leave "$CONFIG_text"
printf '{"place": "%s"}' "$FOLDER" > "$ORDITO_OUTPUTS"
"""
UNDO = """grep -q '"place"' "$ORDITO_EXECUTE_RESULT" && grep -q install "$ORDITO_CONTEXT" && echo undone
"""


def catalogue(folder: Path, version: str = "1.2.0", fqn: str = FQN) -> Path:
    """Write the catalogue into a folder; gives the folder."""
    scripts = folder / "scripts"
    scripts.mkdir(parents=True)
    (folder / "blocks.yaml").write_text(BLOCKS.replace("VERSION", version).replace(FQN, fqn))
    (scripts / "leave.sh").write_text(LEAVE)
    (scripts / "lib.sh").write_text('FOLDER=here\nleave() { echo "left $1"; }\n')
    (scripts / "undo.sh").write_text(UNDO)
    return folder
