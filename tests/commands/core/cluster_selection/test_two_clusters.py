"""Two clusters with equal node names: lines, buttons and permissions apply to the selected cluster."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.cards.message import Button, Buttons, Message
from alerts.cards.text import text
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from commands.core.cluster_selection import with_cluster
from commands.core.command import Answer
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Request
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Origin, PlanState
from commands.models import ReclaimRequest
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.alerting import NOON, a_topology, an_alert
from tests.support.grouping import add_alert
from tests.support.rows import a_request
from tests.support.yard import DANA, Yard, a_node_tree, yard_before


@dataclass
class Two:
    """A yard for prod-a, the default, and prod-b, each with a node gpu-a01."""

    yard: Yard
    clusters: dict[str, KubernetesLookalike]

    def cordoned(self) -> list[str]:
        return [
            name
            for name, kube in self.clusters.items()
            if (kube.get("nodes", "", "gpu-a01") or {})["spec"].get("unschedulable")
        ]

    def allow(self, cluster: str) -> None:
        grant = Grant(commands=("*",), clusters=(cluster,))
        permissions = Permissions(teams={"sre": grant}, automation={})
        self.yard.pipeline = replace(self.yard.pipeline, permissions=permissions)

    async def incident_on_b(self) -> None:
        alert = replace(an_alert(), cluster="prod-b")
        opened = open_incident("i1", alert, channels=(), now=NOON)
        incident = add_alert(opened, alert, GroupingContext(rules={}, topology=a_topology()), NOON)
        async with self.yard.store.unit() as unit:
            await unit.rows(Incident).put(incident)


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Two]:
    async with AsyncExitStack() as stack:
        kubes, yards = {}, {}
        for name in ("prod-a", "prod-b"):
            kube = await stack.enter_async_context(KubernetesLookalike.running(controllers=False))
            kube.create(a_node_tree("gpu-a01"), keep_status=True)
            kubes[name] = kube
            yards[name] = await stack.enter_async_context(yard_before(kube.kubeconfig(tmp_path / name)))
            yards[name].cluster.name = name
        first = yards["prod-a"]
        first.pipeline = replace(
            first.pipeline,
            clusters={name: one.cluster for name, one in yards.items()},
            writers={name: one.writer for name, one in yards.items()},
        )
        first.executor = PlanExecutor(first.store, first.pipeline.writers, first.clock)
        yield Two(first, kubes)


def lines(answer: Answer | None) -> list[str]:
    assert answer is not None
    return [
        one.line for block in answer.message.blocks if isinstance(block, Buttons) for one in block.buttons
    ]


BUTTONS_IN_B = [  # of `node show gpu-a01`
    "node cordon gpu-a01 --cluster prod-b",
    "node evidence gpu-a01 --cluster prod-b",
    "node taint gpu-a01 --form --cluster prod-b",
]


async def test_buttons_of_an_answer_name_its_cluster(two: Two) -> None:
    shown = lines(await two.yard.answer("node show gpu-a01 --cluster prod-b"))
    assert shown == BUTTONS_IN_B
    await two.yard.do(f"{shown[0]} --reason hot")
    assert two.cordoned() == ["prod-b"]


async def test_a_plan_is_confirmed_and_undone_in_its_cluster(two: Two) -> None:
    done = await two.yard.do("node cordon gpu-a01 --reason hot --cluster prod-b")
    assert two.cordoned() == ["prod-b"]
    undone = await two.yard.do(f"plan undo {done.id}")
    assert (undone.cluster, undone.state) == ("prod-b", PlanState.DONE)
    assert two.cordoned() == []


async def test_a_preview_names_the_cluster(two: Two) -> None:
    assert "on prod-b" in await two.yard.say("node cordon gpu-a01 --reason hot --cluster prod-b")
    assert "on prod-a" in await two.yard.say("node cordon gpu-a01 --reason hot")


@pytest.mark.parametrize("line", ["cordon gpu-a01 in prod-b", "prod-b上的gpu-a01隔离一下"])
async def test_a_cluster_is_named_by_its_name_alone(two: Two, line: str) -> None:
    assert lines(await two.yard.answer("show gpu-a01 of prod-b")) == BUTTONS_IN_B
    assert "on prod-b" in await two.yard.say(line)


async def test_a_line_in_an_incidents_thread_is_for_its_cluster(two: Two) -> None:
    await two.incident_on_b()
    request = Request(
        id="g1", line="node show gpu-a01", actor=DANA, at=NOON, origin=Origin(via="slack", incident="i1")
    )
    assert lines(await two.yard.pipeline.handle(request)) == BUTTONS_IN_B


@pytest.mark.parametrize("thread", ["", "1.2"], ids=["a button of its card", "its thread"])
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("node cordon gpu-a01 --reason hot please", "node cordon gpu-a01 --reason hot --cluster prod-b"),
        ("node show gup-a01", "node show gpu-a01 --cluster prod-b"),
        ("please replace gpu-a01", "node drain gpu-a01 --cluster prod-b"),
        ("please replace gpu-a01 --cluster prod-a", "node drain gpu-a01 --cluster prod-a"),
        ("node show gup-a01 --cluster prod-a", "node show gpu-a01 --cluster prod-a"),
    ],
)
async def test_what_is_offered_about_an_incident_is_for_its_cluster(
    two: Two, line: str, offered: str, thread: str
) -> None:
    await two.incident_on_b()
    origin = Origin(via="slack", incident="i1", thread=thread)
    request = Request(id="g1", line=line, actor=DANA, at=NOON, origin=origin)
    assert lines(await two.yard.pipeline.handle(request))[:1] == [offered]


@pytest.mark.parametrize(("allowed", "is_acknowledged"), [("prod-a", False), ("prod-b", True)])
async def test_permission_to_acknowledge_depends_on_the_incidents_cluster(
    two: Two, allowed: str, is_acknowledged: bool
) -> None:
    await two.incident_on_b()
    two.allow(allowed)
    reply = await two.yard.say("alert ack i1")
    assert ("You acknowledged" in reply) is is_acknowledged
    assert ("prod-b" in reply) is not is_acknowledged


async def test_a_row_named_with_another_cluster_is_refused(two: Two) -> None:
    await two.incident_on_b()
    assert (
        await two.yard.say("incident show i1 --cluster prod-a")
        == "i1 belongs to cluster prod-b, not to prod-a."
    )


async def test_an_option_value_that_names_a_row_does_not_select_its_cluster(two: Two) -> None:
    two.allow("prod-a")
    requests = [
        a_request(
            NOON,
            id=id,
            cluster=cluster,
            training="vision-detr/detr",
            asked_by="U_BO",
            asked_by_name="bo",
            grace_until=NOON + timedelta(hours=1),
        )
        for id, cluster in (("ca", "prod-a"), ("cb", "prod-b"))
    ]
    async with two.yard.store.unit() as unit:
        for request in requests:
            await unit.rows(ReclaimRequest).put(request)
    for line in ("gpu keep cb", "gpu keep --reason ca cb", "gpu snooze --for 2h --reason=ca cb"):
        assert "Only ana, or someone who may run gpu free there, can answer" in await two.yard.say(line)
    assert "Kept" in await two.yard.say("gpu keep --reason cb ca")


@pytest.mark.parametrize(
    ("line", "scoped"),
    [
        ("node cordon a", "node cordon a --cluster prod-b"),
        ("training launch t -- --epochs 3", "training launch t --cluster prod-b -- --epochs 3"),
        ("gpu keep c1 --cluster prod-c", "gpu keep c1 --cluster prod-c"),
    ],
)
def test_a_button_names_its_cluster_once_and_before_extra_arguments(line: str, scoped: str) -> None:
    message = Message(title=text("t"), blocks=(Buttons(buttons=(Button(label="Do", line=line),)),))
    assert lines(Answer(message=with_cluster(message, "prod-b"))) == [scoped]
