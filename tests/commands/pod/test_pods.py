"""`pod list|show|events|logs`: any pod, whose it is, why it does not run, and its last lines."""

from collections.abc import Callable
from typing import Any

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.pod.conftest import lose_node
from tests.support.yard import Yard

WAITING = {
    "phase": "Pending",
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable.",
        }
    ],
}
CRASHING = {
    "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
    "containerStatuses": [
        {
            "name": "main",
            "restartCount": 7,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting"}},
            "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
        }
    ],
}


async def test_the_list_has_what_does_not_run_and_why_and_counts_the_rest(
    yard: Yard, add_pod: Callable[..., Any]
) -> None:
    await add_pod("well")
    await add_pod("waits", node="", status=WAITING)
    await add_pod("crashes", status=CRASHING, labels={"owner": "ana"})
    await add_pod("done", status={"phase": "Succeeded", "conditions": []})

    reply = await yard.say("pod list")

    assert "2 of 4 pods not running" in reply
    assert (
        "work/waits |  | Unschedulable: of 2 nodes, 1 has too little nvidia.com/gpu free, 1 is cordoned"
        in reply
    )
    assert "work/crashes | gpu-a01 | CrashLoopBackOff: back-off 5m0s restarting; OOMKilled with 137" in reply
    assert "| ana" in reply
    assert "2 pods run or have finished" in reply
    assert "work/well" not in reply
    assert "work/well | gpu-a01 | Running" in await yard.say("pod list --all")


async def test_a_filter_lists_also_those_that_run(yard: Yard, add_pod: Callable[..., Any]) -> None:
    await add_pod("here")
    await add_pod("there", node="gpu-a02")
    await add_pod("mine", node="gpu-a02", labels={"owner": "dana"})
    on_node = await yard.say("pod list --node gpu-a02")
    assert "work/there" in on_node
    assert "work/here" not in on_node
    assert "There are no such pods." in await yard.say("pod list --namespace other")
    own = await yard.say("pod list --mine")
    assert "work/mine" in own
    assert "work/there" not in own


async def test_a_pod_is_shown_with_its_owner_why_its_containers_and_last_lines(
    yard: Yard, add_pod: Callable[..., Any]
) -> None:
    await add_pod("crashes", status=CRASHING, labels={"owner": "ana", "team": "vision"})
    reply = await yard.say("pod show crashes")
    assert "Pod work/crashes" in reply
    assert "state: Running: CrashLoopBackOff: back-off 5m0s restarting" in reply
    assert "owner: ana, team vision" in reply
    assert "main | CrashLoopBackOff | 7 (137) | registry.example/main:1" in reply
    assert "Loss is NaN" in reply
    assert "hunter2hunter2" not in reply
    assert "[Logs] pod logs work/crashes" in reply
    assert "[Delete] pod delete work/crashes" in reply


async def test_a_pod_whose_node_does_not_report_is_said_to_be_lost(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    await add_pod("lost")
    await lose_node(kube, yard)
    assert "its node gpu-a01 is not ready" in await yard.say("pod show lost")


async def test_events_are_shown_newest_first_and_redacted(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    await add_pod("web")
    assert "The cluster has no events for it" in await yard.say("pod events web")
    for number, (reason, message) in enumerate(
        (("Pulled", "image there"), ("Failed", "password=hunter2hunter2"))
    ):
        kube.create(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"web.{number}"},
                "involvedObject": {"kind": "Pod", "namespace": "work", "name": "web", "apiVersion": "v1"},
                "reason": reason,
                "message": message,
                "lastTimestamp": f"2026-11-21T11:0{number}:00Z",
            },
            namespace="work",
        )
    await yard.seen(lambda: len(yard.cluster.inventory().all(_events())) == 2)
    reply = await yard.say("pod events web")
    assert reply.index("Failed") < reply.index("Pulled: image there")
    assert "hunter2hunter2" not in reply


def _events() -> Any:
    from collectors.cluster.kinds import EVENTS

    return EVENTS


async def test_logs_are_those_of_the_container_that_failed_bounded_and_redacted(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    two = {"containers": [{"name": "main", "image": "i"}, {"name": "side", "image": "i"}]}
    ends = [
        {"name": "main", "restartCount": 0, "state": {"running": {}}},
        {"name": "side", "restartCount": 0, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}},
    ]
    await add_pod("two", spec=two, status={"containerStatuses": ends})
    reply = await yard.say("pod logs two")
    assert "The log of work/two, container side" in reply
    assert "hunter2hunter2" not in reply
    assert "container main" in await yard.say("pod logs two --container main")
    assert "There is no container `sid`. Did you mean `side`?".replace("`", "") in await yard.say(
        "pod logs two --container sid"
    )
    assert "has not restarted" in await yard.say("pod logs two --container main --previous")


@pytest.mark.parametrize("line", ["pod show nothing", "pod logs work/nothing", "pod events nothing"])
async def test_an_unknown_pod_is_answered_with_what_there_is(
    yard: Yard, add_pod: Callable[..., Any], line: str
) -> None:
    await add_pod("web")
    assert "There is no pod" in await yard.say(line)


async def test_a_name_that_two_namespaces_have_is_asked_for_in_full(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    await add_pod("web")
    await add_pod("web", namespace="other")
    assert "web is ambiguous: other/web, work/web. Use the full name." in await yard.say("pod show web")


async def test_people_say_it_in_their_own_words(yard: Yard, add_pod: Callable[..., Any]) -> None:
    await add_pod("waits-0", node="", status=WAITING)
    for line in (
        "why is pod waits-0 pending",
        "kubectl describe pod waits-0",
        "why is pod work/waits-0 pending?",
    ):
        assert "Pod work/waits-0" in await yard.say(line), line
    assert "1 of 1 pod not running" in await yard.say("which pods are pending")
