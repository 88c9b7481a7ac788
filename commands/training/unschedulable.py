"""This file says in words why tasks do not fit, and what would help. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collectors.cluster.resources import gpu_resource
from commands.training.placement import PODS, NodeCapacity, Placement, TaskRequest, main_resource, place

_SHOWN = 3  # nodes by name; the others are counted


def unschedulable_reasons(fit: Placement) -> str:
    """`3 of 4 workers fit; worker 3 needs 8 nvidia.com/gpu: gpu-a04 has 2 free, gpu-b01 is cordoned, ...`."""
    need = fit.short
    if need is None:
        return ""
    main = main_resource(need)
    open_rooms = [room for room in fit.rooms if not room.bar(need)]
    with_main = sorted(
        (room for room in open_rooms if main in room.free), key=lambda room: (-room.free[main], room.node)
    )
    told = [_lack(room, need, main) for room in with_main[:_SHOWN]]
    if rest := len(with_main) - _SHOWN:
        told += [f"{_nodes(rest)} {'has' if rest == 1 else 'have'} no more than that"] if rest > 0 else []
    told += _barred(fit.rooms, need)
    if without := sum(main not in room.free for room in open_rooms):
        told.append(f"{_nodes(without)} {'has' if without == 1 else 'have'} no {main} at all")
    where = ", ".join(told) or "there is no node"
    asks = ", ".join(f"{amount_text(name, one)} {name}" for name, one in need.amounts.items() if one)
    return (
        f"{fit.fitting} of {need.count} {need.role}{'s' if need.count != 1 else ''} "
        f"fit{'s' if need.count == 1 else ''}; "
        f"{need.role} {fit.fitting} needs {asks or 'room for a pod'}: {where}"
    )


def remedies_for(
    needs: Sequence[TaskRequest], rooms: Sequence[NodeCapacity], fit: Placement
) -> tuple[str, ...]:
    """What would help, each as a short sentence; `rooms` as they were before anything was placed."""
    need = fit.short
    if need is None:
        return ()
    said: list[str] = []
    main = main_resource(need)
    meaning = gpu_resource(main)
    if meaning is not None and need.role == "worker":
        units = round(need.amounts[main] / meaning.units)
        for fewer in range(units - 1, 0, -1):
            smaller = replace(need, amounts={**need.amounts, main: fewer * meaning.units})
            if place([smaller if one is need else one for one in needs], rooms).is_whole:
                said.append(f"`--gpus {fewer}` would fit")
                break
    if fit.fitting and need.role == "worker":
        said.append(f"`--workers {fit.fitting}` would fit")
    cordoned = [
        room.node
        for room in fit.rooms
        if room.closed == "cordoned" and not replace(room, closed="").bar(need) and room.holds(need)
    ]
    if cordoned:
        opened = [replace(room, closed="") if room.node in cordoned else room for room in rooms]
        enough = "would be enough" if place(needs, opened).is_whole else "would help"
        said.append(f"`node uncordon {' '.join(cordoned[:_SHOWN])}` {enough}")
    if meaning is not None:
        said.append("`gpu idle` shows whose GPUs do nothing")
    return tuple(said)


def _lack(room: NodeCapacity, need: TaskRequest, main: str) -> str:
    asked: Mapping[str, float] = {PODS: 1.0, **need.amounts}
    lacking = [name for name, one in asked.items() if room.free.get(name, 0.0) < one]
    if not lacking or main in lacking:
        return f"{room.node} has {amount_text(main, room.free[main])} free"
    short = ", ".join(f"{amount_text(name, room.free.get(name, 0.0))} {name}" for name in lacking)
    return f"{room.node} has {amount_text(main, room.free[main])} free but only {short}"


def _barred(rooms: Sequence[NodeCapacity], need: TaskRequest) -> list[str]:
    """Nodes that would have room if they were not closed, by name; and how many the selector leaves out."""
    told: list[str] = []
    would = [room for room in rooms if (bar := room.bar(need)) and bar != "not selected" and room.holds(need)]
    told += [f"{room.node} is {room.bar(need)}" for room in would[:_SHOWN]]
    if len(would) > _SHOWN:
        told.append(f"{_nodes(len(would) - _SHOWN)} more closed")
    if left_out := sum(room.bar(need) == "not selected" for room in rooms):
        wanted = ",".join(f"{key}={value}" for key, value in need.node_selector.items())
        told.append(f"{_nodes(left_out)} {'is' if left_out == 1 else 'are'} not {wanted}")
    return told


def amount_text(resource: str, amount: float) -> str:
    """`8`, `64 GiB`: memory in GiB, everything else as a number; never below zero without saying so."""
    if resource == "memory" or resource.endswith("storage"):
        return f"{amount / 2**30:.0f} GiB"
    return f"{amount:g}"


def _nodes(count: int) -> str:
    return f"{count} node" + ("s" if count != 1 else "")
