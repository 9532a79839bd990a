"""The image of an application: from a registry, from an archive file, or built from a folder of the service."""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from ordito.base.sensitive import revealed
from ordito.providers.containers.engine import LONG, Engine, RegistryLogin, name_of, said
from ordito.work.providing import Delegation, Material, ProviderFailed
from ordito.work.targets import Ran

KIND = "tosca.artifacts.Deployment.Image.Container.Docker"
"""The artifact type of container images (§9.1.1)."""

HUB, LOCAL = "docker.io", "localhost"
"""The default registry, and the prefix of the names of images that are in no registry."""

Logins: TypeAlias = Callable[[], Mapping[str, RegistryLogin]]
_HUBS = frozenset({"hub.docker.com", "registry.hub.docker.com", "registry-1.docker.io", "index.docker.io", HUB})
_BUILD_FILE = re.compile(r"(Containerfile|Dockerfile)(\..+)?|.+\.(containerfile|dockerfile)", re.IGNORECASE)
_SAVED = frozenset({"manifest.json", "index.json", "oci-layout", "repositories"})
"""The files at the top of an archive that is a saved image, and not a root file system."""

_FOLDER, _FILE, _NOTHING = "folder", "file", "nothing"

_LOADED = re.compile(r"Loaded image(?: ID|\(s\))?:\s*(\S+)")

_BUILT = 'd=$(mktemp -d) && tar -x -C "$d" -f - && cd "$d" && "$@"; s=$?; rm -rf "$d"; exit $s'
"""The shell text that builds an image on a host; its standard input is an archive of the files."""

_FETCHED = """\
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
engine=$1 registry=$2 user=$3 image=$4
shift 4
case $engine in
docker) docker --config "$d" login --username "$user" --password-stdin "$registry" >"$d/said" 2>&1 &&
    docker --config "$d" pull "$image" ;;
*) "$engine" login "$@" --authfile "$d/auth.json" --username "$user" --password-stdin "$registry" >"$d/said" 2>&1 &&
    "$engine" pull "$@" --authfile "$d/auth.json" "$image" ;;
esac || { s=$?; cat "$d/said" >&2; exit $s; }
"""
"""The shell text that pulls an image with a credential and then removes the credential; the password is its standard
input."""


class ContainerImage(msgspec.Struct, frozen=True):
    """An image of an engine: its name, the digest of its content, and the digest in its registry ("" if it comes from
    none)."""

    name: str
    digest: str
    registered: str = ""


def image_artifact(asked: Delegation) -> Material:
    """The image artifact of an application. Raises ``ProviderFailed`` if there is none, or if it is not clear which
    one."""
    images = [a for a in asked.artifacts if KIND in a.kinds]
    if len(images) == 1:
        return images[0]
    if not images:
        raise ProviderFailed(f'node "{asked.node}" has no artifact of type {KIND}, so its image is not known')
    names = ", ".join(image.name for image in images)
    raise ProviderFailed(f'node "{asked.node}" has several images ({names}): name one as implementation of its create')


async def image_of(engine: Engine, asked: Delegation, artifact: Material, logins: Logins) -> ContainerImage:
    """The image of an artifact, which is pulled, loaded or built. Raises ``ProviderFailed``."""
    if artifact.repository:
        name = await _pulled(engine, artifact, logins)
    else:
        name = await _made(engine, asked, artifact)
    return await _inspected(engine, name)


async def made_before(engine: Engine, asked: Delegation, artifact: Material) -> str:
    """The id of the image that was made for an instance from files of the service, "" for none."""
    return "" if artifact.repository else await _id_of(engine, _tag(asked))


async def forget_former(engine: Engine, former: str, now: ContainerImage) -> None:
    """Remove the former image of an instance, unless it has other names."""
    if former and former != now.digest and not await _names_of(engine, former):
        await engine.run("rmi", former)


async def forget(engine: Engine, asked: Delegation) -> None:
    """Remove the image that was made from files of the service for this instance alone; one that is used by others, or
    has other names, stays."""
    name = _tag(asked)
    if (await engine.run("image", "inspect", "--format", "{{.Id}}", name)).status == 0:
        await engine.run("rmi", name)


