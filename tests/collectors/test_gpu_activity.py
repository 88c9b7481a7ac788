"""Idle GPUs: a GPU is idle only with samples for the whole window and no work in them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from collectors.facts.labels import Labels
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.gpu_activity import (
    ENGINE,
    MEASURE,
    STEPS,
    UTIL,
    Activity,
    IdleSearch,
    classify_pods,
    most,
    seen,
)
from tests.support import objects

NOW, WINDOW = objects.NOW, timedelta(minutes=30)
KEY = ("vision", "w-0")
MIG, VCUDA = "nvidia.com/mig-1g.10gb", "tencent.com/vcuda-core"


def rows(*samples: tuple[str, float], pod: str = "w-0", instance: str = "") -> QueryResult:
    """Return one sample per device of the pod."""
    names = ("exported_namespace", "exported_pod")
    return Seen(
        source="prometheus",
        at=NOW,
        samples=tuple(
            Sample(
                labels=Labels({names[0]: "vision", names[1]: pod, "UUID": uuid, "GPU_I_ID": instance}),
                value=value,
            )
            for uuid, value in samples
        ),
    )


NOTHING = rows()
BLIND = Blind(source="prometheus", at=NOW, reason="it did not answer within 10 s")


def looked(
    most: QueryResult = NOTHING,
    steps: QueryResult = NOTHING,
    *,
    engine: tuple[QueryResult, QueryResult] = (NOTHING, NOTHING),
    memory: QueryResult = NOTHING,
    gpus: int = 2,
    resource: str = "nvidia.com/gpu",
    began: timedelta = timedelta(hours=2),
    phase: str = "Running",
) -> IdleSearch:
    start = (NOW - began).strftime("%Y-%m-%dT%H:%M:%SZ")
    pod = objects.pod(
        "w-0",
        "vision",
        spec={"nodeName": "n1", "containers": [objects.gpus(gpus, resource)]},
        status={"phase": phase, "startTime": start},
    )
    answer = combined(most, steps, *engine)
    return classify_pods(objects.inventory(pod), answer, memory=memory, now=NOW, after=WINDOW)


def combined(*parts: QueryResult) -> Seen:
    """Return the one answer that has these: for each metric the maximum, and the steps with samples."""
    names = [f"{metric}/{what}" for metric in (UTIL, ENGINE) for what in ("most", "seen")]
    samples = [
        replace(sample, labels=Labels({**sample.labels, MEASURE: name}))
        for name, part in zip(names, parts, strict=True)
        if isinstance(part, Seen)
        for sample in part.samples
    ]
    return Seen(source="prometheus", at=NOW, samples=tuple(samples))


ALL = float(STEPS)
EVERY_STEP = rows(("a", ALL), instance="7")


@pytest.mark.parametrize(
    ("look", "activity"),
    [
        pytest.param(
            looked(rows(("a", 0), ("b", 0)), rows(("a", ALL), ("b", ALL))),
            Activity.IDLE,
            id="both were idle, without gaps",
        ),
        pytest.param(
            looked(rows(("a", 0), ("b", 1)), rows(("a", ALL), ("b", ALL))),
            Activity.BUSY,
            id="one was at one percent once",
        ),
        pytest.param(
            looked(rows(("a", 0), ("b", 0)), rows(("a", ALL), ("b", ALL - 2))),
            Activity.UNKNOWN,
            id="one has a gap of two minutes",
        ),
        pytest.param(
            looked(rows(("a", 0), ("b", 0)), rows(("a", ALL), ("b", ALL - 1))),
            Activity.IDLE,
            id="the window's edge may fall between two samples",
        ),
        pytest.param(
            looked(rows(("a", 0)), rows(("a", ALL))),
            Activity.UNKNOWN,
            id="one does not report",
        ),
        pytest.param(
            looked(rows(("a", 0), ("b", float("nan"))), rows(("a", ALL), ("b", ALL))),
            Activity.BUSY,
            id="NaN does not prove idleness",
        ),
        pytest.param(looked(), Activity.UNKNOWN, id="no samples at all"),
        pytest.param(
            looked(rows(("a", 0), ("b", 0)), rows(("a", ALL), ("b", ALL)), began=timedelta(minutes=29)),
            Activity.YOUNG,
            id="started within the window",
        ),
        pytest.param(
            looked(engine=(rows(("a", 0.002), instance="7"), EVERY_STEP), gpus=1, resource=MIG),
            Activity.IDLE,
            id="a slice is evaluated by its engine",
        ),
        pytest.param(
            looked(engine=(rows(("a", 0.4), instance="7"), EVERY_STEP), gpus=1, resource=MIG),
            Activity.BUSY,
            id="a busy slice",
        ),
        pytest.param(
            looked(engine=(rows(("a", 0.0), ("b", 0.0)), rows(("a", ALL), ("b", ALL)))),
            Activity.IDLE,
            id="whole GPUs with profiling fields only",
        ),
        pytest.param(
            looked(rows(("a", 0)), rows(("a", ALL)), gpus=50, resource=VCUDA),
            Activity.IDLE,
            id="half of an idle shared card",
        ),
    ],
)  # fmt: skip
def test_a_gpu_is_idle_only_if_seen_idle_for_the_whole_window(look: IdleSearch, activity: Activity) -> None:
    assert look.pods[KEY].activity is activity


def test_unknown_memory_does_not_change_the_activity() -> None:
    look = looked(rows(("a", 0)), rows(("a", ALL)), memory=BLIND, gpus=1)
    assert look.pods[KEY].activity is Activity.IDLE
    assert look.pods[KEY].memory == 0


def test_a_finished_pod_holds_no_gpus() -> None:
    assert not looked(phase="Succeeded").pods


def test_the_memory_of_all_gpus_of_a_pod_is_added_up() -> None:
    memory = rows(("a", 60), ("b", 2))
    look = looked(rows(("a", 0), ("b", 0)), rows(("a", ALL), ("b", ALL)), memory=memory)
    assert look.pods[KEY].memory == 62


def test_the_queries_cover_the_whole_window_in_equal_steps() -> None:
    assert "[30m])" in most("X", WINDOW)
    assert "[30m:1m]" in seen("X", WINDOW)
    assert "[2h:4m]" in seen("X", timedelta(hours=2))
