"""This file finds the open claims that nothing would settle any more, so that the agenda takes them up again."""

from dataclasses import replace
from datetime import datetime, timedelta

from commands.gpu.owner_answers import RETRY_AFTER, under_way
from commands.gpu.reclaim_card import OPEN, settlement_id, settlement_of
from commands.models import DueCommand, ReclaimRequest
from commands.store import Unit

LONGEST_PAUSE = timedelta(hours=1)


async def lost_settlements(unit: Unit, now: datetime) -> list[DueCommand]:
    """What the agenda lacks: the settling of each open claim that is not on it, nor in a plan under way.

    Settling may have been refused or cut off, its plan may have failed, or somebody undid it. A claim whose time
    is up is due after a pause, at a new moment: its old gesture would not be taken again. The pause is as long as
    the claim is late, within bounds: so it doubles from try to try.
    """
    in_plans = await under_way(unit)  # read first: a plan that ends meanwhile has left its mark
    found = [
        reclaim
        for state in OPEN
        for reclaim in await unit.reclaim_requests.find(state=state.value, limit=10_000)
    ]
    return [
        replace(settlement_of(reclaim), at=_again(reclaim, now))
        for reclaim in found
        if reclaim.id not in in_plans and await unit.agenda.get(settlement_id(reclaim)) is None
    ]


def _again(reclaim: ReclaimRequest, now: datetime) -> datetime:
    late = now - reclaim.grace_until
    return reclaim.grace_until if late < timedelta() else now + min(max(RETRY_AFTER, late), LONGEST_PAUSE)
