"""CSARs: TOSCA.meta and what stands for it, the files of a service in an archive, and in a folder laid out as one."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ordito.app.services.files import check_files
from ordito.app.services.read import read_service
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.source.opening import open_package
from ordito.source.package import Package
from tests.source.archives import EMPTY, HEAD, META, NAMED, packed, with_meta

Found = list[tuple[str, str, str, str]]


def opened(path: Path) -> tuple[Package | None, Found]:
    """The package at a path, and what was found as (severity, code, place, message and hint)."""
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert (package is None) == diagnostics.has_errors
    return package, [
        (str(d.severity), d.code, str(d.span).removeprefix(str(path)), f"{d.message}; {d.hint}") for d in diagnostics
    ]


def read(path: Path, *, required: bool = False) -> Found:
    """What is found when the service at a path is validated."""
    diagnostics = Diagnostics()
    try:
        service = read_service(str(path), diagnostics)
        check_files(service, diagnostics, required=required)
        found = diagnostics.sorted()
    except InvalidDocument as error:
        found = error.diagnostics
    return [(str(d.severity), d.code, str(d.span).removeprefix(str(path)), f"{d.message}; {d.hint}") for d in found]


def laid_out(archive: Path) -> Path:
    """A folder that holds what an archive holds."""
    folder = archive.with_name(f"{archive.stem}-folder")
    with zipfile.ZipFile(archive) as packed_files:
        packed_files.extractall(folder)
    return folder


def test_the_two_forms(tmp_path: Path) -> None:
    """R-6.1-1, R-6.1-3, R-6-1: with TOSCA.meta and definitions anywhere; without, by the one YAML file at the root."""
    package, found = opened(with_meta(tmp_path / "a.csar", "definitions/x/shop.yaml"))
    assert found == []
    assert package is not None
    assert (package.main, package.name, package.is_csar, package.others) == ("definitions/x/shop.yaml", "a", True, ())
    assert package.has("definitions/x")
    assert not package.has("definitions/y")
    for name in ("b.csar", "b.zip", "b.CSAR"):
        package, found = opened(packed(tmp_path / name, {"shop.yml": NAMED, "other/types.yaml": EMPTY}))
        assert found == []
        assert package is not None
        assert (package.main, package.name, package.is_csar) == ("shop.yml", "b", True)


def test_the_specifications_example(tmp_path: Path) -> None:
    """R-6.2-7, R-6.2-8: the listing of §6.2.2, with the blank that its last line begins with."""
    files = {f"definitions/tosca_{name}.yaml": EMPTY for name in ("elk", "moose", "deer")}
    more = "Other-Definitions: definitions/tosca_moose.yaml\n definitions/tosca_deer.yaml\n"
    package, found = opened(with_meta(tmp_path / "x.csar", "definitions/tosca_elk.yaml", more, files))
    assert found == []
    assert package is not None
    assert package.others == ("definitions/tosca_moose.yaml", "definitions/tosca_deer.yaml")


def test_names_with_blanks(tmp_path: Path) -> None:
    """R-6.2-7: names with blanks stand in double quotes; the entry is a single name and needs none."""
    files = dict.fromkeys(("a b.yaml", "c.yaml", "my shop.yaml", "d e f.yaml"), EMPTY)
    more = 'Other-Definitions: "a b.yaml"  c.yaml\n\t"d e f.yaml"\n'
    for entry in ("my shop.yaml", '"my shop.yaml"'):
        package, found = opened(with_meta(tmp_path / "x.csar", entry, more, files))
        assert found == []
        assert package is not None
        assert package.main == "my shop.yaml"
        assert package.others == ("a b.yaml", "c.yaml", "d e f.yaml")


def test_neither_form(tmp_path: Path) -> None:
    """R-6.1-2, R-6.3-1: no TOSCA.meta, and no YAML file at the root or several."""
    cases = {
        "0 YAML files": {"definitions/shop.yaml": NAMED, "scripts/a.sh": ""},
        "pack what is in that folder": {"shop/shop.yaml": NAMED},
        "a.yaml, b.yml": {"a.yaml": NAMED, "b.yml": NAMED},
        "holds no TOSCA-Metadata/TOSCA.meta": {"TOSCA-Metadata/other": "", "a.yaml": NAMED},
        "it holds tosca-metadata/tosca.meta": {"tosca-metadata/tosca.meta": HEAD, "d/a.yaml": NAMED},
    }
    for said, files in cases.items():
        package, found = opened(packed(tmp_path / "x.csar", files))
        assert package is None
        assert [code for _, code, _, _ in found] == ["no-entry"]
        assert said in found[0][3]


def test_the_meta_file_wins(tmp_path: Path) -> None:
    """R-6.1-4: with a TOSCA.meta other files at the root mean nothing."""
    path = with_meta(tmp_path / "x.csar", "d/b.yaml", files={"a.yaml": EMPTY, "c.yaml": "", "d/b.yaml": EMPTY})
    package, found = opened(path)
    assert found == []
    assert package is not None
    assert package.main == "d/b.yaml"


LINES = ("TOSCA-Meta-File-Version: 1.1", "CSAR-Version: 1.1", "Created-By: A. Author", "Entry-Definitions: a.yaml")
MEANT = [
    # what TOSCA.meta holds, and what is found: severity, code, place and words of the message
    (LINES, None),
    (("", " ", *LINES), None),
    ([f"{line}\r" for line in LINES], None),
    ([line.replace(": ", ":") for line in LINES], None),
    ([line.replace(": ", " :   ") for line in LINES], None),
    ((*LINES[:3], "Entry-Definitions:", " a.yaml"), None),
    ((*LINES[:3], "Entry-Definitions: ./b/../a.yaml"), None),
    (LINES[1:], ("error", "missing-keyname", "1:1", "TOSCA-Meta-File-Version: 1.1")),
    ((LINES[0], *LINES[2:]), ("error", "missing-keyname", "1:1", "CSAR-Version: 1.1")),
    ((*LINES[:2], LINES[3]), ("warning", "missing-keyname", "1:1", "Created-By")),
    (LINES[:3], ("error", "missing-keyname", "1:1", "Entry-Definitions")),
    ((*LINES[:2], "Created-By:", LINES[3]), ("warning", "missing-keyname", "3:1", "has no value")),
    ((*LINES[:3], "Entry-Definitions: "), ("error", "missing-keyname", "4:1", "has no value")),
    (("TOSCA-Meta-File-Version: 1.0", *LINES[1:]), ("warning", "deprecated", "1:26", "write 1.1")),
    (("TOSCA-Meta-File-Version: 1.2", *LINES[1:]), ("error", "bad-value", "1:26", "write 1.1")),
    ((LINES[0], "CSAR-Version: 1.0", *LINES[2:]), ("warning", "deprecated", "2:15", "write 1.1")),
    ((LINES[0], "CSAR-Version:   2.0", *LINES[2:]), ("error", "bad-value", "2:17", 'not "2.0"')),
    ((*LINES[:3], "Entry-Definitions: b.yaml"), ("error", "file-not-found", "4:20", "a.yaml?")),
    ((*LINES[:3], "Entry-Definitions: ../a.yaml"), ("error", "outside-package", "4:20", "leads out")),
    ((*LINES[:3], "Entry-Definitions: /a.yaml"), ("error", "outside-package", "4:20", "leads out")),
    ((*LINES[:3], "Entry-Definitions: TOSCA-Metadata"), ("error", "file-not-found", "4:20", "not a file")),
    ((*LINES, "Other-Definitions: a.yaml", "  b.yaml"), ("error", "file-not-found", "6:3", "b.yaml")),
    ((*LINES, 'Other-Definitions: a.yaml "b c.yaml'), ("error", "wrong-form", "5:27", "not closed")),
    ((*LINES, "Other-Definitions: a.yaml", "a.yaml"), ("error", "wrong-form", "6:1", "begins with a blank")),
    ((*LINES, "Created-By: B"), ("error", "duplicate-key", "5:1", "twice")),
    ((" x", *LINES), ("error", "wrong-form", "1:2", "no key above")),
    ((*LINES, "Entry-Definition: a.yaml"), ("warning", "unknown-keyname", "5:1", '"Entry-Definitions"')),
    ((*LINES, "My-Key: x"), ("warning", "unknown-keyname", "5:1", "below an empty line")),
    ((*LINES, "toscaKey: x"), ("warning", "reserved-name", "5:1", "reserved")),
    ((*LINES, "", "TOSCA-Key: x"), ("warning", "reserved-name", "6:1", "reserved")),
    ((*LINES, "", "My-Key: x", "  more", "Name: y", "", "My-Key: z"), None),
    (("", "", *LINES[:2], LINES[3]), ("warning", "missing-keyname", "3:1", "Created-By")),
    ((), ("error", "missing-keyname", "1:1", "TOSCA-Meta-File-Version")),
]


@pytest.mark.parametrize(("lines", "expected"), MEANT)
def test_meta_file(tmp_path: Path, lines: tuple[str, ...], expected: tuple[str, str, str, str] | None) -> None:
    """R-6.2-1, R-6.2-2, R-6.2-3, R-6.2-4, R-6.2-11, R-6.2.1-1, R-6.2.1-2, R-6.2.1-3: what TOSCA.meta must and may
    hold, in an archive and in a folder."""
    archive = packed(tmp_path / "x.csar", {META: "\n".join(lines), "a.yaml": EMPTY})
    for path, separator in ((archive, ":/"), (laid_out(archive), "/")):
        found = opened(path)[1]
        if expected is None:
            assert found == []
            continue
        severity, code, place, words = expected
        assert found[0][:3] == (severity, code, f"{separator}{META}:{place}")
        assert words in found[0][3]
        assert len(found) == (1 if lines else 4)


def test_what_the_blocks_say_is_kept(tmp_path: Path) -> None:
    """R-6.2.1-1: custom keys of further blocks are kept."""
    more = "\nMy-Key: x\n  y\nOther: z\n\nMy-Key: w\n"
    package, found = opened(with_meta(tmp_path / "x.csar", "a.yaml", more))
    assert found == []
    assert package is not None
    assert package.about is not None
    assert package.about.author == "A. Author"
    assert package.about.block["Entry-Definitions"] == "a.yaml"
    assert package.about.further == ({"My-Key": "x y", "Other": "z"}, {"My-Key": "w"})


def test_strange_meta_files(tmp_path: Path) -> None:
    """R-6.2-1: any bytes are read, or refused with a reason; a very large file is not."""
    for data, code in ((b"\xff\xfe", "encoding"), (b"x" * (2 << 20), "too-large"), (b"\0" * 50, "missing-keyname")):
        package, found = opened(packed(tmp_path / "x.csar", {META: data, "a.yaml": EMPTY}))
        assert package is None
        assert code in [found_code for _, found_code, _, _ in found]


@pytest.mark.parametrize(
    ("written", "missing"),
    [
        ("metadata: { template_name: shop, template_version: 1.0 }", ()),
        ("metadata: { template_name: shop, template_version: '1' }", ()),
        ("metadata: { template_name: shop }", ("template_version",)),
        ("metadata: { template_version: 1.0 }", ("template_name",)),
        ("metadata: { template_name: '', template_version: 1.0 }", ("template_name",)),
        ("metadata: ~", ("template_name", "template_version")),
        ("description: x", ("template_name", "template_version")),
    ],
)
def test_metadata_without_meta_file(tmp_path: Path, written: str, missing: tuple[str, ...]) -> None:
    """R-6.3-2: template_name and template_version must be given where there is no TOSCA.meta."""
    path = packed(tmp_path / "x.csar", {"shop.yaml": f"{EMPTY}{written}\n"})
    package, found = opened(path)
    assert (package is None) == bool(missing)
    if missing:
        assert [code for _, code, _, _ in found] == ["missing-keyname"]
        assert all(name in found[0][3] for name in missing)
        assert found[0][2] == (":/shop.yaml:2:1" if "metadata" in written else ":/shop.yaml:1:1")


def test_what_metadata_says_of_the_archive(tmp_path: Path) -> None:
    """R-6.3-3, R-6.3-5, R-6.3-4: version and author come from the metadata, a version is text; nothing else is known,
    and so no other definitions."""
    package, _ = opened(packed(tmp_path / "x.csar", {"shop.yaml": NAMED}))
    assert package is not None
    assert package.about is not None
    assert (package.about.version, package.about.author) == ("1.0", "A. Author")
    assert package.others == ()


SHOP = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: shop, template_version: 1.0.0 }
imports:
  - ../types/nodes.yaml
topology_template:
  node_templates:
    app:
      type: App
"""
NODES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports:
  - base/more.yaml
