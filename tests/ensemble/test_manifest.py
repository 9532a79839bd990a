"""`ensemble.yaml`: the user's part stays as it is, and what was written is read back without loss."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.base.change_ids import ChangeIds
from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import (
    MARKER,
    ManifestParts,
    join,
    read_manifest,
    read_state,
    split,
    state_digest,
    write_manifest,
    write_user_part,
)
from ordito.ensemble.status import LastJob, Status
from ordito.ensemble.store import open_ensemble, read_ensemble
from ordito.ensemble.yaml_writer import block, flow
from ordito.instances.records import Applied, Delta, Instance, Link, Snapshot, StatusReason
from ordito.model.choices import Choices, SelectedNode
from ordito.work.records import GivenValue
from tests.ensemble.jobs import files
from tests.support.thorough import examples

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
odd_texts = st.sampled_from(
    [
        "yes",
        "No",
        "null",
        "~",
        "1.0",
        "0x1f",
        "1_000",
        "12:30:00",
        "2020-01-01",
        "a: b",
        "a #b",
        "- x",
        "{}",
        "<<",
        "=",
        "",
    ]
)
values = st.recursive(
    texts | odd_texts | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | odd_texts, inner, max_size=3),
    max_leaves=8,
)
maps = st.dictionaries(texts | odd_texts, values, max_size=4)
words = st.sampled_from(["Standard.create", "Standard.start", "db::port", "Configure.add_target"])
changes = st.sampled_from(["A6BKKQCN0001", "A6BKKQCN0002", "A6BKKQCN00ff"])
applied = st.dictionaries(words, st.builds(Applied, changes, st.sampled_from(["", "0a1b", "1234", "1e10"])), max_size=3)
failed = st.dictionaries(words, changes, max_size=2)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    names = [f"{node}_{number}" for node in ("web", "yes", "my app") for number in (1, 2, 10)]
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=6))
    instances = [
        Instance(
            id=name,
            node=name.rpartition("_")[0],
            index=draw(st.integers(0, 3)),
            host=draw(st.sampled_from(["", *chosen])),
            state=draw(st.sampled_from(["initial", "started", "deleted"])),
            local=draw(st.sampled_from(["ok", "unknown", "absent"])),
            created=draw(st.just("") | changes),
            applied=draw(applied),
            failed=draw(failed),
            last_config_change=draw(st.just("") | changes),
            last_state_change=draw(st.just("") | changes),
            drift=draw(st.dictionaries(st.sampled_from(("status", "attribute port")), st.just("ok started"))),
            before_failure=draw(st.dictionaries(st.sampled_from(("Own.work", "Own.rest")), st.just("ok"))),
            status_reason=draw(st.sampled_from(StatusReason)),
            with_host=draw(st.booleans()),
        )
        for name in chosen
    ]
    ends = [*chosen, "gone_1"]
    pairs = draw(st.lists(st.tuples(st.sampled_from(ends), st.sampled_from(ends)), unique=True, max_size=4))
    links = [Link(f"{a}.db.{b}", "web.db", a, b, "initial", draw(applied), draw(failed)) for a, b in pairs]
    entities = [*chosen, *(link.id for link in links), "web.db@source:web_1"]
    some = st.dictionaries(st.sampled_from(entities), maps.filter(bool), max_size=4)
    snapshot = Snapshot()
    snapshot.apply(
        Delta(
            tuple(instances),
            tuple(links),
            attributes=draw(some),
            outputs=draw(
                st.dictionaries(st.sampled_from(entities), st.dictionaries(words, maps, min_size=1), max_size=3)
            ),
        )
    )
    snapshot.highest.update(draw(st.dictionaries(st.sampled_from(["web", "left"]), st.integers(20, 30), max_size=2)))
    return snapshot


statuses = st.builds(
    Status,
    service=st.just("ab" * 32),
    main=texts,
    revision=st.integers(0, 5),
    last_job=st.none() | st.builds(LastJob, changes, st.just("deploy"), st.just("ok")),
    last_change=st.just("") | changes,
    ensemble=st.sampled_from(["", "5f0c1d2e3a4b"]),
    inputs=maps,
    outputs=maps,
    counts=st.dictionaries(texts, st.integers(0, 9), max_size=2),
    given=st.dictionaries(texts, st.builds(GivenValue, values, values), max_size=2),
    choices=st.builds(
        Choices,
        substitutes=st.dictionaries(texts, texts, max_size=2),
        selected=st.dictionaries(texts, st.builds(SelectedNode, texts, texts, maps), max_size=2),
        requirements=st.dictionaries(texts, texts, max_size=2),
    ),
)


def content(snapshot: Snapshot) -> tuple[object, ...]:
    return (snapshot.instances, snapshot.links, snapshot.attributes, snapshot.outputs, snapshot.highest)


@given(snapshots(), statuses, st.sampled_from([10_000, 0]))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, snapshot: Snapshot, status: Status, largest: int
) -> None:
    """All that is known survives, in one file or in one per node; and is the same bytes when written again."""
    layout = Layout(tmp_path_factory.mktemp("e"))
    digest = write_manifest(layout, snapshot, status, {}, largest=largest)
    found, found_status = read_state(layout)
    assert content(found) == content(snapshot)
    assert found_status == status
    assert state_digest(layout) == digest
    before = layout.manifest.read_bytes()
    assert write_manifest(layout, found, found_status, {}, largest=largest) == digest
    assert layout.manifest.read_bytes() == before


@given(maps)
def test_yaml_means_what_was_meant(data: dict[str, object]) -> None:
    """Every text stays a text, to readers of YAML 1.1 too, in both styles."""
    assert yaml.load("".join(block(data)) or "{}", Loader=yaml.CSafeLoader) == data
    assert yaml.load(flow(data), Loader=yaml.CSafeLoader) == data


@given(values)
def test_the_journals_bytes_hold_any_value(value: object) -> None:
    assert Decoder(object)(encode(value)) == value


def test_numbers_that_are_none_are_kept_in_both_styles() -> None:
    data = {"a": [float("inf"), float("-inf")], "b": 1e16, "c": 10**30}
    for text in ("".join(block(data)), flow(data)):
        assert yaml.safe_load(text) == data


@given(st.binary().filter(lambda user: b"# ====" not in user), st.binary())
def test_the_users_part_is_kept_byte_for_byte(user: bytes, rest: bytes) -> None:
    machine = MARKER + rest.replace(b"# ====", b"")
    found = split(join(ManifestParts(user, machine)))
    assert found.machine == machine
    assert found.user == (user if user.endswith(b"\n") or not user else user + b"\n")
    assert join(found) == found.user + machine


def test_comments_and_odd_style_above_the_line_stay(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    user = b"# mine\r\nspec:   {service: 'x.yaml' }  # odd\n\n\n"
    write_user_part(layout, user)
    write_manifest(layout, Snapshot(), Status(revision=1), {})
    write_manifest(layout, Snapshot(), Status(revision=2), {})
    found = read_manifest(layout)
    assert found is not None
    assert found.user == user
    write_user_part(layout, b"spec: {}\n")
    assert read_state(layout)[1].revision == 2


def test_ready_state_always_shows_all_three(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(Delta((Instance("web_1", "web", 0, state="started", local="ok"),)))
    write_manifest(layout, snapshot, Status(), {"web_1": "error"})
    data = yaml.safe_load(layout.manifest.read_text())
    assert data["status"]["instances"]["web_1"]["readyState"] == {
        "local": "ok",
        "effective": "error",
        "state": "started",
    }


def test_many_nodes_share_files_and_many_instances_have_one(tmp_path: Path) -> None:
    """So that neither ten thousand nodes are as many files, nor all instances of one node share a line with others."""
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    few = [Instance(f"n{number}_1", f"n{number}", 0) for number in range(500)]
    many = [Instance(f"web_{number}", "web", number) for number in range(1, 1_102)]
    snapshot.apply(Delta((*few, *many)))
    digest = write_manifest(layout, snapshot, Status(), {}, largest=100)
    assert [path.name for path in layout.status.glob("*.yaml")] == ["web.yaml"]
    assert 32 < len(list(layout.shared.iterdir())) <= 64
    assert state_digest(layout) == digest
    assert content(read_state(layout)[0]) == content(snapshot)
    before = files(tmp_path)
    snapshot.apply(Delta((Instance("n7_2", "n7", 1),)))
    write_manifest(layout, snapshot, Status(), {}, largest=100)
    changed = {name for name, text in files(tmp_path).items() if before.get(name) != text}
    assert changed == {"ensemble.yaml", layout.shared_part("n7").relative_to(tmp_path).as_posix()}


def test_a_small_ensemble_leaves_no_files_of_a_large_one(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(Delta((Instance("web_1", "web", 0), Instance("db_1", "db", 0))))
    write_manifest(layout, snapshot, Status(), {}, largest=1)
    assert set(layout.shared.iterdir()) == {layout.shared_part("db"), layout.shared_part("web")}
    layout.shared_part("web").write_text(
        "web_1:\n  template: web\n  index: 0\n  readyState: {local: ok, effective: ok, state: started}\n"
    )
    assert state_digest(layout) == "changed"
    assert read_state(layout)[0].instances["web_1"].local == "ok"
    write_manifest(layout, snapshot, Status(), {})
    assert not layout.status.exists()


def test_files_of_the_user_in_the_folder_of_the_status_are_left_alone(tmp_path: Path) -> None:
    """A service may lie beside, with a folder of that name."""
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(Delta((Instance("web_1", "web", 0), Instance("db_1", "db", 0))))
    layout.shared.mkdir(parents=True)
    own = {layout.status / "page.yaml": "title: Status\n", layout.shared / "notes.yaml": "", layout.status / "a.sh": ""}
    for path, text in own.items():
        path.write_text(text)
    write_manifest(layout, snapshot, Status(), {}, largest=1)
    assert layout.shared_part("web").exists()
    write_manifest(layout, snapshot, Status(), {})
    assert {path: path.read_text() for path in layout.status.rglob("*") if path.is_file()} == own


def test_an_empty_folder_of_the_user_is_left_alone(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.status.mkdir()
    write_manifest(layout, Snapshot(), Status(), {})
    assert layout.status.is_dir()


def test_no_part_of_the_status_takes_the_place_of_a_file_of_the_user(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(Delta((Instance("web_1", "web", 0), Instance("db_1", "db", 0))))
    path = layout.shared_part("web")
    path.parent.mkdir(parents=True)
    path.write_text("mine: true\n")
    with pytest.raises(EnsembleError, match=r"was not written by ordito") as caught:
        write_manifest(layout, snapshot, Status(), {}, largest=1)
    assert "jobs resume" in caught.value.hint
    assert path.read_text() == "mine: true\n"
    assert not layout.manifest.exists()


def test_parts_that_a_killed_process_has_left_are_known_by_their_mark(tmp_path: Path) -> None:
    """It was killed after `ensemble.yaml` was written, and before the files went that this does not name any more."""
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(Delta((Instance("web_1", "web", 0), Instance("db_1", "db", 0))))
    write_manifest(layout, snapshot, Status(), {}, largest=1)
    left = layout.shared_part("web").read_bytes()
    write_manifest(layout, snapshot, Status(), {})
    layout.shared.mkdir(parents=True)
    layout.shared_part("web").write_bytes(left)
    write_manifest(layout, snapshot, Status(), {})
    assert not layout.status.exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("local: ok", "local: [ok", "ensemble.yaml:"),
        ("local: ok", "local: 3", "status.instances"),
        ("index: 0", "indx: 0", "indx"),
        ("web_1:", "web:", "'web' is not the id of an instance"),
        ("format: ordito.status/4", "format: ordito.status/9", "ordito.status/9"),
        ("status:", "other:", "`status:`"),
    ],
)
def test_a_badly_edited_machine_part_is_explained(tmp_path: Path, old: str, new: str, said: str) -> None:
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(Delta((Instance("web_1", "web", 0, state="started", local="ok"),)))
    write_manifest(layout, snapshot, Status(), {})
    text = layout.manifest.read_text()
    assert old in text
    layout.manifest.write_text(text.replace(old, new))
    with pytest.raises(EnsembleError) as error:
        read_state(layout)
    assert said in error.value.message
    assert error.value.hint


def test_two_marker_lines_are_an_error(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.manifest.write_bytes(MARKER + b"status: {}\n" + MARKER)
    with pytest.raises(EnsembleError, match="2 marker lines"):
        read_state(layout)


def test_rows_are_read_while_the_file_is_theirs_and_the_file_when_it_changed(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(
        Delta((Instance("web_1", "web", 0, state="started", local="ok"),), attributes={"web_1": {"n": 10**30}})
    )
    write_manifest(layout, snapshot, Status(revision=3), {})
    with open_ensemble(tmp_path, command="x") as ensemble:
        assert content(ensemble.snapshot) == content(snapshot)
        assert ensemble.journal.is_truth(state_digest(layout))
    with open_ensemble(tmp_path, command="x") as ensemble:
        assert content(ensemble.snapshot) == content(snapshot)
        assert ensemble.status.revision == 3
    layout.manifest.write_text(layout.manifest.read_text().replace("local: ok", "local: degraded"))
    for opened in (read_ensemble(tmp_path), open_ensemble(tmp_path, command="x"), read_ensemble(tmp_path)):
        with opened as ensemble:
            assert ensemble.snapshot.instances["web_1"].local == "degraded"


def test_a_manifest_that_is_gone_is_not_taken_for_an_empty_ensemble(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    snapshot.apply(Delta((Instance("web_1", "web", 0),)))
    write_manifest(layout, snapshot, Status(), {})
    with open_ensemble(tmp_path, command="x"):
        pass
    layout.manifest.unlink()
    with pytest.raises(EnsembleError, match="knows instances"):
        open_ensemble(tmp_path, command="x")


def test_records_of_jobs_without_a_manifest_are_not_taken_for_an_empty_ensemble(tmp_path: Path) -> None:
    """As in a clone whose conflict in `ensemble.yaml` was resolved by leaving out the machine part."""
    layout = Layout(tmp_path)
    layout.manifest.write_text("spec: {}\n", encoding="utf-8")
    layout.jobs.mkdir()
    layout.job_record("A0AP4P9C0000").write_text("x", encoding="utf-8")
    for opened in (read_ensemble, lambda root: open_ensemble(root, command="x"), read_ensemble):
        with pytest.raises(EnsembleError, match="A0AP4P9C0000 is the last") as found:
            opened(tmp_path)
        assert "jobs replay --write" in found.value.hint


@pytest.mark.parametrize("largest", [1, 100])
def test_each_damaged_line_of_the_files_is_noticed(tmp_path: Path, largest: int) -> None:
    """In `ensemble.yaml` and in the files below `status`: it cannot be read, or it is said that no job has done it."""
    layout = Layout(tmp_path)
    snapshot = Snapshot()
    row = Instance("web_1", "web", 0, state="started", local="ok", applied={"create": Applied("A1", "d1")})
    snapshot.apply(Delta((row, Instance("db_1", "db", 0)), attributes={"web_1": {"port": 80, "name": "front"}}))
    status = Status(revision=1, last_job=LastJob("A1", "deploy", "ok"))
    write_manifest(layout, snapshot, status, {}, largest=largest)
    with open_ensemble(tmp_path, command="x") as ensemble:
        assert not ensemble.is_edited
    tried = 0
    for path in (layout.manifest, *layout.status.rglob("*.yaml")):
        whole = path.read_bytes()
        lines = whole.splitlines(keepends=True)
        for at in range(1, len(lines)):
            for where in range(0, len(lines[at]), 7):
                damaged = lines[at][:where] + b"!" + lines[at][where + 1 :]
                path.write_bytes(b"".join([*lines[:at], damaged, *lines[at + 1 :]]))
                tried += 1
                with suppress(EnsembleError), read_ensemble(tmp_path) as ensemble:
                    assert ensemble.is_edited, damaged
        path.write_bytes(whole)
    assert tried > 20
    with read_ensemble(tmp_path) as ensemble:
        assert not ensemble.is_edited


def test_what_another_job_has_written_is_not_edited(tmp_path: Path) -> None:
    """As after a pull: the files name another last job, which has a record."""
    layout = Layout(tmp_path)
    write_manifest(layout, Snapshot(), Status(last_job=LastJob("A1", "deploy", "ok")), {})
    with open_ensemble(tmp_path, command="x"):
        pass
    pulled = ChangeIds.begin(0.0, tasks=0, last="", existing=[]).job
    write_manifest(layout, Snapshot(), Status(last_job=LastJob(pulled, "deploy", "ok")), {})
    with read_ensemble(tmp_path) as ensemble:
        assert ensemble.is_edited
    layout.jobs.mkdir()
    layout.job_record(pulled).touch()
    with read_ensemble(tmp_path) as ensemble:
        assert not ensemble.is_edited
