"""Samples that a Prometheus has recorded: `up` and the heat of GPUs as a function of time."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from tests.support.alerting import minutes

SCRAPES = timedelta(seconds=15)
LENGTH = minutes(90)
GPUS = ("0", "1", "2")
Hole = tuple[timedelta, timedelta]


def recorded(
    end: datetime, heat: Callable[[str, float], float], *, holes: tuple[Hole, ...] = ()
) -> Iterator[str]:
    """Yield OpenMetrics lines up to `end`. `heat`: GPU and minute after the first sample -> °C."""
    for name in ("up", "heat"):
        yield f"# TYPE {name} gauge"
        for number, gpu in enumerate(GPUS):
            past = number * timedelta(seconds=4)
            while past < LENGTH:
                if not any(first <= past < last for first, last in holes):
                    value = 1.0 if name == "up" else heat(gpu, past / minutes(1))
                    yield f'{name}{{gpu="{gpu}"}} {value} {(end - LENGTH + past).timestamp():.3f}'
                past += SCRAPES