node_types:
  App:
    derived_from: More
    interfaces:
      Standard:
        operations:
          create: ../scripts/create.sh
"""
MORE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  More:
    derived_from: tosca.nodes.Root
"""
SHOP_FILES = {
    "definitions/shop.yaml": SHOP,
    "types/nodes.yaml": NODES,
    "types/base/more.yaml": MORE,
    "scripts/create.sh": "echo\n",
}


def test_imports_and_artifacts(tmp_path: Path) -> None:
    """R-6.2-5, R-6.2-6, R-3.6.8-5, R-3.6.7-4: files are found relative to the file that names them, listed nowhere."""
    archive = with_meta(tmp_path / "x.csar", "definitions/shop.yaml", files=SHOP_FILES)
    assert read(archive) == []
    assert read(laid_out(archive)) == []
    service = read_service(str(archive), Diagnostics()).service
    create = service.nodes["app"].interfaces["Standard"].operations["create"].implementation
    assert create is not None
    assert create.file == "scripts/create.sh"
    assert sorted(service.files) == ["definitions/shop.yaml", "types/base/more.yaml", "types/nodes.yaml"]


def test_missing_artifacts(tmp_path: Path) -> None:
    """R-3.6.7-4, R-6-2: a file that an archive lacks is an error; where a bare file names it, a warning."""
    files = {name: text for name, text in SHOP_FILES.items() if name != "scripts/create.sh"}
    archive = with_meta(tmp_path / "x.csar", "definitions/shop.yaml", files=files)
    folder = laid_out(archive)
    for path, place in ((archive, ":/types/nodes.yaml:10:19"), (folder, "/types/nodes.yaml:10:19")):
        ((severity, code, at, message),) = read(path)
        assert (severity, code, at) == ("error", "missing-artifact", place)
        assert "scripts/create.sh" in message
    assert [found[:2] for found in read(folder / "definitions" / "shop.yaml")] == [("warning", "missing-artifact")]


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        ("definitions/shop.yaml", "../types/nodes.yaml", "../../types/nodes.yaml", "outside-package"),
        ("types/base/more.yaml", "node_types:", "imports: [ ../../../x.yaml ]\nnode_types:", "outside-package"),
        ("types/nodes.yaml", "../scripts/create.sh", "../../create.sh", "outside-package"),
        ("types/nodes.yaml", "../scripts/create.sh", "/bin/create.sh", "missing-artifact"),
        ("definitions/shop.yaml", "../types/nodes.yaml", "/types/nodes.yaml", "absolute-import"),
    ],
)
def test_paths_that_leave_the_archive(tmp_path: Path, file: str, old: str, new: str, code: str) -> None:
    """R-3.6.8-5, R-6.1-4: paths inside of an archive stay there."""
    (tmp_path / "create.sh").write_text("x")
    (tmp_path / "x.yaml").write_text(EMPTY)
    files = {**SHOP_FILES, file: SHOP_FILES[file].replace(old, new)}
    archive = with_meta(tmp_path / "x.csar", "definitions/shop.yaml", files=files)
    for path in (archive, laid_out(archive)):
        found = read(path)
        assert [(severity, found_code) for severity, found_code, _, _ in found] == [("error", code)]