# ------------------------------------------------------------------------------------------------- from a registry


async def _pulled(engine: Engine, artifact: Material, logins: Logins) -> str:
    """Pull an image from its registry; returns its name. An image without registry must exist on the host."""
    registry, name = reference(artifact.repository, artifact.file)
    insecure = ["--tls-verify=false"] if artifact.repository.startswith("http:") and engine.name == "podman" else []
    if registry == LOCAL:
        return name
    login = logins().get(registry)
    if login is None:
        login = RegistryLogin(str(artifact.credential.get("user") or ""), artifact.credential.get("token"))
    token = revealed(login.password)
    if not token:
        ran = await engine.run("pull", *insecure, name, timeout=LONG)
    else:
        words = ["sh", "-c", _FETCHED, "sh", engine.name, registry, login.user, name, *insecure]
        ran = await engine.run_words(words, f"{engine.name} pull", given=str(token).encode(), timeout=LONG)
    if ran.status != 0:
        raise ProviderFailed(f"the image {name} could not be pulled from {registry} on {engine.where}: {said(ran)}")
    return name


def reference(repository: str, file: str) -> tuple[str, str]:
    """The registry at a repository's address, and the name of an image in it."""
    address = repository.partition("://")[2] if "://" in repository else repository
    host, _, folder = address.strip("/").partition("/")
    if host in _HUBS:
        host = HUB
        folder = folder or ("" if "/" in file else "library")
    return host, "/".join(part for part in (host, folder.strip("/"), file.strip("/")) if part)


# ----------------------------------------------------------------------------------------- from files of the service


async def _made(engine: Engine, asked: Delegation, artifact: Material) -> str:
    """Make an image from a file or a folder of the service; its name is made from that of the instance."""
    path, tag = Path(artifact.file), _tag(asked)
    what = await asyncio.to_thread(_what, path)
    if what == _FOLDER:
        return await _built(engine, path, "", tag)
    if what == _NOTHING:
        raise ProviderFailed(
            f"{path} does not exist: the image of {asked.instance} is neither a file nor a folder of the service,"
            " and its artifact names no repository"
        )
    if _BUILD_FILE.fullmatch(path.name):
        return await _built(engine, path.parent, path.name, tag)
    return await _unpacked(engine, path, tag)


def _what(path: Path) -> str:
    return _FOLDER if path.is_dir() else _FILE if path.is_file() else _NOTHING


async def _built(engine: Engine, folder: Path, file: str, tag: str) -> str:
    called = f"{engine.name} build"
    options = ["--tag", tag, *(["--file", file] if file else [])]
    if engine.target is None:
        at = ["--file", str(folder / file)] if file else []
        ran = await engine.run("build", "--tag", tag, *at, str(folder), timeout=LONG)
    else:
        given = await asyncio.to_thread(_packed, folder)
        words = ["sh", "-c", _BUILT, "sh", engine.name, "build", *options, "."]
        ran = await engine.run_words(words, called, given=given, timeout=LONG)
    if ran.status != 0:
        what = folder / file if file else folder
        raise ProviderFailed(f"no image could be built from {what} on {engine.where}: {said(_all(ran))}")
    return tag


async def _unpacked(engine: Engine, path: Path, tag: str) -> str:
    """An image from an archive file: a saved image, or a root file system."""
    try:
        saved = await asyncio.to_thread(_saved_names, path)
    except ValueError as error:
        raise ProviderFailed(f"{path} is not an archive that an image can be made from: {error}") from error
    is_here = engine.target is None
    given = b"" if is_here else await asyncio.to_thread(path.read_bytes)
    if saved is not None:
        async with engine.loading:
            ran = await _loaded(engine, path, saved, tag, given)
        if ran.status == 0:
            return tag
    else:
        ran = await engine.run("import", str(path) if is_here else "-", tag, given=given, timeout=LONG)
        if ran.status == 0:
            return tag
    raise ProviderFailed(f"{path} could not be made into an image on {engine.where}: {said(ran)}")


