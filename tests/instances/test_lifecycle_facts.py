"""What the lifecycle table says of operations by their names: the content of every set that is derived from it."""

from ordito.instances import lifecycle
from ordito.instances.lifecycle import TAKES_BACK, UNDONE_BY_START, UNDONE_BY_STOP
from ordito.model.rules.weaving import BEFORE_THE_SOURCE
from ordito.operations import peer_notifications
from ordito.planning import compared, mapped, roll_back
from ordito.planning.planned_instances import Down, Up
from ordito.work import doubts


def test_what_takes_back_what() -> None:
    assert {
        "start": {"stop"},
        "stop": {"start"},
        "delete": {
            "precreate",
            "create",
            "pre_configure_source",
            "pre_configure_target",
            "configure",
            "post_configure_source",
            "post_configure_target",
            "start",
            "poststart",
            "get_state",
            "install",
            "monitor_start",
        },
        "precreate": {"postdelete"},
        "postdelete": {"precreate"},
        "poststart": {"prestop"},
        "prestop": {"poststart"},
        "create": {"delete"},
        "install": {"uninstall"},
        "uninstall": {"install"},
        "monitor_start": {"monitor_stop"},
        "monitor_stop": {"monitor_start"},
        "add_target": {"remove_target"},
        "add_source": {"remove_source"},
        "remove_target": {"add_target"},
        "remove_source": {"add_source"},
        "preconfigure": {"unlink"},
        "postconfigure": {"unlink"},
        "establish": {"unlink"},
        "unlink": {"preconfigure", "postconfigure", "establish"},
        "deploy": {"undeploy"},
        "undeploy": {"deploy"},
        "deploy_on_host": {"undeploy_from_host"},
        "undeploy_from_host": {"deploy_on_host"},
    } == TAKES_BACK
    assert {"delete"} == lifecycle.DELETES
    taken_back = set().union(
        *(done for name, done in TAKES_BACK.items() if name not in {"delete", "postdelete", "undeploy"})
    )
    assert taken_back == roll_back.TAKEN_BACK


def test_what_links_and_unlinks_pairs() -> None:
    assert {"add_target", "add_source", "establish"} == lifecycle.LINKS
    assert {"preconfigure", "postconfigure"} == lifecycle.PREPARES_LINK
    assert {"remove_target", "remove_source", "unlink"} == lifecycle.UNLINKS
    assert {"add_target", "add_source"} == UNDONE_BY_STOP
    assert {
        "Configure.pre_configure_source",
        "relationship_lifecycle.preconfigure@source",
        "relationship_lifecycle.preconfigure@target",
        "Configure.add_target",
        "Configure.add_source",
        "relationship_lifecycle.establish@source",
        "relationship_lifecycle.establish@target",
    } == {p.row.name for p in lifecycle.INSTALL if p.row.begins}


def test_what_makes_starts_stops_and_removes_instances() -> None:
    assert {"create", "configure", "start", "deploy"} == doubts.BROUGHT_UP
    assert {"Standard", "lifecycle", "delegate"} == doubts.LIFECYCLES
    assert {
        "tosca.interfaces.node.lifecycle.Standard",
        "cloudify.interfaces.lifecycle",
        "ordito.interfaces.Artifact",
    } == lifecycle.OF_LIFECYCLE
    assert {"start", "deploy"} == peer_notifications.BRINGS_UP
    assert {"prestop", "stop", "uninstall", "monitor_stop"} == UNDONE_BY_START
    assert {"precreate", "create", "deploy"} == lifecycle.CREATES
    assert {"configure"} == lifecycle.CONFIGURES
    assert {"start"} == lifecycle.STARTS
    assert {"stop"} == lifecycle.STOPS
    assert {"delete", "postdelete", "undeploy"} == lifecycle.REMOVES
    assert {"monitor_start", "start"} == lifecycle.WATCHES
    assert mapped.UP == {Up.MAKE: ("create", "configure", "start"), Up.START: ("start",)}
    assert mapped.DOWN == {Down.REMOVE: ("stop", "delete"), Down.STOP: ("stop",)}
    assert {"deploy", "deploy_on_host"} == lifecycle.DEPLOYS_ARTIFACT
    assert {"undeploy", "undeploy_from_host"} == lifecycle.UNDEPLOYS_ARTIFACT


def test_what_prepares_the_ends_of_a_relationship() -> None:
    assert {"pre_configure_source", "post_configure_source"} == lifecycle.PREPARES_SOURCE
    at_target = [p.row for p in lifecycle.INSTALL if p.row.per is lifecycle.Per.NEAR and p.row.side == "target"]
    assert [row.operation for row in at_target] == ["pre_configure_target", "post_configure_target"]
    assert tuple(row.operation for row in at_target) == BEFORE_THE_SOURCE
    assert {name: kind.name for name, kind in compared.OF_GONE.items()} == {
        "configure": "RECONFIGURE",
        "start": "RESTART",
        "monitor_start": "RESTART",
    }
