"""The examples in docs/ensemble.md are read without a finding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ordito.authoring.validate import ValidateRequest, validate
from ordito.base.diagnostics import InvalidDocument

PAGE = Path(__file__).parents[2] / "docs" / "ensemble.md"
EXAMPLES = re.findall(r"```yaml title=\"\w+/ensemble.yaml\"\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  shop.datatypes.Cloud:
    properties:
      url: { type: string }
      token: { type: string }
topology_template:
  inputs:
    port: { type: integer, required: false }
    region: { type: string, required: false }
    domain: { type: string, required: false }
    hosts: { type: list, entry_schema: string, required: false }
    url: { type: string, required: false }
    all: { type: list, entry_schema: string, required: false }
    size: { type: integer, required: false }
"""


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_REGION", "north")
    (tmp_path / "shop").mkdir()
    here = tmp_path / "here"
    here.mkdir()
    for folder in (tmp_path / "shop", here):
        (folder / "service.yaml").write_text(SERVICE)
    (here / "ensemble.yaml").write_text(example)
    (here / "shared").mkdir()
    (here / "shared" / "base.yaml").write_text("spec: { inputs: { port: 80 } }\n")
    try:
        found = validate(ValidateRequest(directory=str(here))).diagnostics
    except InvalidDocument as error:
        found = tuple(error.diagnostics)
    assert not [str(d) for d in found]
