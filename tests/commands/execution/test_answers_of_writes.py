"""A write is done once its answer, or the object, has what was written: a 200 alone says nothing."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from commands.core.cordoned_nodes import BY
from commands.execution.plan import Plan, PlanState, StepState
from commands.execution.plan_card import card_of
from commands.models import CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import executor
from tests.support.yard import Yard, a_node_tree, text_of, yard_before

NODE = "gpu-a01"
Answer = Callable[[dict[str, Any]], dict[str, Any]]  # of what the server answered


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(controllers=False) as running:
        running.create(a_node_tree(NODE), keep_status=True)
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "config")) as made:
        yield made


def answering(yard: Yard, answer: Answer, *, lands: bool, dry: bool = False) -> None:
    """Let the server answer patches so, which take effect or not."""
    client = yard.writer._client
    real = client.call

    async def call(method: str, path: str, **named: Any) -> bytes:
        is_dry = "dryRun" in (named.get("params") or {})
        if method != "PATCH" or is_dry is not dry:
            return await real(method, path, **named)
        found = await real(*(("PATCH", path) if lands else ("GET", path)), **(named if lands else {}))
        return json.dumps(answer(json.loads(found))).encode()

    client.call = call  # type: ignore[method-assign]


def schedulable(node: dict[str, Any]) -> dict[str, Any]:
    return {**node, "spec": {}}


def renamed(node: dict[str, Any]) -> dict[str, Any]:
    return {**node, "metadata": {**node["metadata"], "name": "gpu-b01"}}


def replaced(node: dict[str, Any]) -> dict[str, Any]:
    return {**node, "metadata": {**node["metadata"], "uid": "another"}}


def empty(_: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {}}


ANSWERS = [
    pytest.param(schedulable, "spec.unschedulable is None, not True", id="without what was written"),
    pytest.param(renamed, "answered with Node gpu-b01", id="another node"),
    pytest.param(replaced, "answered with another Node of this name", id="another node of this name"),
    pytest.param(empty, "answered with a Node without a name", id="an empty object"),
]


async def cordoned(yard: Yard, answer: Answer, *, lands: bool) -> Plan:
    plan = await yard.confirmed(await yard.plan(f"node cordon {NODE}"))
    answering(yard, answer, lands=lands)
    return await executor(yard.store, yard.writer).execute(plan)


async def leases(yard: Yard) -> list[str]:
    async with yard.store.read() as snapshot:
        return [lease.node for lease in await snapshot.rows(CordonLease).find()]


@pytest.mark.parametrize(("answer", "said"), ANSWERS)
async def test_a_write_that_never_took_effect_was_not_done(yard: Yard, answer: Answer, said: str) -> None:
    plan = await cordoned(yard, answer, lands=False)

    records = await yard.records(plan)
    assert (plan.state, [one.state for one in records], await leases(yard)) == (
        PlanState.FAILED,
        [StepState.FAILED, StepState.SKIPPED],
        [],
    )
    card = text_of(card_of(plan, records))
    assert said in card
    assert f"Checked again: node {NODE} is not as this step would leave it." in card


@pytest.mark.parametrize(("answer", "said"), ANSWERS)
async def test_a_write_that_took_effect_is_done_whatever_the_answer(
    yard: Yard, kube: KubernetesLookalike, answer: Answer, said: str
) -> None:
    plan = await cordoned(yard, answer, lands=True)

    node = kube.get("nodes", "", NODE)
    assert node is not None
    assert (plan.state, node["spec"].get("unschedulable"), await leases(yard)) == (
        PlanState.DONE,
        True,
        [NODE],
    )


async def test_what_a_webhook_takes_back_in_the_dry_run_is_not_even_proposed(yard: Yard) -> None:
    answering(yard, schedulable, lands=True, dry=True)
    said = await yard.say(f"node cordon {NODE}")
    assert "spec.unschedulable is None, not True: something there, such as an admission webhook" in said
    assert await yard.newest() is None


async def test_what_a_webhook_adds_is_fine(yard: Yard) -> None:
    def more(node: dict[str, Any]) -> dict[str, Any]:
        meta = node["metadata"]
        annotations = {**meta.get("annotations", {}), "audit.example.com/by": "webhook"}
        return {**node, "metadata": {**meta, "annotations": annotations}, "spec": {**node["spec"], "a": 1}}

    plan = await cordoned(yard, more, lands=True)
    assert (plan.state, await leases(yard)) == (PlanState.DONE, [NODE])


async def test_a_node_of_which_nothing_but_the_cordon_was_kept_is_said_and_gets_no_lease(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    """A webhook that takes back only the cordon leaves our annotations: `node uncordon` removes them."""
    plan = await yard.confirmed(await yard.plan(f"node cordon {NODE}"))
    client = yard.writer._client
    real = client.call

    async def call(method: str, path: str, **named: Any) -> bytes:
        if method == "PATCH" and "dryRun" not in named["params"]:
            named["body"] = {**named["body"], "spec": {"unschedulable": None}}
        return await real(method, path, **named)

    client.call = call  # type: ignore[method-assign]
    plan = await executor(yard.store, yard.writer).execute(plan)
    assert (plan.state, await leases(yard)) == (PlanState.FAILED, [])
    assert "Other changes of this step may remain." in plan.error

    assert (await yard.do(f"node uncordon {NODE}")).state is PlanState.DONE
    node = kube.get("nodes", "", NODE)
    assert node is not None
    assert BY not in (node["metadata"].get("annotations") or {})


async def test_a_read_that_answers_with_another_node_is_not_an_answer(yard: Yard) -> None:
    plan = await yard.confirmed(await yard.plan(f"node cordon {NODE}"))
    client = yard.writer._client
    real = client.call

    async def call(method: str, path: str, **named: Any) -> bytes:
        found = await real(method, path, **named)
        return json.dumps(renamed(json.loads(found))).encode() if method == "GET" else found

    client.call = call  # type: ignore[method-assign]
    plan = await executor(yard.store, yard.writer).execute(plan)
    assert plan.state is PlanState.FAILED
    assert f"was asked for node {NODE} and answered with Node gpu-b01. This step was not done." in plan.error
