"""Texts on why tasks do not fit, and what would help. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collectors.cluster.resources import gpu_resource
from commands.training.placement import PODS, NodeCapacity, Placement, TaskRequest, main_resource, place

_SHOWN = 3  # nodes by name; the rest are counted


def unschedulable_reasons(placement: Placement) -> str:
    """Return a text like `3 of 4 workers fit; worker 3 needs 8 nvidia.com/gpu: gpu-a04 has 2 free, ...`."""
    task = placement.short
    if task is None:
        return ""
    main = main_resource(task)
    open_nodes = [capacity for capacity in placement.capacities if not capacity.bar(task)]
    with_main = sorted(
        (capacity for capacity in open_nodes if main in capacity.free),
        key=lambda capacity: (-capacity.free[main], capacity.node),
    )
    reasons = [_lack(capacity, task, main) for capacity in with_main[:_SHOWN]]
    if rest := len(with_main) - _SHOWN:
        reasons += [f"{_nodes(rest)} {'has' if rest == 1 else 'have'} no more than that"] if rest > 0 else []
    reasons += _barred(placement.capacities, task)
    if without := sum(main not in capacity.free for capacity in open_nodes):
        reasons.append(f"{_nodes(without)} {'has' if without == 1 else 'have'} no {main} at all")
    where = ", ".join(reasons) or "there are no nodes"
    needed = ", ".join(f"{amount_text(name, one)} {name}" for name, one in task.amounts.items() if one)
    return (
        f"{placement.fitting} of {task.count} {task.role}{'s' if task.count != 1 else ''} "
        f"fit{'s' if task.count == 1 else ''}; "
        f"{task.role} {placement.fitting} needs {needed or 'capacity for a pod'}: {where}"
    )


def suggestions_for(
    tasks: Sequence[TaskRequest], capacities: Sequence[NodeCapacity], placement: Placement
) -> tuple[str, ...]:
    """Return what would help, as short sentences; `capacities` are those before any placement."""
    task = placement.short
    if task is None:
        return ()
    suggestions: list[str] = []
    main = main_resource(task)
    meaning = gpu_resource(main)
    if meaning is not None and task.role == "worker":
        units = round(task.amounts[main] / meaning.units)
        for fewer in range(units - 1, 0, -1):
            smaller = replace(task, amounts={**task.amounts, main: fewer * meaning.units})
            if place([smaller if one is task else one for one in tasks], capacities).is_whole:
                suggestions.append(f"`--gpus {fewer}` would fit")
                break
    if placement.fitting and task.role == "worker":
        suggestions.append(f"`--workers {placement.fitting}` would fit")
    cordoned = [
        capacity.node
        for capacity in placement.capacities
        if capacity.closed == "cordoned"
        and not replace(capacity, closed="").bar(task)
        and capacity.holds(task)
    ]
    if cordoned:
        opened = [
            replace(capacity, closed="") if capacity.node in cordoned else capacity for capacity in capacities
        ]
        enough = "would be enough" if place(tasks, opened).is_whole else "would help"
        suggestions.append(f"`node uncordon {' '.join(cordoned[:_SHOWN])}` {enough}")
    if meaning is not None:
        suggestions.append("`gpu idle` shows idle GPUs and their owners")
    return tuple(suggestions)


def _lack(capacity: NodeCapacity, task: TaskRequest, main: str) -> str:
    requests: Mapping[str, float] = {PODS: 1.0, **task.amounts}
    lacking = [name for name, one in requests.items() if capacity.free.get(name, 0.0) < one]
    if not lacking or main in lacking:
        return f"{capacity.node} has {amount_text(main, capacity.free[main])} free"
    short = ", ".join(f"{amount_text(name, capacity.free.get(name, 0.0))} {name}" for name in lacking)
    return f"{capacity.node} has {amount_text(main, capacity.free[main])} free but only {short}"


def _barred(capacities: Sequence[NodeCapacity], task: TaskRequest) -> list[str]:
    """Return nodes that would have capacity if they were not closed, and how many are not selected."""
    lines: list[str] = []
    would = [
        capacity
        for capacity in capacities
        if (bar := capacity.bar(task)) and bar != "not selected" and capacity.holds(task)
    ]
    lines += [f"{capacity.node} is {capacity.bar(task)}" for capacity in would[:_SHOWN]]
    if len(would) > _SHOWN:
        lines.append(f"{_nodes(len(would) - _SHOWN)} more closed")
    if left_out := sum(capacity.bar(task) == "not selected" for capacity in capacities):
        wanted = ",".join(f"{key}={value}" for key, value in task.node_selector.items())
        lines.append(f"{_nodes(left_out)} {'is' if left_out == 1 else 'are'} not {wanted}")
    return lines


def amount_text(resource: str, amount: float) -> str:
    """Return `8` or `64 GiB`: memory and storage in GiB, everything else as a number; may be negative."""
    if resource == "memory" or resource.endswith("storage"):
        return f"{amount / 2**30:.0f} GiB"
    return f"{amount:g}"


def _nodes(count: int) -> str:
    return f"{count} node" + ("s" if count != 1 else "")
