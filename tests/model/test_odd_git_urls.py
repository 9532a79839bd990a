"""URLs that begin as those of git repositories and are none: each is an error with its place, on every way in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.program import ordito

PLACES = {
    "repository": 'repositories: {{ r: {{ url: "{}" }} }}\nimports: [ {{ file: a.yaml, repository: r }} ]\n',
    "import": 'imports: [ "{}" ]\n',
    "artifact": "topology_template: {{ node_templates: {{ a: {{ type: Root, artifacts:"
    ' {{ f: {{ type: tosca.artifacts.File, file: "{}" }} }} }} }} }}\n',
}


@pytest.mark.parametrize("url", ["git+", "git+--upload-pack=touch x", "git+ext::sh -c touch% x"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_repository_is_an_error_and_runs_nothing(tmp_path: Path, place: str, url: str) -> None:
    text = "tosca_definitions_version: tosca_simple_yaml_1_3\n" + PLACES[place].format(url)
    (tmp_path / "service.yaml").write_text(text)
    done = ordito(tmp_path, "validate", "service.yaml", "--fetch")
    assert done.code == 3, done.both
    assert "unsupported-url" in done.both
    assert "git repositories are fetched by https, http, ssh, file" in done.both
    assert not (tmp_path / "x").exists()