ABSTRACT = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ types.yaml ]
topology_template:
  node_templates:
    db:
      type: my.Database
      directives: [ substitute ]
"""
DATABASE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ types.yaml ]
topology_template:
  substitution_mappings:
    node_type: my.Database
  node_templates:
    engine:
      type: tosca.nodes.Root
"""
PLAIN = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    alone: { type: tosca.nodes.Root }
"""
DATABASE_TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Database: { derived_from: tosca.nodes.Root }
"""


def test_other_definitions_substitute(tmp_path: Path) -> None:
    """R-6.2-9, R-6.2-10: what is listed stands for nodes and is deployed by nothing else; what cannot is ignored."""
    main = ABSTRACT.replace("imports:", "metadata: { template_name: x, template_version: 1.0.0 }\nimports:")
    files = {"main.yaml": main, "types.yaml": DATABASE_TYPES, "db.yaml": DATABASE, "plain.yaml": PLAIN}
    archive = with_meta(tmp_path / "x.csar", "main.yaml", "Other-Definitions: db.yaml plain.yaml\n", files)
    assert [found[:3] for found in read(archive)] == [("note", "ignored-topology", ":/plain.yaml:2:1")]
    service = read_service(str(archive), Diagnostics()).service
    assert list(service.nodes) == ["db/engine"]
    assert "db.yaml" in service.files
    alone = with_meta(tmp_path / "y.csar", "main.yaml", files=files)
    assert [code for _, code, _, _ in read(alone)] == ["substituted-later"]


def test_no_other_definitions_without_a_meta_file(tmp_path: Path) -> None:
    """R-6.3-4: without TOSCA.meta nothing says which files substitute."""
    metadata = "metadata: { template_name: x, template_version: 1 }\n"
    main = ABSTRACT.replace("imports:", f"{metadata}imports:").replace("types.yaml", "d/types.yaml")
    files = {"main.yaml": main, "d/types.yaml": DATABASE_TYPES, "d/db.yaml": DATABASE}
    assert "substituted-later" in [code for _, code, _, _ in read(packed(tmp_path / "x.csar", files))]
