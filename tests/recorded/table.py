"""The table of faults and dialects, as data: what is recorded, each in a stretch of time of its own.

`rows.yaml` has its rows, and the tests that play each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from tests.recorded.foreign_gpus import FOREIGN, by_hand
from tests.support.gpu_dialects import TEN, GpuNode
from tests.support.gpu_makes import MAKES, GpuMake, MakeCluster
from tests.support.recorded_cluster import FaultKind
from tests.support.recorded_episodes import Episode, episode
from tests.support.scrape_styles import NODE_DIALECTS, STYLES, Labels

MINUTE = timedelta(minutes=1)
THREE = TEN[:3]
FAULTY, FULL, DOWN, *_ = (one.name for one in TEN)
BUSY = FAULTY
# How the target of a node_exporter is labelled: by charts, by agents and by hand.
HOSTS: Mapping[str, Callable[[GpuNode], Labels]] = {
    **{style.name: style.node for style in STYLES},
    **{dialect.name: dialect for dialect in NODE_DIALECTS},
}
# After how many minutes of a fault Prometheus goes down, and for how many.
HOLES = {"almost three minutes": (15.0, 2.75), "seven minutes": (15.0, 7.0)}
STANDING = ((FaultKind.BUSY, (BUSY,)), (FaultKind.MEMORY, (FULL,)), (FaultKind.HOT, (DOWN,)))


def _episodes() -> Iterator[tuple[str, dict[str, Any], tuple[Any, ...]]]:
    """Yield the name, the options and the faults of each."""
    for style in STYLES:
        own = {"style": style, "exporters": ("dcgm",)}
        state = {**own, "exporters": ("kube-state-metrics",)}
        yield f"quiet, {style.name}", {"lasts": 12, "style": style}, ()
        yield f"hot, {style.name}", {"lasts": 8, **own}, (FaultKind.HOT,)
        # The driver was reloaded long before the device plugin offers the GPU again.
        yield f"xid, {style.name}", {"lasts": 6, "offered_after": 18, **own}, (FaultKind.XID,)
        yield f"gone, {style.name}", {"lasts": 14, **own}, (FaultKind.GONE,)
        yield f"idle, {style.name}", {"lasts": 42, **own}, (FaultKind.IDLE,)
        yield f"capacity, {style.name}", {"lasts": 8, **state}, (FaultKind.CAPACITY,)
        kubelets = {**own, "nodes": THREE, "exporters": ("control plane",)}
        yield f"kubelet, {style.name}", {"lasts": 12, **kubelets}, ((FaultKind.SLOW_KUBELET, (FAULTY,)),)
        yield f"dns, {style.name}", {"lasts": 8, **own, "exporters": ("coredns",)}, (FaultKind.SERVFAIL,)
    hosts = {"exporters": ("node_exporter",)}
    for name, labels in HOSTS.items():
        faults = ((FaultKind.MEMORY, (FAULTY,)), (FaultKind.DISK, (FULL,)), (FaultKind.DOWN, (DOWN,)))
        yield f"node, {name}", {"lasts": 8, "nodes": THREE, "node_labels": labels, **hosts}, faults
    for style in STYLES:
        for name, hole in HOLES.items():
            options = {"lasts": 40, "nodes": THREE, "style": style, "unscraped": hole}
            exporters = ("node_exporter", "dcgm")
            yield f"hole, {style.name}, {name}", {**options, "exporters": exporters}, STANDING
    for foreign in FOREIGN:
        nodes = foreign.nodes()
        hot, xid, _ = (one.name for one in nodes)
        more = {"also": by_hand(nodes) if foreign.is_twice else (), "metrics": foreign.metrics}
        own = {"nodes": nodes, "exporters": ("dcgm",), "common": foreign.common, **more}
        yield (
            f"foreign, {foreign.name}",
            {"lasts": 8, **own},
            ((FaultKind.HOT, (hot,)), (FaultKind.XID, (xid,))),
        )
    yield from _of_makes(MAKES)


def _of_makes(makes: Iterable[GpuMake]) -> Iterator[tuple[str, dict[str, Any], tuple[Any, ...]]]:
    for make in makes:
        made_by = partial(MakeCluster, make=make, resource=make.resource, units=make.units)
        own = {"nodes": make.nodes, "made_by": made_by}
        each = tuple((kind, (node,)) for kind, node in make.faulty.items())
        yield f"quiet, {make.name}", {"lasts": 12, **own}, ()
        yield f"make, {make.name}", {"lasts": 42, "exporters": ("dcgm", "kube-state-metrics"), **own}, each


def _option(name: str, value: Any) -> Any:
    if name == "unscraped":
        return tuple(part * MINUTE for part in value)
    return value * MINUTE if isinstance(value, int) else value


def _numbered(
    rows: Iterable[tuple[str, dict[str, Any], tuple[Any, ...]]], first: int = 0
) -> Mapping[str, Episode]:
    return {
        name: episode(number, *faults, **{key: _option(key, value) for key, value in options.items()})
        for number, (name, options, faults) in enumerate(rows, start=first)
    }


EPISODES = _numbered(_episodes())


def episodes_of(makes: Iterable[GpuMake]) -> Mapping[str, Episode]:
    """Return further episodes, after those of the table: each make in quiet, and with its faults."""
    return _numbered(_of_makes(makes), first=len(EPISODES))
