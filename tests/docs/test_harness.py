"""What is wrong with a page is noticed, and said with its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs.matching import matches
from tests.docs.page import Mistake, read_page
from tests.docs.reading import carry_out

GOOD = """\
<!-- run: hidden=here -->
# A page

`ordito deploy SERVICE -i NAME=VALUE --yes` deploys, as `ordito jobs list` shows; `ordito ...` is the program.

```sh
mkdir -p "my app"
```

```yaml title="my app/service.yaml" hl_lines="2"
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    port:
      type: integer
      default: 1
```

```yaml
port:
  # ...
  default: 1
```

```yaml
tosca_definitions_version: tosca_simple_yaml_1_3
description: It stands for itself.
```

- In a list:

  ```sh title="count.sh"
  #!/bin/sh
  echo "one"
  echo "two $1" >&2
  echo "three"
  ```

```sh
# Words over several lines.
cd "my app"
ordito validate \\
  service.yaml
cat >text <<END
one
END
for each in 1 2; do
  x=$each
done
```

```console
$ echo "$x $hidden" | cat
2 here
$ ../count.sh \\
    now
one
...
three
$ ordito validate nothing.yaml
...nothing.yaml...
...
$ echo $?
3
$ cat <<END
> within
> END
within
$ touch /tmp/x && ls /tmp/*
/tmp/x
$ sleep 300 & kill -9 $!; wait $!
$ echo $?
137
```

```text
+-- a tree
```
"""


def read(text: str, folder: Path) -> None:
    """Carry out a page of this text."""
    place = folder / "page.md"
    place.write_text(text, encoding="utf-8")
    carry_out(read_page(place, "page.md"), folder / "page")


def test_a_page_that_does_what_it_says(tmp_path: Path) -> None:
    read(GOOD, tmp_path)
    assert (tmp_path / "page/tmp/x").exists()
    assert (tmp_path / "page/work/my app/text").read_text() == "one\n"


WRONG = {
    "output": (
        "```console\n$ echo one; echo two\none\n```\n",
        "the page shows:\n  one\nbut it printed:\n  one\n  two",
    ),
    "too much output": ("```console\n$ echo one\none\ntwo\n```\n", "page.md:2: "),
    "exit code": ("text\n\n```sh\ntrue\nfalse\n```\n", "page.md:5: false\nended with 1"),
    "exit code in a console": ("```console\n$ false\n```\n", "page.md:2: false\nended with 1"),
    "another exit code": ("```console\n$ false\n$ echo $?\n2\n```\n", "page.md:3: echo $?"),
    "exit": ("```sh\nexit 0\n```\n", "page.md:2: exit 0\nit ended the shell"),
    "half a command": ("```sh\necho 'one\n```\n", "page.md:2: this command does not end"),
    "option": ("Say\n`ordito deploy --nothing`.\n", 'page.md:2: `ordito deploy --nothing`: "deploy" has no option'),
    "verb": ("`ordito jobs lst`\n", 'page.md:1: `ordito jobs lst`: there is no verb "lst"'),
    "arguments": ("`ordito deploy ONE TWO`\n", "takes 1 arguments at most"),
    "fragment": ("```yaml\nof: nothing that is anywhere\n```\n", "page.md:2: this is part of no file"),
    "template": ("```yaml\ntosca_definitions_version: tosca_simple_yaml_1_3\nx: 1\n```\n", "page.md:2: this template"),
    "command in text": ("```text\n$ true\n```\n", "page.md:2: commands stand in blocks"),
    "indented command": ("    ordito status\n", "page.md:1: a command stands in an indented block"),
    "no language": ("```\nx\n```\n", "page.md:1: say what this block is"),
    "not closed": ("```sh\ntrue\n", "page.md:1: this block is not closed"),
    "picture": ("```mermaid\ngraph TD\n```\n", "page.md:2: mermaid is drawn"),
    "folder": ('```sh title="x/y"\n```\n', "page.md:2: no folder x is there for x/y; show `mkdir -p` before"),
    "place": ('```sh title="../x"\n```\n', "page.md:2: ../x lies outside"),
    "need": ("<!-- needs: luck -->\n", "page.md:1: what is needed is one of"),
    "hidden": ("<!-- run: false -->\n", "page.md:1: false\nended with 1"),
    "output before a command": ("```console\nout\n```\n", "page.md:2: a console begins with a command"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said(what: str, tmp_path: Path) -> None:
    text, said = WRONG[what]
    with pytest.raises(Mistake) as found:
        read(text, tmp_path)
    assert said in str(found.value)


def test_what_a_page_leaves_running_is_found_and_ended(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=r"still run, and were killed:\n  [0-9]+ sleep 300") as found:
        read("```sh\n(setsid sleep 300 >&2 &)\n```\n", tmp_path)
    number = int(str(found.value).splitlines()[1].split()[0])
    assert not Path(f"/proc/{number}").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may listen at port 22")
def test_hosts_stand_behind_the_addresses_of_a_page(tmp_path: Path) -> None:
    read(
        "<!-- needs: ssh-hosts 192.0.2.11 192.0.2.12 -->\n"
        "```console\n"
        "$ ssh -o StrictHostKeyChecking=no -i ~/.ssh/id_ed25519 deploy@192.0.2.12 sudo id -un\n...\nroot\n"
        "$ echo at 192.0.2.11\nat 192.0.2.11\n"
        "```\n",
        tmp_path,
    )


def test_a_clone_is_ready(tmp_path: Path) -> None:
    read(
        "<!-- needs: repository -->\n```console\n$ ./run ordito validate examples/hello/service.yaml\n...\n"
        "$ git --version >git.txt && ls README.md\nREADME.md\n```\n",
        tmp_path,
    )


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("one", "one\n", True),
        ("one", "one\ntwo", False),
        ("...", "", True),
        ("...\ntwo", "one\ntwo", True),
        ("...\ntwo", "two\none", False),
        ("one\n...\nthree\n...", "one\ntwo\nthree", True),
        ("a ... c", "a b c", True),
        ("a ... c", "a b", False),
        ("...a...\n...\nb", "xay\nb\nc\nb", True),
        ("a.c", "abc", False),
    ],
)
def test_three_dots_stand_for_anything(expected: str, got: str, same: bool) -> None:
    assert matches(expected.splitlines(), got.splitlines()) is same
