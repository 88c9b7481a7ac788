"""Nodes out of service, and disrupted lately, by what the cluster shows of them."""

from datetime import datetime, timedelta

import pytest

from collectors.cluster.base import ObjectMeta
from collectors.cluster.objects import Condition, Node, NodeSpec, NodeStatus, Taint
from commands.core.nodes_out import out_since, was_disrupted_lately, why_out
from tests.support.yard import NOON

MINUTES = timedelta(minutes=1)
OLD = NOON - timedelta(days=9)
EARLIER, LATELY = NOON - 61 * MINUTES, NOON - 20 * MINUTES
CORDON = "node.kubernetes.io/unschedulable"


def a_node(
    *,
    created: datetime = OLD,
    ready: str = "True",
    ready_since: datetime | None = OLD,
    cordoned: bool = False,
    annotations: dict[str, str] | None = None,
    taints: tuple[Taint, ...] = (),
) -> Node:
    return Node(
        metadata=ObjectMeta(name="gpu-a01", creation_timestamp=created, annotations=annotations),
        spec=NodeSpec(unschedulable=cordoned, taints=taints),
        status=NodeStatus(
            conditions=(Condition(type="Ready", status=ready, last_transition_time=ready_since),)
        ),
    )


def tainted(key: str, effect: str = "NoSchedule", at: datetime | None = None) -> Taint:
    return Taint(key=key, effect=effect, time_added=at)


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (a_node(), ""),
        (a_node(cordoned=True), "cordoned by somebody else"),
        (a_node(ready="Unknown"), "not ready"),
        (
            a_node(taints=(tainted("node.kubernetes.io/disk-pressure"),)),
            "tainted node.kubernetes.io/disk-pressure:NoSchedule",
        ),
        (a_node(taints=(tainted("node.kubernetes.io/disk-pressure", "PreferNoSchedule"),)), ""),
        (a_node(taints=(tainted("nvidia.com/gpu"), tainted("team", "NoExecute"))), ""),
        (
            a_node(taints=(tainted("gpu"),), annotations={"yardmaster.io/taints": "gpu:NoSchedule"}),
            "tainted gpu:NoSchedule",
        ),
    ],
)
def test_why_a_node_is_out_of_service(node: Node, why: str) -> None:
    assert str(why_out(node)) == why


@pytest.mark.parametrize(
    ("node", "lately"),
    [
        pytest.param(a_node(), False, id="nothing happened"),
        pytest.param(a_node(ready_since=LATELY), True, id="it is ready again, as after a reboot"),
        pytest.param(a_node(ready_since=EARLIER), False, id="it was, more than an hour ago"),
        pytest.param(a_node(ready="False", ready_since=LATELY), True, id="it went not ready"),
        pytest.param(a_node(created=LATELY - MINUTES, ready_since=LATELY), False, id="it is new"),
        pytest.param(
            a_node(cordoned=True, taints=(tainted(CORDON, at=LATELY),)), True, id="others cordoned it"
        ),
        pytest.param(
            a_node(cordoned=True, taints=(tainted(CORDON, at=EARLIER),)), False, id="others did earlier"
        ),
        pytest.param(
            a_node(taints=(tainted("karpenter.sh/disrupted", at=LATELY),)), True, id="it is to be removed"
        ),
        pytest.param(a_node(ready_since=None), False, id="nothing is known"),
    ],
)
def test_what_was_disrupted_in_the_last_hour(node: Node, lately: bool) -> None:
    assert was_disrupted_lately(node, NOON) is lately


def test_since_when_it_is_out() -> None:
    assert out_since(a_node()) is None
    assert out_since(a_node(ready="False", ready_since=LATELY)) == LATELY
    ours = {"yardmaster.io/cordoned-at": "2026-11-21T11:00:00Z"}
    assert out_since(a_node(cordoned=True, annotations=ours)) == NOON - 60 * MINUTES
    garbled = {"yardmaster.io/cordoned-at": "yesterday"}
    node = a_node(cordoned=True, annotations=garbled, taints=(tainted(CORDON, at=LATELY),))
    assert out_since(node) == LATELY
