"""Consents: whom a plan asks, the requests to them, and the gate at which it waits for their answers."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b

from alerts.store import StoreSnapshot, Unit
from collectors.facts.clock import Clock
from collectors.facts.sentences import listed, sentence
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.core.ownership import ownership
from commands.execution.disruption import Disruption
from commands.execution.plan import GATED, GateName, Plan, PlanState
from commands.execution.plan_gate import LETS_GO, NONE_HELD, GateVerdict, PlanJudge
from commands.gates.consent import announced, consent_verdict
from commands.models import Launch, ReclaimRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentGate:
    """Holds a plan back until the owners of what it ends have answered. `silence_agrees`: or have not, in the grace."""

    clock: Clock
    silence_agrees: bool = False

    @property
    def name(self) -> GateName:
        return GateName.OWNERS

    async def look(
        self, plans: Sequence[Plan], rows: StoreSnapshot, *, held: Collection[str] = NONE_HELD
    ) -> PlanJudge:
        now = self.clock.now()
        asking = {
            asked_for(one) for one in plans if one.state in GATED and not one.over_budget and asked_by(one)
        }
        found = await rows.rows(ReclaimRequest).find(for_plan=asking) if asking else ()
        requests: dict[str, list[ReclaimRequest]] = {id: [] for id in asking}
        for one in found:
            requests[one.for_plan].append(one)

        def judge(plan: Plan) -> GateVerdict:
            asked = asked_by(plan)
            if plan.state is PlanState.RUNNING or plan.over_budget or not asked:
                return LETS_GO
            if plan.state is PlanState.PROPOSED:
                return GateVerdict(reason=announced(asked))
            return consent_verdict(
                asked,
                requests[asked_for(plan)],
                now,
                silence_agrees=self.silence_agrees,
                may_be_divided=bool(plan.lines),
            )

        return judge


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerConsents:
    """Asks the owners of trainings, by requests that they answer as those for idle GPUs. `grace`: for an answer."""

    grace: timedelta = timedelta(minutes=30)

    async def asked(self, draft: PlanDraft, context: CommandContext) -> PlanDraft:
        """Return a draft that asks the owners of what it ends, as far as they are known in the chat.

        What is the asker's own, and what has no known owner, is not asked about: the second person decides on it.
        """
        own = ownership(context.actor, context.defaults.owners)
        disrupts: list[Disruption] = []
        async with context.store.read() as snapshot:
            for one in draft.disrupts:
                owner = context.defaults.owners.get(one.owner, "") if one.owner else ""
                if one.ends and not owner:
                    launch = await snapshot.rows(Launch).get(f"{context.cluster.name}/{one.name}")
                    owner = launch.by if launch is not None else ""
                is_asked = one.ends and owner and not own.covers(one) and not context.actor.is_one(owner)
                disrupts.append(replace(one, asks=owner if is_asked else ""))
        if not any(one.asks for one in disrupts):
            note = sentence(
                "Nobody is asked: what it ends has no owner that is known in the chat, or is yours."
            )
            return replace(draft, disrupts=tuple(disrupts), notes=(*draft.notes, note))
        decided = sentence("ask the owners of what it ends")
        return replace(draft, disrupts=tuple(disrupts), decided=(*draft.decided, decided))

    async def ask(self, unit: Unit, plan: Plan, now: datetime) -> None:
        for request in requests_to_owners(plan, now, self.grace):
            await unit.rows(ReclaimRequest).put(request)


def asked_for(plan: Plan) -> str:
    """Return the plan for which the owners were asked: of a part, that which was divided."""
    return plan.part_of or plan.id


async def is_awaited(request: ReclaimRequest, rows: StoreSnapshot) -> bool:
    """Whether the plan that made the request, or a part of it, still waits for an answer."""
    plan = await rows.rows(Plan).get(request.for_plan)
    if plan is None or not plan.parts:
        return plan is not None and plan.state in GATED
    return any(one.state in GATED for one in (await rows.rows(Plan).get_all(plan.parts)).values())


def asked_by(plan: Plan) -> list[Disruption]:
    """Return what a plan ends only once its owners have answered."""
    return [one for one in plan.disrupts if one.asks]


def requests_to_owners(plan: Plan, now: datetime, grace: timedelta) -> Iterable[ReclaimRequest]:
    """Return the requests of a plan that is confirmed: one to each owner, about all that it ends of theirs."""
    if plan.over_budget:
        return
    stakes = {stake.name: stake.said for stake in plan.stakes}
    by_owner: dict[str, list[Disruption]] = {}
    for one in asked_by(plan):
        by_owner.setdefault(one.asks, []).append(one)
    for person, theirs in by_owner.items():
        first = theirs[0]
        yield ReclaimRequest(
            id=f"c{blake2b(f'{plan.cluster}/{plan.id}/{person}'.encode(), digest_size=4).hexdigest()}",
            cluster=plan.cluster,
            training=first.name,
            also=tuple(one.name for one in theirs[1:]),
            name=", ".join(one.label for one in theirs),
            labels=tuple(one.label for one in theirs),
            owner=first.owner,
            owner_id=person,
            gpus=sum(one.gpus for one in theirs),
            asked_by=plan.actor,
            asked_by_name=plan.actor_name,
            asked_at=now,
            grace_until=now + grace,
            evidence=listed((stakes[one.name] for one in theirs if one.name in stakes), ";"),
            is_automatic=False,
            channel=plan.origin.channel,
            for_plan=plan.id,
            plan_title=plan.title,
        )
