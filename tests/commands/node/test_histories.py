"""Histories of what two people, others and a network do to nodes: lease, annotation and node agree, or a card says why.

The watch may be silent or a minute late, and the API server may answer with another object, or not at all.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from commands.core.cordoned_nodes import BY
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState
from commands.execution.steps import Record
from commands.models import CordonLease
from tests.support.examples import share
from tests.support.history import DANA, ELI, History
from tests.support.history_objects import NODES, is_ours, stands, until_of
from tests.support.odd_api import ODD

ACTORS = {"dana": DANA, "eli": ELI}
LINES = {  # how often
    "node cordon {node}": 4,
    "node cordon {node} --for 8h": 3,
    "node cordon gpu-a01 gpu-a02": 4,
    "node uncordon {node}": 5,
    "node uncordon gpu-a01 gpu-a02": 3,
    "node drain {node}": 2,
    "dns scale {count}": 2,
    "volume freeze vision/ckpt": 2,
    "plan undo {count}": 8,  # of the newest plans
}
EVENTS = {
    "do": 9,
    "at once": 4,
    "between": 3,
    "killed": 2,
    "by hand": 2,
    "watch": 4,
    "odd": 4,
    "dark": 1,
    "time": 2,
}
HANDS = ("cordon", "uncordon", "strip", "remove", "replace", "add")


@given(seed=st.integers(0, 1 << 32))
@share(2.5)
def test_lease_annotation_and_node_agree_after_each_history_or_a_card_says_why(seed: int) -> None:
    events = _history(Random(seed))
    note("\n".join(map(str, events)))
    asyncio.run(_played(History(seed), events))


def _history(random: Random) -> list[Any]:
    return [_event(random) for _ in range(random.randint(3, 12))]


def _event(random: Random) -> Any:
    match one := _chosen(random, EVENTS):
        case "do":
            return one, _drawn(random), random.choice(sorted(ACTORS))
        case "at once":
            return one, _drawn(random), _drawn(random)
        case "between":
            return one, _drawn(random), (random.choice(HANDS), random.choice(NODES))
        case "killed":
            return one, _drawn(random), random.randint(1, 12)
        case "by hand":
            return one, (random.choice(HANDS), random.choice(NODES))
        case "watch":
            return one, random.choice(["live", "silent", "silent", "late"])
        case "odd":
            return one, random.choice(ODD), random.randint(1, 3)
        case "dark":
            return one, random.randint(1, 12)
        case _:
            return one, random.choice([0.2, 1, 61, 300])  # minutes


def _drawn(random: Random) -> str:
    return _chosen(random, LINES).format(node=random.choice(NODES), count=random.randint(1, 3))


def _chosen(random: Random, of: Mapping[str, int]) -> str:
    return random.choices(list(of), list(of.values()))[0]


async def _played(history: History, events: list[Any]) -> None:
    for event in events:
        match event:
            case ("do", line, who):
                plan = await history.do(await _line(history, line), ACTORS[who])
                if plan is not None and plan.state is PlanState.DONE:
                    await _check_done(history, plan)
            case ("at once", first, second):
                first, second = await _line(history, first), await _line(history, second)
                await asyncio.gather(history.do(first, DANA), history.do(second, ELI))
            case ("between", line, (act, node)):
                plan = await history.proposed(await _line(history, line), DANA)
                history.hand(act, node)
                confirmed = await history.confirmed(plan, DANA) if plan is not None else None
                if confirmed is not None:
                    await history.executor.execute(confirmed)
            case ("killed", line, after):
                await history.killed_while(await _line(history, line), DANA, after=after)
            case ("by hand", (act, node)):
                history.hand(act, node)
            case ("watch", watch):
                history.cluster.turn(watch)
            case ("odd", oddity, count):
                history.api.oddity, history.api.odd_writes = oddity, count
            case ("dark", count):
                history.api.dark = count
            case ("time", minutes):
                await history.pass_time(timedelta(minutes=minutes))
            case _:
                raise AssertionError(event)
    await history.heal()
    await _check(history)
    await history.pass_time(timedelta(hours=1))
    await _check(history)
    history.start()
    await _check(history)


async def _line(history: History, line: str) -> str:
    """Return the line; an undo is of the n-th newest plan that has ended."""
    if not line.startswith("plan undo"):
        return line
    ended = [plan for plan in await history.plans() if plan.has_ended]
    plans = sorted(ended, key=lambda plan: int(plan.id[1:]), reverse=True)
    number = int(line.split()[-1])
    return f"plan undo {plans[number - 1].id if number <= len(plans) else 'p0'}"


async def _check_done(history: History, plan: Plan) -> None:
    """A plan that nothing came between, and that says that it was done, was done."""
    left = {str(state.ref): state for step in plan.steps if (state := step.leaves()) is not None}
    for state in left.values():
        assert not state.difference(_found(history, state.ref))
    async with history.store.read() as snapshot:
        for step in plan.steps:
            if isinstance(step, Record):
                found = await snapshot.rows(CordonLease).get(step.id)
                is_as_written = (found is None) is (step.row is None)
                is_of_another = found is not None and found.uid != step.about[0].ref.uid
                assert is_as_written or is_of_another, step.description


def _found(history: History, ref: ObjectRef) -> dict[str, Any] | None:
    found = history.api.objects.get((f"{ref.kind.lower()}s", ref.namespace, ref.name))
    return found if found is not None and ref.uid in ("", found["metadata"]["uid"]) else None


async def _check(history: History) -> None:
    excused = await history.named_by_cards() | history.by_hand
    listed = await history.say("node list --all", DANA)
    for name in NODES:
        node, lease = history.node(name), await history.lease(name)
        row = next((line for line in listed.splitlines() if line.startswith(f"{name} |")), "")
        if node is None:
            assert (lease, row) == (None, ""), "a lease of a node that is gone"
            continue
        state = row.split(" | ")[1]
        if lease is not None:
            assert lease.uid == node["metadata"]["uid"], "a lease of another node"
            assert (lease.lifted_at is None) is stands(node), "a lease that says what is not so"
        if name not in excused:
            assert stands(node) is (lease is not None)
            assert is_ours(node) is bool(node["spec"].get("unschedulable"))
        if stands(node) and lease is not None and lease.until is not None and name not in excused:
            assert until_of(node) == f"{lease.until:%Y-%m-%dT%H:%M:%SZ}", "the lease has another end"
        assert state == _state(node, lease)


def _state(node: dict[str, Any], lease: CordonLease | None) -> str:
    """What a list must say of the node."""
    by = (node["metadata"].get("annotations") or {}).get(BY, "someone else")
    if stands(node):
        return (
            f"Ready, cordoned by {by}"
            if lease is not None
            else f"Ready, cordoned by {by} when last seen, without a lease"
        )
    if node["spec"].get("unschedulable"):
        return f"Ready, cordoned by {by}"
    return "Ready" if lease is None else f"Ready, not cordoned, though {lease.owner_name} has a lease"
