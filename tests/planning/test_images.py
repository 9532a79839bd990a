"""Nodes that a provider makes from an image: the image stands in the place of a script that creates."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ordito.model.operation import Artifact, Operation
from ordito.model.service import NodeTemplate
from ordito.planning.options import Maker, PlanOptions
from ordito.planning.refused import PlanRefused
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Step
from tests.support.runs import Answers, Reply, World, able, codes, with_files
from tests.support.services import SPAN, node, operation, service

APPLICATION = "tosca.nodes.Container.Application"
IMAGES = ("tosca.artifacts.Deployment.Image.Container.Docker", "tosca.artifacts.Deployment.Image")
PROVIDED = able(
    provides=lambda _, kinds: APPLICATION in kinds,
    takes=lambda _, __, kinds: IMAGES[0] in kinds,
    maker=lambda _, __: Maker("containers", looks=True, starts=True),
)


def image(name: str = "image", file: str = "image.tar") -> Artifact:
    return Artifact(name, IMAGES, file, span=SPAN)


def made_of(found: Artifact, *others: str) -> list[Operation | str]:
    return [msgspec.structs.replace(operation("create"), implementation=found), *others]


def application(*operations: Operation | str, artifacts: tuple[Artifact, ...] = ()) -> NodeTemplate:
    made = node("app", kinds=[APPLICATION], operations=operations)
    return msgspec.structs.replace(made, artifacts={a.name: a for a in artifacts})


def looked(status: str) -> Answers:
    """What the provider says when it is asked."""

    def answer(step: Step, name: str) -> Reply:
        return Outcome(Ending.SUCCEEDED, status=status) if name == "delegate.look" else None

    return answer


def ran(world: World, workflow: str, options: PlanOptions = PROVIDED) -> list[str]:
    made = world.run(workflow, options=options)
    return [f"{made.calls[s.call].interface}.{made.calls[s.call].operation}" for s in made.steps if s.call >= 0]


def test_an_image_takes_the_place_of_create_and_all_else_runs_as_ever() -> None:
    """The provider makes the container and starts it; then the other operations run."""
    world = World(service(application(*made_of(image(), "configure", "start", "stop", "delete"))))
    assert ran(world, "deploy") == ["delegate.deploy", "Standard.configure", "Standard.start"]
    assert world.snapshot.instances["app_1"].state == "started"
    assert ran(world, "undeploy") == ["Standard.stop", "Standard.delete", "delegate.undeploy"]
    assert world.snapshot.instances["app_1"].state == "deleted"


def test_the_provider_stops_and_starts_what_it_has_made() -> None:
    world = World(service(application(*made_of(image(), "start", "delete"))))
    world.run("deploy", options=PROVIDED)
    some = replace(PROVIDED, instances=frozenset({"app_1"}))
    assert ran(world, "stop", some) == ["delegate.stop"]
    assert world.snapshot.instances["app_1"].state == "configured"
    # That it does not run is as it should be, and no error.
    before = world.snapshot.instances["app_1"]
    world.run("check", looked("error"), options=PROVIDED)
    assert world.snapshot.instances["app_1"] == before
    assert ran(world, "start", some) == ["delegate.start", "Standard.start"]
    assert world.snapshot.instances["app_1"].state == "started"
    world.run("check", looked("error"), options=PROVIDED)
    assert world.snapshot.instances["app_1"].local == "error"
    world.run("check", looked("ok"), options=PROVIDED)
    cannot = able(some, maker=lambda _, __: Maker("containers"))
    assert ran(world, "stop", cannot) == ["Standard.stop"]  # Nothing does it: only the state changes.


def test_another_image_is_another_node() -> None:
    """What a node was made from is remembered: what runs with something else is replaced."""
    world = World(service(application(artifacts=(image(),))))
    with_digest = with_files({"image.tar": "one"}, PROVIDED)
    world.run("deploy", options=with_digest)
    assert not world.plan(options=with_digest).steps
    made = world.plan(options=with_files({"image.tar": "two"}, PROVIDED))
    assert [(c.instance, c.symbol, c.kind) for c in made.changes] == [("app_1", "-/+", "replace")]


def test_the_image_of_an_application_is_not_clear() -> None:
    """R-5.4-4: found when the plan is made."""
    assert refused(World(service(application()))) == ["unclear-image"]
    two = (image("one", "one.tar"), image("other", "other.tar"))
    assert refused(World(service(application(artifacts=two)))) == ["unclear-image"]
    named = application(*made_of(two[0]), artifacts=two)
    assert ran(World(service(named)), "deploy") == ["delegate.deploy"]


def test_an_image_of_which_nobody_makes_a_node() -> None:
    """R-5.4-4: an image that no provider takes is an error of the plan."""
    server = node("server", kinds=["tosca.nodes.Root"], operations=made_of(image()))
    assert refused(World(service(server))) == ["no-executor"]


def refused(world: World, options: PlanOptions = PROVIDED) -> list[str]:
    try:
        world.plan("deploy", options)
    except PlanRefused as caught:
        return codes(caught.diagnostics)
    return []
