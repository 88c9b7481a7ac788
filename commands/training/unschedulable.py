"""Texts on why tasks do not fit, and what would help. Pure."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.cluster.resources import gpu_resource
from collectors.facts.sentences import Sentence, counted, listed, sentence
from commands.training.placement import (
    CORDONED,
    POD_SLOTS,
    NodeCapacity,
    Placement,
    TaskRequest,
    main_resource,
    place,
)
from commands.training.spec import tasks_text

_SHOWN = 3  # nodes by name; the rest are counted


def room_text(placement: Placement) -> str:
    """Return a text like `room for 3 of 40 workers (8 nvidia.com/gpu each)`; empty if all fit."""
    task = placement.short
    if task is None:
        return ""
    needed = listed(f"{amount_text(name, one)} {name}" for name, one in task.amounts.items() if one)
    room = sentence(
        "room for {fitting} of {tasks}", fitting=placement.fitting, tasks=tasks_text(task.count, task.role)
    )
    if not needed:
        return room
    if task.count == 1:
        return sentence("{room} ({needed})", room=room, needed=needed)
    return sentence("{room} ({needed} each)", room=room, needed=needed)


def unschedulable_reasons(placement: Placement, cordons: Mapping[str, str]) -> tuple[str, ...]:
    """Return short lines on why no more tasks fit: what is free, which nodes are closed, and which do not count.

    `cordons`: each cordoned node with why and by whom.
    """
    task = placement.short
    if task is None:
        return ()
    main = main_resource(task)
    open_nodes = [capacity for capacity in placement.capacities if not capacity.bar(task)]
    with_main = sorted(
        (capacity for capacity in open_nodes if main in capacity.free),
        key=lambda capacity: (-capacity.free[main], capacity.node),
    )
    lacks = [_lack(capacity, task, main) for capacity in with_main[:_SHOWN]]
    if (rest := len(with_main) - _SHOWN) > 0:
        lacks.append(
            counted(
                "{count} node has no more than that",
                "{count} nodes have no more than that",
                count=rest,
            )
        )
    lines: list[str] = [listed(lacks)] if lacks else []
    lines += _barred(placement.capacities, task, cordons)
    if without := sum(main not in capacity.free for capacity in open_nodes):
        lines.append(
            counted(
                "{count} node has no {resource} at all",
                "{count} nodes have no {resource} at all",
                count=without,
                resource=main,
            )
        )
    return tuple(lines) or (sentence("there are no nodes"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """What would make the tasks fit. None and empty: nothing of that kind would."""

    gpus: int | None = None  # of each worker
    workers: int | None = None
    uncordon: tuple[str, ...] = ()  # nodes
    is_enough: bool = False  # whether lifting those cordons is
    has_gpus: bool = False  # the tasks need GPUs: idle ones may be given back


def suggestions_for(
    tasks: Sequence[TaskRequest],
    capacities: Sequence[NodeCapacity],
    placement: Placement,
    *,
    safe: Container[str] = (),
) -> Suggestions:
    """Return what would help; `capacities` are those before any placement.

    `safe`: the cordoned nodes against whose uncordoning nothing speaks.
    """
    task = placement.short
    if task is None:
        return Suggestions()
    main = main_resource(task)
    meaning = gpu_resource(main)
    gpus: int | None = None
    if meaning is not None and task.role == "worker":
        units = round(task.amounts[main] / meaning.units)
        for fewer in range(units - 1, 0, -1):
            smaller = replace(task, amounts={**task.amounts, main: fewer * meaning.units})
            if place([smaller if one is task else one for one in tasks], capacities).is_whole:
                gpus = fewer
                break
    cordoned = [
        capacity.node
        for capacity in placement.capacities
        if capacity.closed == CORDONED
        and capacity.node in safe
        and not replace(capacity, closed="").bar(task)
        and capacity.holds(task)
    ]
    opened = [
        replace(capacity, closed="") if capacity.node in cordoned else capacity for capacity in capacities
    ]
    return Suggestions(
        gpus=gpus,
        workers=placement.fitting if placement.fitting and task.role == "worker" else None,
        uncordon=tuple(cordoned[:_SHOWN]),
        is_enough=bool(cordoned) and place(tasks, opened).is_whole,
        has_gpus=meaning is not None,
    )


def _lack(capacity: NodeCapacity, task: TaskRequest, main: str) -> str:
    requests: Mapping[str, float] = {POD_SLOTS: 1.0, **task.amounts}
    lacking = [name for name, one in requests.items() if capacity.free.get(name, 0.0) < one]
    if not lacking and main in capacity.shares:
        return sentence(
            "{node} has {amount} free, but in parts of several GPUs",
            node=capacity.node,
            amount=amount_text(main, capacity.free[main]),
        )
    if not lacking or main in lacking:
        return sentence(
            "{node} has {amount} free",
            node=capacity.node,
            amount=amount_text(main, capacity.free[main]),
        )
    short = listed(f"{amount_text(name, capacity.free.get(name, 0.0))} {name}" for name in lacking)
    return sentence(
        "{node} has {amount} free but only {others}",
        node=capacity.node,
        amount=amount_text(main, capacity.free[main]),
        others=short,
    )


def _barred(capacities: Sequence[NodeCapacity], task: TaskRequest, cordons: Mapping[str, str]) -> list[str]:
    """Return lines on nodes that would have capacity if they were not closed, and how many are not selected."""
    lines: list[str] = []
    closed: dict[str, list[str]] = {}  # by reason
    for capacity in capacities:
        bar = capacity.bar(task)
        if bar and bar != "not selected" and capacity.holds(task):
            closed.setdefault(bar, []).append(cordons.get(capacity.node, capacity.node))
    for bar, nodes in closed.items():
        named: Sentence = listed(nodes[:_SHOWN])
        if (rest := len(nodes) - _SHOWN) > 0:
            named = counted(
                "{nodes} and {count} more node", "{nodes} and {count} more nodes", nodes=named, count=rest
            )
        lines.append(listed((bar, named), ":"))
    if left_out := sum(capacity.bar(task) == "not selected" for capacity in capacities):
        wanted = ",".join(f"{key}={value}" for key, value in task.node_selector.items())
        lines.append(
            counted(
                "{count} node does not match {labels}",
                "{count} nodes do not match {labels}",
                count=left_out,
                labels=wanted,
            )
        )
    return lines


def amount_text(resource: str, amount: float) -> str:
    """Return `8` or `64 GiB`: memory and storage in GiB, everything else as a number; may be negative."""
    if resource == "memory" or resource.endswith("storage"):
        return f"{amount / 2**30:.0f} GiB"
    return f"{amount:g}"
