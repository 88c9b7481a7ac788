"""Plans that need a second person: who can confirm them, and 200 confirmations that do not count."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commands.command_catalogue import CATALOGUE
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext, Defaults
from commands.core.grant import Grant
from commands.core.matching.lexicon import Lexicon
from commands.core.permissions import Permissions
from commands.core.request import Actor, ActorKind
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState, Risk, in_order
from commands.execution.steps import Patch
from commands.models import AuditEntry
from tests.support.yard import ANA, BO, DANA, NOON, Yard, lookalike_with, yard_before

ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
ALONE = Actor(id="U_KIM", name="kim", teams=frozenset({"oncall"}))
REMEDIATION = Actor(
    id="remediation", name="remediation", kind=ActorKind.AUTOMATION, person="automation:remediation"
)
PERMISSIONS = Permissions(
    teams={
        "sre": Grant(commands=("*",)),
        "oncall": Grant(commands=("node *",), may_confirm_alone=("node wreck",)),
        "vision": Grant(commands=("training *",)),
        "speech": Grant(commands=("node *",), clusters=("lab",)),
    },
    automation={"remediation": Grant(commands=("node wreck",))},
)
DETR = Disruption(name="vision/detr", owner="ana", team="vision", gpus=8, ends=True)


class Wreck:
    """A command that ends what a test sets: `node wreck`."""

    def __init__(self) -> None:
        self.ends: tuple[Disruption, ...] = (DETR,)
        self.decided: tuple[str, ...] = ()

    async def plan(self, _action: Any, context: CommandContext) -> PlanDraft:
        node = context.cluster.inventory().nodes["gpu-a01"]
        ref = ObjectRef(api="v1", kind="Node", name="gpu-a01", uid=node.metadata.uid)
        patch = Patch(ref=ref, description="mark it", body={"metadata": {"labels": {"wrecked": "yes"}}})
        return PlanDraft(
            title="Wreck gpu-a01", stages=in_order(patch), disrupts=self.ends, decided=self.decided
        )


@pytest.fixture
def wreck() -> Wreck:
    return Wreck()


@pytest.fixture
async def yard(tmp_path: Path, wreck: Wreck) -> AsyncIterator[Yard]:
    command = Command(
        noun="node",
        verb="wreck",
        summary="Wreck.",
        action=dict,
        plan=wreck.plan,
        rights=Patch.rights("", "nodes"),
        example="node wreck",
    )
    async with (
        lookalike_with("gpu-a01") as kube,
        yard_before(
            kube.kubeconfig(tmp_path / "kubeconfig"),
            permissions=PERMISSIONS,
            policy=Defaults(owners={"ana": ANA.person}),
        ) as yard,
    ):
        yard.pipeline = replace(yard.pipeline, lexicon=Lexicon((*CATALOGUE, command)))
        yield yard


async def proposed(yard: Yard, actor: Actor = DANA, line: str = "node wreck") -> Plan:
    await yard.say(line, actor)
    plan = await yard.newest()
    assert plan is not None
    assert plan.line == line
    return plan


async def stored(yard: Yard, plan: Plan) -> Plan:
    async with yard.store.unit() as unit:
        found = await unit.rows(Plan).get(plan.id)
    assert found is not None
    return found


async def confirm(yard: Yard, plan: Plan, actor: Actor, hash: str | None = None) -> str:
    return await yard.say(f"plan confirm {plan.id} --hash {plan.hash if hash is None else hash}", actor)


async def grounds(yard: Yard, plan: Plan) -> str:
    async with yard.store.unit() as unit:
        entry = await unit.rows(AuditEntry).get(f"{plan.id}/confirmed")
    assert entry is not None
    return entry.text


async def test_the_preview_says_why_and_who_may_and_everybody_sees_it(yard: Yard) -> None:
    answer = await yard.answer("node wreck")
    assert answer is not None
    assert answer.is_public
    shown = await yard.say("node wreck")
    assert "A second person has to confirm it: it ends vision/detr of ana." in shown
    assert "Anybody else who may run node wreck can confirm it, and so can ana." in shown


async def test_the_asker_cannot_and_another_who_may_run_it_can(yard: Yard) -> None:
    plan = await proposed(yard)
    refused = await confirm(yard, plan, DANA)
    assert "needs a second person, as it ends vision/detr of ana" in refused
    assert "Only oncall, speech or sre may run" in await confirm(
        yard, plan, replace(ANA, id="U_MEI", name="mei", person="U_MEI")
    )
    await confirm(yard, plan, ELI)
    assert (await stored(yard, plan)).state is PlanState.CONFIRMED
    assert await grounds(yard, plan) == "as the second person"


async def test_the_owner_of_all_that_ends_may_agree_without_a_grant(yard: Yard) -> None:
    plan = await proposed(yard)
    await confirm(yard, plan, ANA)
    done = await stored(yard, plan)
    assert (done.state, done.actor_name, done.confirmed_by_name) == (PlanState.CONFIRMED, "dana", "ana")
    assert await grounds(yard, plan) == "as the owner of what it ends"


async def test_an_owner_agrees_to_nothing_that_somebody_without_a_right_asks(yard: Yard) -> None:
    plan = replace(await proposed(yard), actor=BO.person, actor_name="bo", actor_teams=("speech",))
    async with yard.store.unit() as unit:  # as `ask` stores it, who may ask a team for what they may not run
        await unit.rows(Plan).put(plan)
    assert "may run node wreck" in await confirm(yard, plan, ANA)
    assert (await stored(yard, plan)).state is PlanState.PROPOSED


async def test_the_owner_of_a_part_may_not(yard: Yard, wreck: Wreck) -> None:
    wreck.ends = (DETR, replace(DETR, name="speech/asr", owner="bo", team="speech"))
    plan = await proposed(yard)
    assert "may run `node wreck`".replace("`", "") in await confirm(yard, plan, ANA)
    assert (await stored(yard, plan)).state is PlanState.PROPOSED


async def test_work_of_the_askers_own_team_needs_no_second_person(yard: Yard, wreck: Wreck) -> None:
    wreck.ends = (replace(DETR, owner="eli", team="sre"),)
    plan = await proposed(yard)
    assert plan.risk is Risk.TOUCH
    await confirm(yard, plan, DANA)
    assert (await stored(yard, plan)).state is PlanState.CONFIRMED
    assert await grounds(yard, plan) == ""


async def test_a_team_of_the_settings_confirms_alone_and_the_audit_says_so(yard: Yard) -> None:
    plan = await proposed(yard, ALONE)
    shown = await yard.say("node wreck", ALONE)
    assert "kim may confirm it alone: the settings of team oncall allow that." in shown
    plan = await proposed(yard, ALONE)
    await confirm(yard, plan, ALONE)
    assert (await stored(yard, plan)).state is PlanState.CONFIRMED
    assert "alone, as `teams.oncall.may_confirm_alone` allows" in await grounds(yard, plan)


async def test_automation_runs_nothing_that_needs_one(yard: Yard, wreck: Wreck) -> None:
    refused = await yard.say("node wreck", REMEDIATION)
    assert "needs a second person, so automation cannot run it: it ends vision/detr of ana." in refused
    assert await yard.newest() is None
    wreck.ends = (replace(DETR, ends=False),)
    await yard.say("node wreck", REMEDIATION)
    plan = await yard.newest()
    assert plan is not None
    assert plan.state is PlanState.CONFIRMED


async def test_work_that_began_meanwhile_is_shown_again_and_needs_one_then(yard: Yard, wreck: Wreck) -> None:
    wreck.ends = ()
    plan = await proposed(yard)
    assert plan.risk is Risk.TOUCH
    wreck.ends = (DETR,)
    again = await confirm(yard, plan, DANA)
    assert "A second person has to confirm it" in again
    fresh = await yard.newest()
    assert fresh is not None
    assert (fresh.risk, fresh.state, fresh.actor) == (Risk.BREAK, PlanState.PROPOSED, DANA.person)
    assert (await stored(yard, plan)).state is PlanState.CANCELLED
    await confirm(yard, fresh, DANA)
    assert (await stored(yard, fresh)).state is PlanState.PROPOSED


Forgery = Callable[[Yard, Plan, Plan], Awaitable[object]]


def forgeries() -> Mapping[str, Forgery]:
    """Return confirmations of a plan that must not count, by what is wrong with them. The other plan is another's."""
    slack_and_token = replace(DANA, id="token:dana", person=DANA.id, ids=frozenset({DANA.id, "token:dana"}))
    by_person: dict[str, Actor] = {
        "the asker": DANA,
        "the asker by a token of theirs": slack_and_token,
        "the asker's other row": replace(slack_and_token, person="token:dana"),
        "a member who was removed": replace(ELI, teams=frozenset()),
        "somebody of another cluster's team": BO,
        "somebody with the owner's name": replace(ANA, id="U_OTHER", person="U_OTHER"),
        "somebody of the owner's team": replace(ANA, id="U_MEI", name="mei", person="U_MEI"),
        "a guest with the owner's name": replace(ANA, is_guest=True),
        "an automation": REMEDIATION,
        "an automation with the owner's name": replace(REMEDIATION, name="ana"),
    }
    by_hash: dict[str, Callable[[Plan, Plan], str]] = {
        "no hash": lambda _plan, _other: "''",
        "the hash of another plan": lambda _plan, other: other.hash,
        "a hash that is cut": lambda plan, _other: plan.hash[:-1],
        "a hash with one more digit": lambda plan, _other: f"{plan.hash}0",
        "a hash in capitals": lambda plan, _other: plan.hash.upper() + "X",
        "a hash of zeros": lambda plan, _other: "0" * len(plan.hash),
    }

    def of_person(actor: Actor) -> Forgery:
        return lambda yard, plan, _other: confirm(yard, plan, actor)

    def of_hash(made: Callable[[Plan, Plan], str]) -> Forgery:
        return lambda yard, plan, other: confirm(yard, plan, ELI, made(plan, other))

    return {name: of_person(actor) for name, actor in by_person.items()} | {
        name: of_hash(made) for name, made in by_hash.items()
    }


