"""The vault: what is sealed, with which key, and what is said where it cannot be opened."""

from __future__ import annotations

import base64
import multiprocessing
import os
from pathlib import Path

import pytest

from ordito.base.sensitive import Sensitive, revealed
from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import KEY_FILE, SecretsFile, Vault, use_vault

pytest.importorskip("cryptography", reason="nothing can be sealed without it")

VALUES = ["canary-4711", "", "ä\U0001f600\n", 4711, True, None, [1, {"a": ["canary-4711"]}], {"k": 1.5}]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_what_is_sealed_can_be_opened(tmp_path: Path, value: object) -> None:
    layout = Layout(tmp_path)
    sealed = Vault(layout).seal(value)
    assert Vault(layout).open(sealed) == value
    assert Vault(layout).seal(value) == sealed, "the same value is the same text"
    assert "canary" not in sealed
    assert layout.key.stat().st_mode & 0o777 == 0o600


def test_nothing_is_made_before_it_is_needed(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    key = Vault(layout).digest_key()
    assert not layout.private.exists()
    Vault(layout).seal("x")
    assert Vault(layout).digest_key() == key, "digests made before the key was written down stay true"
    assert Vault(Layout(tmp_path / "other")).digest_key() != key


def test_a_key_that_digests_were_made_with_is_kept(tmp_path: Path) -> None:
    vault = Vault(Layout(tmp_path))
    vault.keep()
    assert not (tmp_path / ".ordito").exists(), "nobody has asked for a digest"
    key = vault.digest_key()
    vault.keep()
    assert Vault(Layout(tmp_path)).digest_key() == key
    assert (tmp_path / ".ordito" / "key").exists()


def test_what_was_changed_is_not_opened(tmp_path: Path) -> None:
    vault = Vault(Layout(tmp_path))
    head, key, text = vault.seal("canary-4711").split(":")
    data = bytearray(base64.urlsafe_b64decode(text))
    data[-1] ^= 1
    with pytest.raises(EnsembleError, match="was changed after it was sealed"):
        vault.open(f"{head}:{key}:{base64.urlsafe_b64encode(bytes(data)).decode()}")
    for broken in ("", "v1:", "v2:00000000:AAAA", "canary"):
        with pytest.raises(EnsembleError, match="no longer a sealed text"):
            vault.open(broken)
    with pytest.raises(EnsembleError, match="was changed after it was sealed"):
        vault.open(vault.seal("x", "one name"), "another name")


def test_the_key_is_missing_or_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, other = Layout(tmp_path / "a"), Layout(tmp_path / "b")
    sealed = Vault(layout).seal("canary-4711")
    with pytest.raises(EnsembleError, match="is not here") as missing:
        Vault(other).open(sealed)
    assert KEY_FILE in missing.value.hint
    Vault(other).seal("x")
    with pytest.raises(EnsembleError, match="holds the key"):
        Vault(other).open(sealed)
    monkeypatch.setenv(KEY_FILE, str(layout.key))
    assert Vault(other).open(sealed) == "canary-4711"
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "broken"))
    (tmp_path / "broken").write_text("ordito-key-1:AAAA\n")
    with pytest.raises(EnsembleError, match="holds no key"):
        Vault(other).open(sealed)


def test_the_journal_holds_sealed_values(tmp_path: Path) -> None:
    use_vault(Layout(tmp_path))
    for data in ({"a": Sensitive("canary-4711"), "b": 1}, [Sensitive([1, "canary-4711"]), 1 << 70, "\udc80"]):
        written = encode(data)
        assert b"canary" not in written
        again = Decoder(object)(written)
        assert str(again).count("(sensitive)") == 1
        assert "canary-4711" in str(revealed(again))


def _seal(folder: str) -> None:
    for number in range(20):
        SecretsFile(Layout(Path(folder))).put(f"s{os.getpid()}_{number}", "canary-4711")


def test_two_at_once_lose_nothing(tmp_path: Path) -> None:
    """Also where both make the key: there is one afterwards."""
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_seal, args=(str(tmp_path),)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    kept = SecretsFile(Layout(tmp_path))
    assert len(kept.names()) == 60
    assert {kept.get(name) for name in kept.names()} == {"canary-4711"}


def test_what_a_merge_left_is_said(tmp_path: Path) -> None:
    kept = SecretsFile(Layout(tmp_path))
    kept.put("a", "canary-4711")
    text = Layout(tmp_path).secrets.read_text()
    Layout(tmp_path).secrets.write_text(text + text.splitlines()[-1] + "\n")
    with pytest.raises(EnsembleError, match=r"secrets\.yaml:3: a is given twice"):
        kept.names()
    Layout(tmp_path).secrets.write_text("<<<<<<< ours\n" + text)
    with pytest.raises(EnsembleError, match=r"secrets\.yaml:1: this is not a line"):
        kept.names()
