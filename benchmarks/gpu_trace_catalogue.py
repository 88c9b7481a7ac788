"""The traces of F6, in three families, each with true faults among them so that silence is not an answer."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from benchmarks.gpu_traces import (
    ALLOCATABLE,
    BLANKS,
    CAPACITY,
    DBE,
    EVENTS,
    HEALTH,
    NODES,
    POWER,
    RANKS,
    REMAP_FAILED,
    STARTS,
    TEMP,
    UP,
    UTIL,
    XID,
    KernelLine,
    Override,
    Trace,
)

_ONE, _OTHER = ("gpu-a02",), ("gpu-a04",)
_RECOVERY = "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION"


def batched(values: Iterable[float], size: int) -> Iterator[tuple[float, ...]]:
    left = iter(values)
    while batch := tuple(islice(left, size)):
        yield batch


def _xid(number: int, node: str, *, gpu: int = 0, at: float = STARTS, text: str = "") -> KernelLine:
    said = text or f"pid='<unknown>', name=<unknown>, errorString XID {number}"
    return KernelLine(text=f"NVRM: Xid (PCI:0000:{0x18 + gpu:02x}:00): {number}, {said}", node=node, at=at)


def _counted(number: int, *, name: str) -> Trace:
    """The same XID on every rank, as the counter has it."""
    return Trace(
        name=f"{name}, counted", overrides=(Override(value=2, xid=str(number), nodes=RANKS, end=STARTS + 5),)
    )


def _everywhere(number: int, *, name: str) -> tuple[Trace, Trace, Trace]:
    """The same XID on every rank, as the counter, the gauge and the kernel have it."""
    return (
        _counted(number, name=name),
        Trace(
            name=f"{name}, in the gauge",
            overrides=(Override(value=number, metrics=(XID,), nodes=RANKS),),
            counts=False,
        ),
        Trace(
            name=f"{name}, in the kernel log",
            lines=tuple(_xid(number, node, gpu=gpu) for node in RANKS for gpu in range(4)),
            counts=False,
        ),
    )


def _one_each(when: str, values: Sequence[float], *, minutes: float) -> Trace:
    """One of these values in every metric of one GPU of each node."""
    return Trace(
        name=f"{when} every metric of one GPU of each node reads {', '.join(f'{one:g}' for one in values)}",
        overrides=tuple(
            Override(value=value, nodes=(node,), gpus=(1,), end=STARTS + minutes)
            for node, value in zip(NODES, values, strict=False)
        ),
    )


CORRUPT = (
    *(_one_each("for ten minutes", blanks, minutes=10) for blanks in batched(BLANKS, len(NODES))),
    *(
        _one_each("in one scrape", values, minutes=0.5)
        for values in batched((1, 2, 20, 127, 4096, 65535), len(NODES))
    ),
    Trace(
        name="a temperature of 127 and 255 °C beside sane power",
        overrides=(
            Override(value=127, metrics=(TEMP,), nodes=_ONE, gpus=(1,)),
            Override(value=255, metrics=(TEMP,), nodes=_OTHER, gpus=(2,)),
        ),
    ),
    Trace(
        name="an XID that is no number of NVIDIA's, counted and in the gauge",
        overrides=(
            Override(value=1, xid="4294967295", nodes=_ONE, gpus=(1,)),
            Override(value=4294967295, metrics=(XID,), nodes=_ONE, gpus=(2,)),
        ),
    ),
    Trace(
        name="an exporter that reads everything as 0",
        overrides=(Override(value=0, nodes=_ONE),),
    ),
    Trace(
        name="every GPU of every node reads an impossible temperature and power",
        overrides=(Override(value=6500, metrics=(TEMP, POWER, UTIL)),),
    ),
    Trace(
        name="a driver that is loaded again counts from zero",
        overrides=(
            Override(value=9, metrics=(DBE,), nodes=_ONE, start=0, end=STARTS),
            Override(value=0, metrics=(DBE,), nodes=_ONE),
        ),
    ),
    Trace(
        name="a true double-bit error while other GPUs read blank values",
        overrides=(
            Override(value=BLANKS[0], nodes=_OTHER),
            Override(value=2, metrics=(DBE,), nodes=_ONE, gpus=(3,)),
        ),
        broken=frozenset(_ONE),
    ),
    Trace(
        name="a GPU that is truly hot, whose power reads blank",
        overrides=(
            Override(value=91, metrics=(TEMP,), nodes=_ONE, gpus=(0,)),
            Override(value=BLANKS[4], metrics=(POWER,), nodes=_ONE, gpus=(0,)),
        ),
        broken=frozenset(_ONE),
    ),
    Trace(
        name="a row that cannot be replaced, and a failed health check, beside blanks of the same",
        overrides=(
            Override(value=BLANKS[0], metrics=(REMAP_FAILED, HEALTH), nodes=("gpu-a01", "gpu-a03")),
            Override(value=1, metrics=(REMAP_FAILED,), nodes=_ONE, gpus=(2,)),
            Override(value=20, metrics=(HEALTH,), nodes=_OTHER, gpus=(2,)),
        ),
        broken=frozenset((*_ONE, *_OTHER)),
    ),
    Trace(
        name="a driver that wants a reset, and a GPU that throttles",
        overrides=(
            Override(value=1, metrics=(_RECOVERY,), nodes=_ONE, gpus=(2,)),
            Override(value=9, metrics=(EVENTS,), nodes=_OTHER, gpus=(1,)),
            Override(value=None, metrics=("DCGM_FI_DEV_THERMAL_VIOLATION",), start=0),
        ),
        broken=frozenset((*_ONE, *_OTHER)),
    ),
)

JOB_WIDE = (
    *_everywhere(45, name="XID 45 on every rank of a training that was stopped"),
    *_everywhere(31, name="XID 31 on every rank of a training with a bug"),
    _counted(13, name="XID 13 on every rank of a training with a bug"),
    _counted(43, name="XID 43 on every rank of a training that failed"),
    _counted(119, name="XID 119 on every rank of a training"),
    Trace(
        name="XID 45 on every rank because the GPU of one fell off the bus",
        overrides=(
            Override(value=2, xid="45", nodes=RANKS, end=STARTS + 5),
            Override(value=1, xid="79", nodes=_ONE, gpus=(1,), end=STARTS + 5),
        ),
        broken=frozenset(_ONE),
    ),
    Trace(
        name="the same, in the kernel log",
        lines=(
            *(_xid(45, node) for node in RANKS),
            _xid(79, "gpu-a02", gpu=1, text="GPU has fallen off the bus."),
        ),
        broken=frozenset(_ONE),
        counts=False,
    ),
    Trace(
        name="XID 48 of one rank, in the gauge, and then 45 on all",
        overrides=(
            Override(value=48, metrics=(XID,), nodes=_ONE, gpus=(1,), end=STARTS + 3),
            Override(value=45, metrics=(XID,), nodes=RANKS, start=STARTS + 3),
        ),
        broken=frozenset(_ONE),
        counts=False,
    ),
)

UNREACHABLE = (
    Trace(
        name="one exporter's host engine is gone: its target is up and has no GPU",
        overrides=(Override(value=None, nodes=_ONE),),
    ),
    Trace(
        name="one exporter is down for a quarter of an hour",
        overrides=(
            Override(value=None, nodes=_ONE, end=STARTS + 15),
            Override(value=0, metrics=(UP,), nodes=_ONE, end=STARTS + 15),
        ),
    ),
    Trace(
        name="all exporters are down for ten minutes, and read 0 at first when they are back",
        overrides=(
            Override(value=None, end=STARTS + 10),
            Override(value=0, metrics=(UP,), end=STARTS + 10),
            Override(value=0, start=STARTS + 10, end=STARTS + 10.5),
        ),
    ),
    Trace(
        name="one GPU is missing in two scrapes",
        overrides=(Override(value=None, nodes=_ONE, gpus=(2,), end=STARTS + 1),),
    ),
    Trace(
        name="kube-state-metrics restarts",
        overrides=(Override(value=None, metrics=(CAPACITY, ALLOCATABLE), end=STARTS + 3),),
    ),
    Trace(
        name="an exporter that repeats what it read once",
        overrides=(Override(nodes=_ONE, repeats=True, start=5),),
        lasts=90,
    ),
    Trace(
        name="XID 79 just before the exporter hangs",
        overrides=(
            Override(value=1, xid="79", nodes=_ONE, gpus=(1,), end=STARTS + 1),
            Override(value=None, nodes=_ONE, start=STARTS + 1),
        ),
        broken=frozenset(_ONE),
    ),
    Trace(
        name="a GPU that is gone after a reboot, while DCGM is unreachable",
        overrides=(
            Override(value=None, nodes=_ONE),
            Override(value=3, metrics=(CAPACITY, ALLOCATABLE), nodes=_ONE),
        ),
        broken=frozenset(_ONE),
    ),
)

FAMILIES = {
    "corrupt samples": CORRUPT,
    "job-wide XIDs": JOB_WIDE,
    "DCGM unreachable": UNREACHABLE,
}
