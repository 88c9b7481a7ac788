"""A gang that holds a part of its GPUs is found once it waits longer than gangs of its size usually do."""

from datetime import timedelta

import pytest

from collectors.check import CheckInput
from collectors.checks.trainings import half_placed
from collectors.trainings.training import Rank, Training, TrainingState
from tests.alerts.packs.check_case import check_input
from tests.support.objects import NOW
from tests.support.trainings import a_training


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def a_gang(name: str, took: float, *, gpus: int = 8, ago: float = 300, restarts: int = 0) -> Training:
    """Return one that runs, whose second task had its node so many minutes after the first."""
    starts = (NOW - minutes(ago), NOW - minutes(ago - took))
    ranks = tuple(
        Rank(role="worker", index=number, pod=f"{name}-{number}", node="n", started=at, restarts=restarts)
        for number, at in enumerate(starts)
    )
    return a_training(
        "lab", name, TrainingState.RUNNING, id=f"lab/Job/{name}", ranks=ranks, wanted=2, gpus_wanted=gpus
    )


def waiting(since: float, *, gpus: int = 8) -> Training:
    """Return one whose first task has had a node for so many minutes, and the other has none."""
    placed = Rank(role="worker", index=0, pod="w-0", node="n", gpus=gpus / 2, started=NOW - minutes(since))
    return a_training(
        "lab",
        "waits",
        TrainingState.STARTING,
        id="lab/Job/waits",
        ranks=(placed, Rank(role="worker", index=1, pod="w-1")),
        wanted=2,
        gpus_wanted=gpus,
    )


def found(*trainings: Training) -> bool:
    inputs: CheckInput = check_input(trainings=trainings)
    return bool(half_placed.run(inputs, {"minutes": 10.0}))


SLOW = tuple(a_gang(f"slow{number}", 40 + number) for number in range(10))  # the p95 is 49 min
QUICK = tuple(a_gang(f"quick{number}", 1) for number in range(10))


@pytest.mark.parametrize(
    ("since", "others", "is_found"),
    [
        pytest.param(1, (), True, id="nothing is known: its ten minutes run"),
        pytest.param(1, QUICK, True, id="gangs like it are quick"),
        pytest.param(30, SLOW, False, id="gangs like it take longer"),
        pytest.param(38.9, SLOW, False, id="in ten minutes it is not yet slower than those"),
        pytest.param(39.1, SLOW, True, id="in ten minutes it is slower than those"),
        pytest.param(1, SLOW[:4], True, id="four are too few to know"),
        pytest.param(
            1, tuple(a_gang(f"big{n}", 60, gpus=256) for n in range(9)), True, id="others are larger"
        ),
        pytest.param(1, tuple(a_gang(f"re{n}", 60, restarts=1) for n in range(9)), True, id="they restarted"),
        pytest.param(130, tuple(a_gang(f"s{n}", 280) for n in range(9)), True, id="two hours are enough"),
    ],
)
def test_it_is_found_once_it_will_have_waited_longer_than_its_like(
    since: float, others: tuple[Training, ...], *, is_found: bool
) -> None:
    assert found(waiting(since), *others) is is_found


def test_a_task_whose_start_is_not_known_counts_from_when_the_training_was_made() -> None:
    unknown = Rank(role="worker", index=0, pod="w-0", node="n", gpus=4)
    gang = a_training(
        "lab",
        "waits",
        TrainingState.STARTING,
        id="lab/Job/waits",
        ranks=(unknown,),
        wanted=2,
        gpus_wanted=8,
        created=NOW - minutes(60),
    )
    assert found(gang, *SLOW)
