"""The time that runs of alike trainings took, and where it is said."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from collectors.trainings.training import TrainingState
from commands.training.start_time import EarlierRun, stem
from commands.training.training_runs import TrainingRun, run_of, runs_like, usual_run
from tests.support.memory_store import MemoryStore
from tests.support.trainings import a_training
from tests.support.yard import ANA, CLUSTER, NOON, Yard

RUN = TrainingRun(
    id="r0",
    cluster=CLUSTER,
    training="vision/Job/detr-1",
    name="vision/detr-1",
    like="vision/detr",
    kind="Job",
    state="succeeded",
    gpus=8,
    started=NOON - timedelta(hours=5),
    at=NOON - timedelta(hours=2),
    peak_memory=40_960,
)


def earlier(*hours: float, gpus: float = 8, name: str = "vision/detr-1") -> list[EarlierRun]:
    return [EarlierRun(name=name, gpus=gpus, lasted=timedelta(hours=one)) for one in hours]


async def with_runs(yard: Yard, *hours: float, like: str = "vision/detr") -> None:
    async with yard.store.unit() as unit:
        for number, one in enumerate(hours):
            started = NOON - timedelta(days=number + 1)
            row = replace(
                RUN, id=f"r{number}", training=f"vision/Job/{number}", name=f"{like}-{number}", like=like
            )
            await unit.rows(TrainingRun).put(replace(row, started=started, at=started + timedelta(hours=one)))


def test_of_twenty_runs_one_may_take_longer() -> None:
    usual = usual_run("vision/detr-9", 8, earlier(*range(1, 20), 90))
    assert usual is not None
    assert (usual.runs, usual.half, usual.most) == (20, timedelta(hours=10.5), timedelta(hours=19))


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(earlier(1, 2), id="too few"),
        pytest.param(earlier(1, 2, 3, name="vision/bert-1"), id="another name"),
        pytest.param(earlier(1, 2, 3, gpus=64), id="many times the GPUs"),
    ],
)
def test_nothing_is_said_from_runs_that_are_not_its_like(runs: list[EarlierRun]) -> None:
    assert usual_run("vision/detr-9", 8, runs) is None


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("vision/detr-7", "vision/detr"),
        ("vision/detr", "vision/detr"),
        ("vision-2/detr-7", "vision-2/detr"),
        ("detr-7/detr-7", "detr/detr"),
        ("detr", "detr"),
    ],
)
def test_what_counts_the_runs_of_a_name_is_left_out(name: str, like: str) -> None:
    assert stem(name) == like


async def test_a_run_that_the_cluster_still_shows_counts_once_and_failures_do_not() -> None:
    store = MemoryStore()
    async with store.unit() as unit:
        for row in (
            RUN,
            replace(RUN, id="r1", training="x", state="failed"),
            replace(RUN, id="r2", like="vision/b"),
        ):
            await unit.rows(TrainingRun).put(row)
    shown = a_training(
        "vision",
        "detr-1",
        TrainingState.SUCCEEDED,
        id=RUN.training,
        gpus_wanted=8,
        started=RUN.started,
        finished=RUN.at,
    )
    async with store.read() as snapshot:
        assert len(await runs_like(["vision/detr-2"], CLUSTER, (shown,), snapshot)) == 1
        assert len(await runs_like(["vision/detr-2"], CLUSTER, (), snapshot)) == 1
        assert len(await runs_like(["vision/detr-2"], "another", (), snapshot)) == 0


async def test_show_says_how_long_its_like_took_and_what_its_own_run_used(yard: Yard) -> None:
    await with_runs(yard, 1, 2, 3)
    over = a_training(
        "vision",
        "detr-5",
        TrainingState.SUCCEEDED,
        gpus_wanted=8,
        started=NOON - timedelta(hours=4),
        finished=NOON - timedelta(hours=1),
    )
    ended = run_of(over, CLUSTER)
    assert ended is not None
    own = replace(ended, peak_memory=RUN.peak_memory)
    async with yard.store.unit() as unit:
        await unit.rows(TrainingRun).put(own)
    yard.cluster.trainings = lambda: (over,)  # type: ignore[method-assign]
    said = await yard.say("training show detr-5", ANA)
    assert "4 earlier runs like this one: median 2 h 30 min, 95th percentile 3 h" in said
    assert "40 GiB at most" in said
    answer = await yard.answer("training show detr-5 --json", ANA)
    assert answer is not None
    tree = json.loads(answer.message.attachments[0].content)
    assert (tree["usual"]["runs"], tree["usual"]["p95Seconds"]) == (4, 10_800)
    assert tree["gpus"]["peakMemoryMiB"] == 40_960


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param("", "3 earlier runs like this one", id="by its name"),
        pytest.param(
            "--max-duration 2h", "`--max-duration` would have ended some of them", id="it may take less"
        ),
    ],
)
async def test_a_launch_says_how_long_its_like_took(yard: Yard, options: str, said: str) -> None:
    await with_runs(yard, 1, 2, 3, like="detr/detr")
    image = "--image registry.example/vision/mnist:7 --workers 1 --gpus 8 --wait"
    plan = await yard.plan(f"training launch detr-9 {image} {options} -- python train.py", ANA)
    assert any(said in str(note) for note in plan.notes), plan.notes
