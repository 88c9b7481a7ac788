"""A cordon that is one's own, or one's team's: extended, ended and handed over without a grant; nobody else's is."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from commands.core.context import Defaults
from commands.core.request import Actor, ActorKind
from commands.execution.plan import PlanState
from commands.models import CordonLease
from tests.support.yard import ANA, BO, CLUSTER, DANA, NOON, Yard, yard_on

MEI = Actor(id="U_MEI", name="mei", teams=frozenset({"vision"}))
MEMBERS = {"vision": (ANA.id, MEI.id), "sre": (DANA.id,)}
TOKEN = Actor(id="remediation", name="ana", kind=ActorKind.AUTOMATION, person=ANA.person)


async def members(team: str) -> Sequence[str]:
    return MEMBERS.get(team, ())


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    """Two cordons of dana's, of which she handed one over to ana, who may run no command of nodes."""
    async with yard_on(tmp_path, "gpu-a01", "gpu-a02") as yard:
        yard.pipeline = replace(
            yard.pipeline, defaults=Defaults(owners={"ana": ANA.person, "dana": DANA.person}), members=members
        )
        await yard.do("node cordon gpu-a01 gpu-a02 --reason fan --for 4h")
        await yard.seen(
            lambda: all(one.spec.unschedulable for one in yard.cluster.inventory().nodes.values())
        )
        done = await yard.do("node hand-over gpu-a01 --to @ana")
        assert done.state is PlanState.DONE, done.error
        yield yard


async def lease(yard: Yard, node: str = "gpu-a01") -> CordonLease | None:
    async with yard.store.read() as snapshot:
        return await snapshot.rows(CordonLease).get(f"{CLUSTER}/{node}")


@pytest.mark.parametrize("who", [ANA, MEI], ids=["the owner", "the owner's team"])
async def test_the_owner_and_their_team_extend_and_end_it(yard: Yard, who: Actor) -> None:
    extended = await yard.do("node extend gpu-a01 --for 2d", who)
    assert (extended.state, extended.title) == (PlanState.DONE, "Extend the cordon of gpu-a01"), (
        extended.error
    )
    found = await lease(yard)
    assert found is not None
    assert (found.until, found.owner, found.teams) == (NOON + timedelta(days=2), ANA.person, ("vision",))
    undone = await yard.do(f"plan undo {extended.id}", who)
    assert undone.state is PlanState.DONE, undone.error
    ended = await yard.do("node uncordon gpu-a01", who)
    assert ended.state is PlanState.DONE, ended.error
    assert await lease(yard) is None


async def test_the_owner_hands_it_on(yard: Yard) -> None:
    done = await yard.do("node hand-over gpu-a01 --to @dana", ANA)
    assert done.state is PlanState.DONE, done.error
    found = await lease(yard)
    assert found is not None
    assert (found.owner, found.teams) == (DANA.person, ("sre",))
    assert "Only sre may run node extend" in await yard.say("node extend gpu-a01 --for 1h", ANA)


@pytest.mark.parametrize("verb", ["extend", "uncordon", "hand-over --to @ana"])
async def test_what_is_not_theirs_needs_the_grant(yard: Yard, verb: str) -> None:
    word, _, more = verb.partition(" ")
    for nodes, who in (("gpu-a02", ANA), ("gpu-a01 gpu-a02", ANA), ("gpu-a01", BO)):
        assert f"Only sre may run node {word}" in await yard.say(f"node {word} {nodes} {more}", who)
    assert "Only sre may run node cordon" in await yard.say("node cordon gpu-a01 --for 1h", ANA)
    assert f"do not allow `node {word}`".replace("`", "") in await yard.say(
        f"node {word} gpu-a01 {more}", TOKEN
    )


async def test_who_confirms_it_needs_the_cordon_or_the_grant_too(yard: Yard) -> None:
    plan = await yard.plan("node extend gpu-a01 --for 2d", ANA)
    assert "Only sre may run node extend" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", BO)
    await yard.do("node hand-over gpu-a01 --to @dana")
    assert "Only sre may run node extend" in await yard.say(
        f"plan confirm {plan.id} --hash {plan.hash}", ANA
    ), "it is not hers any more"


async def test_a_node_without_a_cordon_of_ours_is_not_extended(yard: Yard) -> None:
    await yard.do("node uncordon gpu-a02")
    assert "gpu-a02 has no cordon of ours that could be extended." in await yard.say("node extend gpu-a02")
