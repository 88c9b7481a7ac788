"""Plans that need a second person: who can confirm them, and hundreds of confirmations that do not count."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from alerts.cards.posted import CardKind, PostedCard
from commands.command_catalogue import CATALOGUE
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext, Defaults
from commands.core.grant import Grant
from commands.core.matching.lexicon import Lexicon
from commands.core.permissions import Permissions
from commands.core.request import Actor, ActorKind, Request
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Origin, Plan, PlanState, Risk, in_order
from commands.execution.steps import Patch
from commands.models import AuditEntry
from tests.support.yard import ANA, BO, DANA, NOON, Yard, lookalike_with, text_of, yard_before

ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
LEO = Actor(
    id="U_LEO", name="leo", teams=frozenset({"sre"})
)  # was removed from the team, which his token still names
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
    assert answer.beside_card is not None
    async with yard.store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find()
    assert (card.kind, card.channel, card.thread) == (CardKind.PLAN, "C_GPU", "1.1")
    shown = text_of(answer.message)
    assert "A second person has to confirm it: it ends vision/detr of ana." in shown
    assert "Anybody else who may run node wreck can confirm it, and so can ana." in shown
    assert "dana asked for it (" in shown


async def test_the_asker_cannot_and_another_who_may_run_it_can(yard: Yard) -> None:
    plan = await proposed(yard)
    refused = await confirm(yard, plan, DANA)
    assert "needs a second person, as it ends vision/detr of ana" in refused
    assert "Only oncall, speech or sre may run" in await confirm(
        yard, plan, replace(ANA, id="U_MEI", name="mei", person="U_MEI")
    )
    await confirm(yard, plan, ELI)
    assert (await yard.stored(plan.id)).state is PlanState.CONFIRMED
    assert await grounds(yard, plan) == "as the second person"


async def test_the_owner_of_all_that_ends_may_agree_without_a_grant(yard: Yard) -> None:
    plan = await proposed(yard)
    await confirm(yard, plan, ANA)
    done = await yard.stored(plan.id)
    assert (done.state, done.actor_name, done.confirmed_by_name) == (PlanState.CONFIRMED, "dana", "ana")
    assert await grounds(yard, plan) == "as the owner of what it ends"


async def test_an_owner_agrees_to_nothing_that_somebody_without_a_right_asks(yard: Yard) -> None:
    plan = replace(await proposed(yard), actor=BO.person, actor_name="bo", actor_teams=("speech",))
    async with yard.store.unit() as unit:  # as `ask` stores it, who may ask a team for what they may not run
        await unit.rows(Plan).put(plan)
    assert "may run node wreck" in await confirm(yard, plan, ANA)
    assert (await yard.stored(plan.id)).state is PlanState.PROPOSED


async def test_the_owner_of_a_part_may_not(yard: Yard, wreck: Wreck) -> None:
    wreck.ends = (DETR, replace(DETR, name="speech/asr", owner="bo", team="speech"))
    plan = await proposed(yard)
    assert "may run `node wreck`".replace("`", "") in await confirm(yard, plan, ANA)
    assert (await yard.stored(plan.id)).state is PlanState.PROPOSED


async def test_work_of_the_askers_own_team_needs_no_second_person(yard: Yard, wreck: Wreck) -> None:
    wreck.ends = (replace(DETR, owner="eli", team="sre"),)
    plan = await proposed(yard)
    assert plan.risk is Risk.TOUCH
    await confirm(yard, plan, DANA)
    assert (await yard.stored(plan.id)).state is PlanState.CONFIRMED
    assert await grounds(yard, plan) == ""


async def test_a_team_of_the_settings_confirms_alone_and_the_audit_says_so(yard: Yard) -> None:
    plan = await proposed(yard, ALONE)
    shown = await yard.say("node wreck", ALONE)
    assert "kim may confirm it alone: the settings of team oncall allow that." in shown
    plan = await proposed(yard, ALONE)
    await confirm(yard, plan, ALONE)
    assert (await yard.stored(plan.id)).state is PlanState.CONFIRMED
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
    assert (await yard.stored(plan.id)).state is PlanState.CANCELLED
    await confirm(yard, fresh, DANA)
    assert (await yard.stored(fresh.id)).state is PlanState.PROPOSED


SLACK_AND_TOKEN = replace(DANA, id="token:dana", person=DANA.id, ids=frozenset({DANA.id, "token:dana"}))
PEOPLE: Mapping[str, Actor] = {
    "the asker": DANA,
    "the asker by a token of theirs": SLACK_AND_TOKEN,
    "the asker's other row": replace(SLACK_AND_TOKEN, person="token:dana"),
    "a member who was removed since": LEO,
    "somebody of another cluster's team": BO,
    "somebody with the owner's name": replace(ANA, id="U_OTHER", person="U_OTHER"),
    "somebody of the owner's team": replace(ANA, id="U_MEI", name="mei", person="U_MEI"),
    "a guest with the owner's name": replace(ANA, is_guest=True),
    "a guest of the right team": replace(ELI, is_guest=True),
    "an automation": REMEDIATION,
    "an automation with the owner's name": replace(REMEDIATION, name="ana"),
    "a second person": ELI,
    "the owner": ANA,
}
MAY = {"a second person", "the owner"}  # with the right hash, in time

# From the plan, another plan and the plan of an older preview to the hash that is given.
HASHES: Mapping[str, Callable[[Plan, Plan, Plan], str]] = {
    "its hash": lambda plan, _other, _older: plan.hash,
    "no hash": lambda _plan, _other, _older: "''",
    "the hash of another plan": lambda _plan, other, _older: other.hash,
    "the hash of an older preview": lambda _plan, _other, older: older.hash,
    "a hash that is cut": lambda plan, _other, _older: plan.hash[:-1],
    "a hash with one more digit": lambda plan, _other, _older: f"{plan.hash}0",
    "a hash with another digit": lambda plan, _other, _older: (
        f"{plan.hash[:-1]}{'1' if plan.hash[-1] == '0' else '0'}"
    ),
    "a hash in capitals": lambda plan, _other, _older: f"{plan.hash[:-1].upper()}G",
    "a hash backwards": lambda plan, _other, _older: f"{plan.hash[::-1]}x",
    "a hash of zeros": lambda plan, _other, _older: "0" * len(plan.hash),
    "a pattern": lambda _plan, _other, _older: "'*'",
    "the id of the plan": lambda plan, _other, _older: plan.id,
}


@dataclass
class Forged:
    """A plan at one moment, and all that may be tried then."""

    yard: Yard
    plan: Plan
    other: Plan
    older: Plan

    async def tries(self, moment: str, *, is_open: bool) -> int:
        """Try everybody with every hash; none may count. Return how many were tried."""
        count = 0
        for who, hash in product(PEOPLE, HASHES):
            if is_open and who in MAY and hash == "its hash":
                continue
            before = await self.rows()
            line = f"plan confirm {self.plan.id} --hash {HASHES[hash](self.plan, self.other, self.older)}"
            await self.yard.say(line, PEOPLE[who])
            assert await self.rows() == before, f"{moment}: {who} with {hash} counted"
            count += 1
        return count

    async def rows(self) -> tuple[list[Plan], int]:
        """Return all plans, and how often one was confirmed."""
        async with self.yard.store.read() as snapshot:
            entries = await snapshot.rows(AuditEntry).find(limit=100_000)
            plans = await snapshot.rows(Plan).find()
        return list(plans), sum(entry.what == "confirmed" for entry in entries)


async def test_no_confirmation_that_is_forged_altered_late_replayed_or_self_made_counts(
    yard: Yard, wreck: Wreck
) -> None:
    """Everybody with every hash, while the plan waits, and when it is late, cancelled, or done."""

    async def current(actor: Actor) -> Actor:
        return replace(actor, teams=frozenset()) if actor.id == LEO.id else actor

    yard.pipeline = replace(yard.pipeline, current=current)
    wreck.decided = ("another",)
    other = await proposed(yard, ALONE)
    wreck.decided = ("as it was first shown",)
    older = await proposed(yard)
    wreck.decided = ()
    plan = await proposed(yard)
    assert len({plan.hash, other.hash, older.hash}) == 3
    forged = Forged(yard, plan, other, older)
    count = await forged.tries("while it waits", is_open=True)

    yard.clock.move(yard.pipeline.defaults.plan_expires + timedelta(seconds=1))
    count += await forged.tries("late", is_open=False)

    forged.plan = await proposed(yard)
    await yard.say(f"plan cancel {forged.plan.id}")
    count += await forged.tries("cancelled", is_open=False)

    forged.plan = await proposed(yard)
    await confirm(yard, forged.plan, ELI)
    done = await yard.executor.execute(await yard.stored(forged.plan.id))
    assert (done.state, done.confirmed_by_name) == (PlanState.DONE, "eli")
    count += await forged.tries("done", is_open=False)
    assert count >= 200


async def test_a_click_that_is_delivered_again_confirms_nothing_more(yard: Yard) -> None:
    plan = await proposed(yard)
    click = Request(
        id="slack/1700000000.1",
        line=f"plan confirm {plan.id} --hash {plan.hash}",
        actor=ELI,
        at=yard.clock.now(),
        origin=Origin(via="slack"),
    )
    assert await yard.pipeline.handle(click) is not None
    confirmed = await yard.stored(plan.id)
    assert confirmed.state is PlanState.CONFIRMED
    fresh = await proposed(yard)
    forged = Forged(yard, plan, fresh, fresh)
    before = await forged.rows()
    for again in (click, replace(click, line=f"plan confirm {fresh.id} --hash {fresh.hash}")):
        assert await yard.pipeline.handle(again) is None, "its id was handled"
    await yard.pipeline.handle(replace(click, is_resumed=True))
    await yard.pipeline.handle(replace(click, id="slack/1700000000.2"))
    assert await forged.rows() == before


async def test_a_preview_that_is_late_replaced_or_cancelled_cannot_be_confirmed(
    yard: Yard, wreck: Wreck
) -> None:
    old = await proposed(yard)
    new = await proposed(yard)
    assert "can no longer be confirmed: replaced by" in await confirm(yard, old, ELI)
    wreck.decided = ("something else",)
    assert "this is the new plan" in await confirm(yard, new, ELI), "what was decided has changed"
    assert (await yard.stored(new.id)).state is PlanState.CANCELLED
    fresh = await yard.newest()
    assert fresh is not None
    assert "is not the plan you were shown" in await confirm(yard, fresh, ELI, new.hash)
    yard.clock.move(yard.pipeline.defaults.plan_expires + timedelta(seconds=1))
    assert "has expired" in await confirm(yard, fresh, ELI)
    assert (await yard.stored(fresh.id)).state is PlanState.PROPOSED
    assert yard.clock.now() > NOON
