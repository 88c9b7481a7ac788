"""This file tests when a GPU may be called idle: only when every moment of the window was seen, and none had work."""

from datetime import timedelta

import pytest

from collectors.facts.labels import Labels
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from commands.gpu.idle_detection import STEPS, Activity, IdleLook, judge_pods, most, seen
from tests.support import objects

NOW, WINDOW = objects.NOW, timedelta(minutes=30)
KEY = ("vision", "w-0")
MIG, VCUDA = "nvidia.com/mig-1g.10gb", "tencent.com/vcuda-core"


def told(
    *samples: tuple[str, float], pod: str = "w-0", instance: str = "", honors: bool = False
) -> QueryResult:
    """One sample a device of the pod."""
    place = ("namespace", "pod") if honors else ("exported_namespace", "exported_pod")
    return Seen(
        source="prometheus",
        at=NOW,
        samples=tuple(
            Sample(
                labels=Labels({place[0]: "vision", place[1]: pod, "UUID": uuid, "GPU_I_ID": instance}),
                value=value,
            )
            for uuid, value in samples
        ),
    )


NOTHING = told()
BLIND = Blind(source="prometheus", at=NOW, reason="it did not answer within 10 s")


def looked(
    *answers: QueryResult,
    gpus: int = 2,
    resource: str = "nvidia.com/gpu",
    began: timedelta = timedelta(hours=2),
    phase: str = "Running",
) -> IdleLook:
    start = (NOW - began).strftime("%Y-%m-%dT%H:%M:%SZ")
    pod = objects.pod(
        "w-0",
        "vision",
        spec={"nodeName": "n1", "containers": [objects.gpus(gpus, resource)]},
        status={"phase": phase, "startTime": start},
    )
    return judge_pods(objects.inventory(pod), answers, now=NOW, after=WINDOW)


ALL = float(STEPS)


@pytest.mark.parametrize(
    ("look", "doing"),
    [
        pytest.param(
            looked(told(("a", 0), ("b", 0)), told(("a", ALL), ("b", ALL)), NOTHING, NOTHING, NOTHING),
            Activity.IDLE,
            id="both did nothing and were seen all the time",
        ),
        pytest.param(
            looked(told(("a", 0), ("b", 1)), told(("a", ALL), ("b", ALL)), NOTHING, NOTHING, NOTHING),
            Activity.BUSY,
            id="one did one percent once",
        ),
        pytest.param(
            looked(told(("a", 0), ("b", 0)), told(("a", ALL), ("b", ALL - 2)), NOTHING, NOTHING, NOTHING),
            Activity.UNKNOWN,
            id="one was not seen for two minutes",
        ),
        pytest.param(
            looked(told(("a", 0), ("b", 0)), told(("a", ALL), ("b", ALL - 1)), NOTHING, NOTHING, NOTHING),
            Activity.IDLE,
            id="the window's edge may fall between two samples",
        ),
        pytest.param(
            looked(told(("a", 0)), told(("a", ALL)), NOTHING, NOTHING, NOTHING),
            Activity.UNKNOWN,
            id="one does not report",
        ),
        pytest.param(
            looked(told(("a", 0), ("b", float("nan"))), told(("a", ALL), ("b", ALL)), NOTHING, NOTHING, NOTHING),
            Activity.BUSY,
            id="what is no number is no proof",
        ),
        pytest.param(looked(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING), Activity.UNKNOWN, id="no samples at all"),
        pytest.param(
            looked(
                told(("a", 0), ("b", 0)),
                told(("a", ALL), ("b", ALL)),
                NOTHING,
                NOTHING,
                NOTHING,
                began=timedelta(minutes=29),
            ),
            Activity.YOUNG,
            id="it began within the window",
        ),
        pytest.param(
            looked(
                told(("a", 0), ("b", 0), honors=True),
                told(("a", ALL), ("b", ALL), honors=True),
                NOTHING,
                NOTHING,
                NOTHING,
            ),
            Activity.IDLE,
            id="an exporter whose labels are kept",
        ),
        pytest.param(
            looked(
                NOTHING,
                NOTHING,
                told(("a", 0.002), instance="7"),
                told(("a", ALL), instance="7"),
                NOTHING,
                gpus=1,
                resource=MIG,
            ),
            Activity.IDLE,
            id="a slice is judged by its engine",
        ),
        pytest.param(
            looked(
                NOTHING,
                NOTHING,
                told(("a", 0.4), instance="7"),
                told(("a", ALL), instance="7"),
                NOTHING,
                gpus=1,
                resource=MIG,
            ),
            Activity.BUSY,
            id="a slice at work",
        ),
        pytest.param(
            looked(told(("a", 0)), told(("a", ALL)), BLIND, BLIND, NOTHING, gpus=1, resource=MIG),
            Activity.UNKNOWN,
            id="a slice whose engine cannot be asked for",
        ),
        pytest.param(
            looked(
                NOTHING, NOTHING, told(("a", 0.0), ("b", 0.0)), told(("a", ALL), ("b", ALL)), NOTHING
            ),
            Activity.IDLE,
            id="whole GPUs of an exporter with profiling fields only",
        ),
        pytest.param(
            looked(told(("a", 0)), told(("a", ALL)), NOTHING, NOTHING, NOTHING, gpus=50, resource=VCUDA),
            Activity.IDLE,
            id="half of a shared card that nobody uses",
        ),
    ],
)  # fmt: skip
def test_idle_is_only_what_was_seen_to_be(look: IdleLook, doing: Activity) -> None:
    assert look.pods[KEY].activity is doing


@pytest.mark.parametrize("which", [0, 1], ids=["the most", "how often it was seen"])
def test_without_the_utilisation_nothing_is_known(which: int) -> None:
    answers: list[QueryResult] = [NOTHING] * 5
    answers[which] = BLIND
    look = looked(*answers)
    assert look.blind == BLIND.reason
    assert not look.pods


def test_memory_that_is_not_known_changes_nothing() -> None:
    look = looked(told(("a", 0)), told(("a", ALL)), NOTHING, NOTHING, BLIND, gpus=1)
    assert look.pods[KEY].activity is Activity.IDLE
    assert look.pods[KEY].memory == 0


def test_a_pod_that_is_over_holds_nothing() -> None:
    assert not looked(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, phase="Succeeded").pods


def test_the_memory_of_all_its_gpus_is_added_up() -> None:
    look = looked(
        told(("a", 0), ("b", 0)), told(("a", ALL), ("b", ALL)), NOTHING, NOTHING, told(("a", 60), ("b", 2))
    )
    assert look.pods[KEY].memory == 62


def test_the_questions_cover_the_whole_window_in_equal_steps() -> None:
    assert "[30m])" in most("X", WINDOW)
    assert "[30m:1m]" in seen("X", WINDOW)
    assert "[2h:4m]" in seen("X", timedelta(hours=2))