async def _loaded(engine: Engine, path: Path, names: Sequence[str], tag: str, given: bytes) -> Ran:
    """Load a saved image with some names; afterwards these names mean the same images as before."""
    before = {name: await _id_of(engine, name) for name in names}
    source = ["--input", str(path)] if engine.target is None else []
    ran = await engine.run("load", *source, given=given, timeout=LONG)
    loaded = [name.partition(",")[0] for name in _LOADED.findall(ran.out.decode(errors="replace"))]
    if ran.status == 0 and not loaded:
        return Ran(1, b"", b"the engine does not say what it has loaded")
    if loaded:
        await engine.ask("tag", loaded[-1], tag)
    for name, former in before.items():
        if former:
            await engine.run("tag", former, name)
        elif any(one.endswith(name) for one in loaded):
            await engine.run("rmi", name)
    return ran


def _saved_names(path: Path) -> list[str] | None:
    """The names in an archive that is a saved image, None for another archive. Raises ``ValueError`` if the file is not
    an archive."""
    import tarfile

    try:
        with tarfile.open(path) as archive:
            saved = [member for member in archive if member.name.removeprefix("./") in _SAVED]
            lists = [m for m in saved if m.name.removeprefix("./") == "manifest.json" and m.isfile()]
            texts = [file.read() for m in lists if (file := archive.extractfile(m)) is not None]
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(str(error)) from error
    if not saved:
        return None
    try:
        entries = [entry for text in texts for entry in msgspec.json.decode(text, type=list[_Saved])]
    except msgspec.DecodeError as error:
        raise ValueError(f"manifest.json: {error}") from error
    return [name for entry in entries for name in entry.repo_tags or ()]


def _packed(folder: Path) -> bytes:
    """An archive of a folder with everything in it."""
    import tarfile

    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.add(folder, arcname=".")
    return made.getvalue()


def _all(ran: Ran) -> Ran:
    """Both outputs of a build: engines differ in where they print errors."""
    return ran if ran.err.strip() else Ran(ran.status, ran.out, ran.out)


def _tag(asked: Delegation) -> str:
    """The name for an image that is made for an instance."""
    name = name_of(asked)
    return f"localhost/ordito-{hashlib.sha256(name.encode()).hexdigest()[:24]}"


# ---------------------------------------------------------------------------------------------------- what it is


class _Saved(msgspec.Struct, rename="pascal"):
    repo_tags: list[str] | None = None


class _Inspected(msgspec.Struct, rename="pascal"):
    id: str = ""
    repo_digests: list[str] | None = None
    repo_tags: list[str] | None = None


async def _id_of(engine: Engine, name: str) -> str:
    """The digest of the image with a name, "" if there is none."""
    ran = await engine.run("image", "inspect", "--format", "{{.Id}}", name)
    found = ran.out.decode(errors="replace").strip() if ran.status == 0 else ""
    return found if not found or ":" in found else f"sha256:{found}"


async def _names_of(engine: Engine, image: str) -> list[str]:
    """The names of an image; without any, if the engine does not know it."""
    ran = await engine.run("image", "inspect", image)
    if ran.status != 0:
        return [image]
    (found, *_) = msgspec.json.decode(ran.out, type=list[_Inspected])
    return found.repo_tags or []


async def _inspected(engine: Engine, name: str) -> ContainerImage:
    ran = await engine.run("image", "inspect", name)
    if ran.status != 0:
        raise ProviderFailed(f"there is no image {name} on {engine.where}: {said(ran)}")
    text = ran.out
    (found, *_) = msgspec.json.decode(text, type=list[_Inspected])
    digest = found.id if ":" in found.id else f"sha256:{found.id}"
    registered = [d for d in found.repo_digests or () if not d.startswith("localhost/")]
    own = name.partition("@")[0].rpartition("/")[2].partition(":")[0]
    named = next((d for d in registered if d.partition("@")[0].endswith(own)), registered[0] if registered else "")
    return ContainerImage(name, digest, named)
