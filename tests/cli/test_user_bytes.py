"""The user's part of `ensemble.yaml` is kept byte for byte, whatever the user writes there."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.ensemble.manifest import MARKER, ManifestParts, join, split
from tests.cli.program import Run
from tests.support.thorough import examples

SERVICE = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
NODE = "topology_template: { node_templates: { n: { type: tosca.nodes.Root } } }\n"

LINES = st.sampled_from(
    [
        *(
            "# a comment \t with a tab",
            "   # indented",
            "",
            "   ",
            "#",
            "# ====",
            "#==== What follows is written by me ====",
        ),
        *(
            "# ---- What follows is written by ordito: not at all ----",
            "# status:",
            "# ==== The status ends there. ====",
        ),
        "  # ==== What follows is written by ordito: an indented line is none ====",
        *("# Grüße, 日本語 \U0001f600", "# \u200b no line end", "# trailing blanks   "),
    ]
)
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def users(draw: st.DrawFn) -> bytes:
    """A user's part: the same meaning in many spellings."""
    end = draw(ENDS)
    before, between, after = draw(st.tuples(*[st.lists(LINES, max_size=3)] * 3))
    service = draw(st.sampled_from(["service.yaml", "'service.yaml'", '"service\\x2eyaml"', "!x service.yaml"]))
    document = draw(st.sampled_from([[], ["---"], ["%YAML 1.2", "---"]]))
    spec = draw(
        st.sampled_from(
            [
                ["spec:", f"  service: {service}"],
                [f"spec: {{ service: {service} }}"],
                ["? spec", f": {{service: {service}}}"],
            ]
        )
    )
    close = draw(st.sampled_from([[], ["..."], ["... # end"]]))
    lines = [*(before if not document else []), *document, *spec[:1], *between, *spec[1:], *close, *after]
    if len(spec) == 1:
        lines = [*(before if not document else []), *document, *spec, *close, *after]
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return (mark + end.join(lines) + draw(st.sampled_from([end, "", end + end]))).encode()


@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(user=users())
def test_deploying_and_undeploying_leave_it_alone(
    user: bytes, run: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("ensemble")
    (folder / "service.yaml").write_text(SERVICE + NODE)
    path = folder / "ensemble.yaml"
    path.write_bytes(user)
    for verb in ("deploy", "undeploy", "deploy"):
        done = run(verb, "--yes", "-e", folder)
        assert done.code == 0, (user, done.err)
        assert split(path.read_bytes()).user in {user, user + b"\n"}
        assert path.read_bytes().startswith(user)


@given(user=st.binary(max_size=200), machine=st.sampled_from([b"", MARKER + b"status: {}\n"]))
def test_any_bytes_are_cut_apart_as_they_were_put_together(user: bytes, machine: bytes) -> None:
    if b"# ====" in user:
        return
    found = split(join(ManifestParts(user, machine)))
    assert found.machine == machine
    assert found.user in {user, user + b"\n"}