async def test_two_hundred_confirmations_that_are_forged_do_not_count(yard: Yard, wreck: Wreck) -> None:
    kinds, seeds = forgeries(), random.Random(23)
    wreck.decided = ("another",)
    other = await proposed(yard, ALONE)
    wreck.decided = ()
    plan = await proposed(yard)
    assert other.hash != plan.hash
    for number in range(200):
        name = seeds.choice(sorted(kinds))
        await kinds[name](yard, plan, other)
        assert (await stored(yard, plan)).state is PlanState.PROPOSED, f"{number}: {name} counted"
    await confirm(yard, plan, ELI)
    assert (await stored(yard, plan)).state is PlanState.CONFIRMED


async def test_a_preview_that_is_late_replaced_or_cancelled_cannot_be_confirmed(
    yard: Yard, wreck: Wreck
) -> None:
    old = await proposed(yard)
    new = await proposed(yard)
    assert "can no longer be confirmed: replaced by" in await confirm(yard, old, ELI)
    wreck.decided = ("something else",)
    assert "this is the new plan" in await confirm(yard, new, ELI), "what was decided has changed"
    assert (await stored(yard, new)).state is PlanState.CANCELLED
    fresh = await yard.newest()
    assert fresh is not None
    assert "is not the plan you were shown" in await confirm(yard, fresh, ELI, new.hash)
    yard.clock.move(yard.pipeline.defaults.plan_expires + timedelta(seconds=1))
    assert "has expired" in await confirm(yard, fresh, ELI)
    assert (await stored(yard, fresh)).state is PlanState.PROPOSED
    assert yard.clock.now() > NOON
