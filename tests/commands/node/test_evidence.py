"""`node evidence`: one file, without secrets, whatever is blind; and taken before a plan's first step."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from alerts.incidents.incident import Incident
from bot.jobs import evidence_taker
from bot.jobs.evidence_taker import EvidenceTaker
from bot.jobs.plan_runner import PlanRunner
from commands.core.command import Answer
from commands.execution.plan import Plan, PlanState
from commands.models import NodeEvidence
from commands.node import node_evidence as evidence
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.incidents import an_open_incident, resolved
from tests.support.yard import NOON, Yard, text_of

NODE = "gpu-a01"


async def answered(yard: Yard, line: str = f"node evidence {NODE}") -> Answer:
    answer = await yard.answer(line)
    assert isinstance(answer, Answer)
    return answer


async def taken(yard: Yard, line: str = f"node evidence {NODE}") -> str:
    (file,) = (await answered(yard, line)).message.attachments
    return file.content


async def kept(yard: Yard) -> list[NodeEvidence]:
    async with yard.store.unit() as unit:
        return list(await unit.rows(NodeEvidence).find())


async def test_the_file_has_what_is_known_and_says_what_is_not(yard: Yard, kube: KubernetesLookalike) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e1", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": NODE, "apiVersion": "v1"},
        "reason": "XIDError",
        "message": "GPU 3 has fallen off\nthe bus, token=abcdefghijklmnop1234\u202e",
        "lastTimestamp": "2026-11-21T11:59:00Z",
    }
    kube.create(event, namespace="default")
    samples = [({"__name__": "DCGM_FI_DEV_XID_ERRORS", "gpu": "3", "Hostname": NODE}, 79.0)]
    yard.prometheus.say("DCGM_FI_DEV_XID_ERRORS", samples=samples)
    await yard.do(f"node cordon {NODE} --reason fan")
    content = await taken(yard)
    assert "XIDError: GPU 3 has fallen off the bus" in content
    assert "abcdefghijklmnop1234" not in content
    assert "\u202e" not in content
    assert "GPU 3 DCGM_FI_DEV_XID_ERRORS: 79" in content
    assert "Ready=True (KubeletReady)" in content
    assert "cordoned by dana" in content
    assert "not known: the settings name no log store" in content
    (row,) = await kept(yard)
    assert (row.node, row.plan) == (NODE, "")


async def test_it_is_kept_with_the_open_incident_of_the_node_wherever_it_is_typed(yard: Yard) -> None:
    incident = replace(an_open_incident(), cluster=yard.cluster.name, group_key=f"node/{NODE}")
    async with yard.store.unit() as unit:
        await unit.rows(Incident).put(incident)
    await answered(yard)
    async with yard.store.unit() as unit:
        await unit.rows(Incident).put(resolved(incident))
    yard.clock.move(timedelta(minutes=10))
    await answered(yard)
    assert [one.incident for one in await kept(yard)] == ["i1", ""]


@pytest.mark.parametrize(
    ("incident", "said"), [("i1", "the file is kept with the incident"), ("", "the file is kept")]
)
def test_it_is_said_to_be_kept_with_an_incident_only_where_it_was_taken_for_one(
    incident: str, said: str
) -> None:
    row = NodeEvidence(id="e1", cluster="prod-a", node=NODE, incident=incident, at=NOON, text="# gpu-a01\n")
    title, *_, context = text_of(evidence.answer_of(row).message).splitlines()
    assert title == f"Evidence of {NODE} (2026-11-21 12:00 UTC)"
    assert context == (
        "In the file: the node's conditions and events, host errors, GPU figures, pods, lease and incidents. "
        f"Every source answered; {said}."
    )


async def test_a_source_that_is_blind_or_hangs_is_named(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "WITHIN", 0.2)
    yard.prometheus.go_blind("DCGM", reason="no route to host")

    class Hanging:
        async def lines(self, **_: Any) -> Any:
            await asyncio.sleep(3600)

    monkeypatch.setattr(yard.cluster, "logs", Hanging())
    content = await taken(yard)
    assert "not known: no route to host" in content
    assert "not known: no answer within" in content


async def test_it_is_taken_before_the_first_step_and_kept_with_the_plan(yard: Yard) -> None:
    plan = await yard.confirmed(await yard.plan(f"node cordon {NODE}"))
    taker = EvidenceTaker(yard.store, {"prod-a": yard.cluster}, yard.clock)
    runner = PlanRunner(yard.store, yard.executor, channel="", before=taker.take)
    over = await runner._executed(plan)
    assert isinstance(over, Plan)
    assert over.state is PlanState.DONE
    (row,) = await kept(yard)
    assert (row.plan, row.node) == (plan.id, NODE)
    assert "unschedulable: False" in row.text
    assert "unschedulable: False" in await taken(yard, f"node evidence {NODE} --plan {plan.id}")


async def test_a_plan_goes_on_without_it(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hanging(*_: Any) -> str:
        await asyncio.sleep(3600)
        raise AssertionError

    monkeypatch.setattr(evidence_taker, "evidence_of", hanging)
    monkeypatch.setattr(evidence_taker, "LIMIT", 0.1)
    plan = await yard.confirmed(await yard.plan(f"node cordon {NODE}"))
    taker = EvidenceTaker(yard.store, {"prod-a": yard.cluster}, yard.clock)
    over = await PlanRunner(yard.store, yard.executor, channel="", before=taker.take)._executed(plan)
    assert isinstance(over, Plan)
    assert over.state is PlanState.DONE
    assert await kept(yard) == []
