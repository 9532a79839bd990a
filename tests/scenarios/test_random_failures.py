"""One operation fails, in every workflow, on random topologies: the records tell the truth, what does not depend on it
is finished, the same command completes what was left, and undeploying removes everything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordito.work.invocation import Outcome
from ordito.work.plan import Action
from tests.scenarios.test_random_workflows import SEEDS, SOME, Play, played
from tests.support.commands import Ran
from tests.support.hands import FAILED, always_well
from tests.support.random_topologies import Nodes, topologies
from tests.support.scenarios import Reach

DOWN = frozenset({"stop", "delete", "uninstall", "monitor_stop"})
"""Operations after which the same job may make good what they did not do."""
WORKFLOWS = ("deploy", "undeploy", "stop", "start", "restart", "heal", "scale out", "scale in", "run")


class FailsOnce:
    """The operation that fails: the so-manieth that is called."""

    def __init__(self, place: int) -> None:
        self.left = place
        self.failed = ""

    def __call__(self, step: str) -> Outcome | None:
        self.left -= 1
        if self.left != 0:
            return None
        self.failed = step
        return FAILED


def words_for(workflow: str, play: Play, data: st.DataObject) -> list[str]:
    """Bring everything into the state in which a workflow has something to do; gives its command."""
    if workflow == "deploy":
        return ["deploy", str(play.service)]
    play.deploy()
    existing = sorted(i.id for i in play.existing())
    chosen = data.draw(st.sampled_from(existing))
    node = data.draw(st.sampled_from(sorted(play.nodes)))
    # With its number, so that the same command says the same again.
    scaled = next(n for n in [*play.snapshot().instances.values()] if n.node == node).node
    if workflow.startswith("scale"):
        count = sum(i.node == scaled for i in play.existing())
        out = ["scale", f"{node}={count + 1}", "--no-scale-compute"]
        if workflow == "scale in":
            play.run(*out)
            return ["scale", f"{node}={count}", "--no-scale-compute"]
        return out
    if workflow == "start":
        play.run("stop", chosen)
        return ["start", "--all"]
    if workflow == "run":
        return ["run", "Standard.configure"]
    if workflow == "heal":
        return ["heal", chosen, "--scope", "host"]
    if workflow == "undeploy":
        return ["undeploy"]
    return [workflow, chosen]


def finished(ran: Ran, failed: str) -> None:
    """That everything has run that does not come after what failed."""
    assert ran.plan is not None
    reach = Reach(ran.plan)
    places = {step.id: place for place, step in enumerate(ran.plan.steps)}
    did = {*ran.begun, *ran.delegated}
    for place, step in enumerate(ran.plan.steps):
        works = step.action is Action.CALL and ran.plan.calls[step.call].artifact and not step.flow.condition
        if works and step.id not in did:
            assert reach.is_before(places[failed], place), f"{step.id} was not run after {failed} had failed"


def true(play: Play, ran: Ran, failed: str, workflow: str) -> None:
    """That nobody whose operation has failed is said to be well, and that nothing is said to be made that is not."""
    assert ran.plan is not None
    step = next(s for s in ran.plan.steps if s.id == failed)
    snapshot = play.snapshot()
    record = snapshot.instances[step.instance]
    made_again = workflow in {"heal", "restart"} and ran.plan.calls[step.call].operation in DOWN
    if record.exists and not step.link and not made_again and workflow != "run":
        assert record.local != "ok", f"{record.id} is {record.local} though {failed} failed"
    for instance in snapshot.instances.values():
        if instance.exists and instance.host:
            assert snapshot.instances[instance.host].exists, f"{instance.id} exists without {instance.host}"
    for link in snapshot.links.values():
        assert snapshot.instances[link.source].exists, link.id
        assert snapshot.instances[link.target].exists, link.id


@SOME
@given(topologies(scalable=True, most=4, largest=2), st.sampled_from(WORKFLOWS), SEEDS, st.data())
def test_whatever_fails_the_same_command_completes_it(
    nodes: Nodes, workflow: str, seed: int, data: st.DataObject
) -> None:
    with played(nodes, seed) as play:
        words = words_for(workflow, play, data)
        fails = FailsOnce(data.draw(st.integers(1, 30)))
        play.commands.hands.answer = fails
        ran = play.commands.run(*words, "--yes")
        play.commands.hands.answer = always_well
        if not fails.failed:
            assert ran.code == 0, ran.err
            return
        said = f"{words}: {fails.failed}\n{ran.err}"
        assert ran.code == 1, said
        assert ran.failed == [fails.failed], said
        if workflow != "scale out":
            finished(ran, fails.failed)
        true(play, ran, fails.failed, workflow)
        again = play.commands.run(*words, "--yes")
        assert again.code == 0, f"{said}\nagain: {again.err}"
        assert play.commands.run(*words, "--yes").log == () or workflow in {"restart", "heal", "run"}, said
        if workflow == "undeploy":
            assert play.existing() == []
            return
        if workflow not in {"stop", "run"}:
            assert {i.local for i in play.existing()} == {"ok"}, said
        # What was called by hand has changed what there is.
        play.run("undeploy", "--allow-changed")
        assert play.existing() == []
        assert play.snapshot().links == {}


@SOME
@given(topologies(most=4, largest=2), SEEDS, st.data())
def test_healing_goes_on_past_what_fails_and_tells_how_it_came_out(
    nodes: Nodes, seed: int, data: st.DataObject
) -> None:
    """Whatever fails of stopping and starting is made good by making again, or the healing fails; never is something
    not well that a healing which ended well has touched."""
    with played(nodes, seed) as play:
        play.deploy()
        chosen = data.draw(st.sampled_from(sorted(i.id for i in play.existing())))
        fails = FailsOnce(data.draw(st.integers(1, 12)))
        play.commands.hands.answer = fails
        ran = play.commands.run("heal", chosen, "--yes")
        play.commands.hands.answer = always_well
        said = f"{chosen}: {fails.failed}\n{ran.err}"
        assert ran.code in (0, 1), said
        if ran.code == 0:
            assert {i.local for i in play.existing()} == {"ok"}, said
        again = play.commands.run("heal", chosen, "--yes")
        assert again.code == 0, f"{said}\nagain: {again.err}"
        assert {i.local for i in play.existing()} == {"ok"}, said
        play.run("undeploy")
        assert play.snapshot().links == {}
