"""Applications in containers of a real engine: where their images come from, and what becomes of them."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ordito.base.sensitive import Sensitive
from ordito.executors.local_hands import LocalHands
from ordito.providers.containers.applications import CONTAINER_ATTRIBUTE, ApplicationProvider, RuntimeProvider
from ordito.providers.containers.asked_for import application_of
from ordito.providers.containers.engine import Engines
from ordito.providers.containers.images import KIND, reference
from ordito.work.providing import Delegation, Far, Material, ProviderFailed, ProviderVerb
from ordito.work.targets import HostTarget, Ran
from tests.support.real.podman import LARGE, SMALL, Podman, small_root
from tests.support.real.registry import PASSWORD, USER, serving

KINDS = (
    "ordito.nodes.Container.Application",
    "tosca.nodes.Container.Application",
    "tosca.nodes.Root",
)
ENGINES = Engines(LocalHands(), "podman")
"""They ask for the engine once for all tests, which costs as much as all else that a test does with it."""

NAME = "ordito-e1-app_1"
ELSEWHERE = HostTarget("ssh", "elsewhere", {"address": "192.0.2.1"})
SERVES = ["sh", "-c", "trap 'exit 0' TERM; echo serving; while :; do sleep 1000 & wait; done"]


@pytest.fixture
def engine(podman: Podman, monkeypatch: pytest.MonkeyPatch) -> Iterator[Podman]:
    for name, value in podman.environment.items():
        monkeypatch.setenv(name, value)
    yield podman
    for name in podman.containers():
        podman.run("rm", "--force", "--time", "0", "--volumes", name)


def _provider() -> ApplicationProvider:
    return ApplicationProvider(ENGINES)


class Elsewhere(LocalHands):
    """Hands that reach a host which has none of our files, as far as those can tell who use them."""

    async def run(
        self, target: HostTarget | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        assert target == ELSEWHERE
        return await super().run(None, words, given=given, timeout=timeout)


def _asked(image: Material | str, properties: Mapping[str, object] | None = None, **more: object) -> Delegation:
    artifact = image if isinstance(image, Material) else Material("image", (KIND,), image)
    if image == SMALL:
        artifact = Material("image", (KIND,), SMALL.partition("/")[2], "localhost")
    asked: dict[str, object] = {"node": "app", "artifacts": (artifact,), "ensemble": "e1", "job": "J1", **more}
    said = {"command": SERVES, **(properties or {})}
    return Delegation("app_1", KINDS, ProviderVerb.CREATE, properties=said, **asked)  # type: ignore[arg-type]


def test_an_application_has_variables_volumes_and_a_state(engine: Podman, tmp_path: Path) -> None:
    storage = Far("disk_1", ("tosca.nodes.Root",), relationship={"location": "/data"})
    (tmp_path / "given").write_text("from the host")
    asked = _asked(
        SMALL,
        {
            "environment": {"COLOR": "red", "SIZE": "1"},
            "volumes": [f"{tmp_path}:/given:ro"],
            "stop_timeout": "5 s",
            # It is well when it is asked for the second time.
            "health": {
                "command": ["sh", "-c", "test -e /tmp/asked || ! echo kept | tee /data/kept >/tmp/asked"],
                "within": "60 s",
                "every": "100 ms",
            },
        },
        inputs={"SIZE": 2, "TOKEN": Sensitive('s3cret "quoted" # text')},
        requirements={"storage": (storage,)},
    )
    provider = _provider()

    async def run() -> None:
        assert provider.provides(KINDS)
        provided = await provider.create(asked)
        assert provided.attributes["container"] == NAME
        known = provided.attributes[CONTAINER_ATTRIBUTE]
        assert isinstance(known, Mapping)
        assert str(known["digest"]).startswith("sha256:")
        said = engine.run("exec", NAME, "sh", "-c", 'echo "$COLOR|$SIZE|$TOKEN"; cat /given/given')
        assert said == 'red|2|s3cret "quoted" # text\nfrom the host'
        assert (await provider.look(asked)).status == "ok"
        engine.run("exec", NAME, "rm", "/tmp/asked")
        degraded = await provider.look(asked)
        assert degraded.status == "degraded"
        assert "test -e /tmp/asked" in degraded.message
        await provider.stop(asked)
        assert (await provider.look(asked)).status == "error"
        await provider.start(asked)
        assert (await provider.look(asked)).status == "ok"
        assert engine.run("exec", NAME, "cat", "/data/kept") == "kept\n"
        assert await provider.delete(asked)
        assert await provider.delete(asked)
        assert (await provider.look(asked)).status == "absent"
        with pytest.raises(ProviderFailed, match=r"ordito heal app_1"):
            await provider.start(asked)
        engine.run("volume", "rm", "ordito-e1-disk_1")

    asyncio.run(run())


def test_images_come_from_archives_and_build_contexts(engine: Podman, tmp_path: Path) -> None:
    engine.run("tag", SMALL, "localhost/theirs:1")
    saved = engine.archive(tmp_path / "saved.tar", "localhost/theirs:1")
    engine.run("rmi", "localhost/theirs:1")
    (tmp_path / "root.tar").write_bytes(small_root())
    context = tmp_path / "context"
    context.mkdir()
    (context / "Containerfile").write_text(f"FROM {SMALL}\nCOPY greeting /greeting\n")
    (context / "greeting").write_text("hello")
    (tmp_path / "junk.tar").write_text("no archive")
    here, there = _provider(), ApplicationProvider(Engines(Elsewhere(), "podman"))
    before = engine.run("images", "--quiet").split()

    async def run() -> None:
        for file, host in ((saved, ELSEWHERE), (tmp_path / "root.tar", None), (context, ELSEWHERE)):
            provider = there if host else here
            asked = _asked(str(file), host=host)
            provided = await provider.create(asked)
            assert provided.attributes["image"] == provided.attributes[CONTAINER_ATTRIBUTE]["digest"]  # type: ignore[index]
            if file is context:
                assert engine.run("exec", NAME, "cat", "/greeting") == "hello"
            await provider.delete(asked)
        # What was made for the instance is gone with it.
        assert sorted(set(engine.run("images", "--quiet").split())) == sorted(set(before))
        assert "theirs" not in engine.run("images")
        with pytest.raises(ProviderFailed, match=r"junk.tar is not an archive"):
            await here.create(_asked(str(tmp_path / "junk.tar")))
        with pytest.raises(ProviderFailed, match=r"missing.tar does not exist"):
            await here.create(_asked(str(tmp_path / "missing.tar")))
        with pytest.raises(ProviderFailed, match=r"there is no image localhost/nothing:1 on this machine"):
            await here.create(_asked(Material("image", (KIND,), "nothing:1", "localhost")))
        # What a name meant before it means again, and an image that was replaced leaves nothing of the one before.
        engine.run("tag", LARGE, "localhost/theirs:1")
        await here.create(_asked(str(tmp_path / "root.tar")))
        await here.create(_asked(str(saved), job="J2"))
        ids = engine.run("image", "inspect", "--format", "{{.Id}}", "localhost/theirs:1", LARGE).split()
        assert ids[0] == ids[1]
        await here.delete(_asked(str(saved)))
        engine.run("rmi", "localhost/theirs:1")
        assert sorted(set(engine.run("images", "--quiet").split())) == sorted(set(before))
        (context / "Containerfile").write_text(f"FROM {SMALL}\nCOPY nothing /greeting\n")
        with pytest.raises(ProviderFailed, match=r"no image could be built from .*Containerfile"):
            await there.create(_asked(str(context / "Containerfile"), host=ELSEWHERE))

    asyncio.run(run())


def test_an_image_is_fetched_from_a_registry_with_a_password_that_nobody_sees(engine: Podman, tmp_path: Path) -> None:
    engine.run("push", "--quiet", SMALL, f"dir:{tmp_path}")
    credential = {"user": USER, "token": Sensitive(PASSWORD)}
    provider = _provider()

    async def run(address: str) -> None:
        image = Material("image", (KIND,), "shop/small:1", address, credential)
        provided = await provider.create(_asked(image))
        registered = str(provided.attributes["image"])
        assert registered.startswith(address.removeprefix("http://") + "/shop/small@sha256:")
        await provider.delete(_asked(image))
        with pytest.raises(ProviderFailed, match="could not be pulled"):
            await provider.create(_asked(Material("image", (KIND,), "shop/small:1", address)))
        wrong = {"user": USER, "token": Sensitive("wrong")}
        with pytest.raises(ProviderFailed, match="could not be pulled"):
            await provider.create(_asked(Material("image", (KIND,), "shop/small:1", address, wrong)))
        engine.run("rmi", f"{address.removeprefix('http://')}/shop/small:1")

    with serving(tmp_path, "shop/small") as served:
        asyncio.run(run(served.address))
        assert "/v2/shop/small/manifests/1" in served.answered
        # Nothing remembers the password.
        with pytest.raises(subprocess.CalledProcessError):
            engine.run("login", "--get-login", served.address.removeprefix("http://"))


def test_an_application_that_ends_at_once_has_failed_with_its_last_lines(engine: Podman) -> None:
    async def run() -> None:
        ends = {"command": ["sh", "-c", "echo cannot open the database >&2; exit 4"]}
        with pytest.raises(ProviderFailed, match=r"ended with exit 4(?s:.)*cannot open the database"):
            await _provider().create(_asked(SMALL, ends))
        ill = {"health": {"command": ["false"], "within": "100 ms", "every": "10 ms"}}
        with pytest.raises(ProviderFailed, match=r"not well after 0.1 s: .*exit 1(?s:.)*serving"):
            await _provider().create(_asked(SMALL, ill))

    asyncio.run(run())


def test_a_runtime_is_an_engine_that_answers(engine: Podman) -> None:
    kinds = ("tosca.nodes.Container.Runtime", "tosca.nodes.SoftwareComponent", "tosca.nodes.Root")
    asked = Delegation("runtime_1", kinds, ProviderVerb.CREATE)

    async def run() -> None:
        runtime = RuntimeProvider(Engines(LocalHands(), "podman"))
        assert (await runtime.create(asked)).message == "podman answers on this machine"
        assert (await runtime.look(asked)).status == "ok"
        assert not await runtime.delete(asked)
        missing = RuntimeProvider(Engines(LocalHands(), "ordito-no-such-engine"))
        assert (await missing.look(asked)).status == "error"
        with pytest.raises(ProviderFailed, match="no engine for containers answers"):
            await missing.create(asked)

    asyncio.run(run())


def test_which_ports_are_published() -> None:
    """R-5.3.11-1: a port specification says the port in the container and the one on its host."""
    specs = [
        {"protocol": "tcp", "source": 80, "target": 8080},
        {"protocol": "udp", "source": 53},
        {"source_range": [9000, 9002], "target_range": [19000, 19002]},
        {"target": 70},
    ]
    found = application_of(_asked(SMALL, {"ports": specs, "http::port": 443, "http::protocol": "https"}))
    published = [found.options[n + 1] for n, word in enumerate(found.options) if word == "--publish"]
    assert published == ["8080:80", "53/udp", "19000-19002:9000-9002", "70:70", "443:443"]
    with pytest.raises(ProviderFailed, match="not each has one"):
        application_of(_asked(SMALL, {"ports": [{"source_range": [1, 3], "target_range": [1, 2]}]}))
    with pytest.raises(ProviderFailed, match="has no mount location"):
        application_of(_asked(SMALL, requirements={"storage": (Far("disk_1", ()),)}))


def test_what_a_runtime_says_of_its_containers() -> None:
    """R-9.2.1-1: of the ports that are exposed only source and source_range are heeded."""
    specs = [{"protocol": "udp", "source": 53, "target": 5353}, {"source_range": [80, 81], "target_range": [1, 2]}]
    properties = {
        "host::publish_all": True,
        "host::publish_ports": [{"source": 80, "target": 8080}],
        "host::expose_ports": [*specs, {"target": 99}],
        "host::volumes": ["cache:/var/cache"],
    }
    runtime = Far("runtime_1", ("tosca.nodes.Container.Runtime",), properties=properties)
    found = application_of(_asked(SMALL, requirements={"host": (runtime,)})).options
    assert found == (
        *("--publish", "8080:80", "--expose", "53/udp", "--expose", "80-81", "--publish-all"),
        *("--volume", "cache:/var/cache"),
    )


def test_a_secret_is_no_argument_of_a_program() -> None:
    kept = application_of(_asked(SMALL, {"environment": {"TOKEN": Sensitive("x")}}, secret=frozenset({"environment"})))
    assert kept.environment == {"TOKEN": Sensitive("x")}
    with pytest.raises(ProviderFailed, match=r'"command" of app_1 holds a secret.*environment'):
        application_of(_asked(SMALL, secret=frozenset({"command"})))


def test_what_is_not_clear_is_refused() -> None:
    two = (Material("one", (KIND,), "/a.tar"), Material("other", (KIND,), "/b.tar"))
    for artifacts, why in ((two, r"several images \(one, other\)"), ((), "has no artifact of type")):
        with pytest.raises(ProviderFailed, match=why):
            asyncio.run(_provider().create(_asked(SMALL, artifacts=artifacts)))


@pytest.mark.parametrize(
    ("repository", "file", "named"),
    [
        ("https://registry.hub.docker.com/", "mysql", ("docker.io", "docker.io/library/mysql")),
        ("https://hub.docker.com", "bitnami/redis:7", ("docker.io", "docker.io/bitnami/redis:7")),
        ("http://127.0.0.1:5000", "a/b@sha256:0", ("127.0.0.1:5000", "127.0.0.1:5000/a/b@sha256:0")),
        ("https://quay.example/team/", "web:1", ("quay.example", "quay.example/team/web:1")),
        ("quay.example/team", "web", ("quay.example", "quay.example/team/web")),
    ],
)
def test_what_an_image_of_a_repository_is_called(repository: str, file: str, named: tuple[str, str]) -> None:
    assert reference(repository, file) == named
