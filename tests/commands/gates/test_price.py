"""The price of a disruption: hours since the checkpoint, what is not known, and what costs least."""

import json
from datetime import timedelta

import pytest

from collectors.trainings.training import Rank, Training, TrainingState
from commands.execution.stake import Stake
from commands.gates.price import least_first, lost_gpu_hours, price_of, stake_of_training
from tests.support.yard import NOON

HOUR = timedelta(hours=1)


def rank(number: int, *, hours: float | None = 10, gpus: float = 4, phase: str = "Running") -> Rank:
    started = None if hours is None else NOON - HOUR * hours
    return Rank(role="worker", index=number, pod=f"w-{number}", phase=phase, gpus=gpus, started=started)


def training(*ranks: Rank, name: str = "detr", owner: str = "ana") -> Training:
    return Training(
        id=f"vision/{name}",
        kind="Job",
        namespace="vision",
        name=name,
        owner=owner,
        state=TrainingState.RUNNING,
        ranks=ranks,
    )


def test_all_ranks_lose_their_work_since_the_checkpoint() -> None:
    assert lost_gpu_hours(training(rank(0), rank(1)), NOON - HOUR * 2, NOON) == 16


def test_a_rank_that_began_after_the_checkpoint_loses_only_its_own_time() -> None:
    assert lost_gpu_hours(training(rank(0, hours=1), rank(1)), NOON - HOUR * 2, NOON) == 12


@pytest.mark.parametrize(
    ("ranks", "is_saved"),
    [
        pytest.param((rank(0),), False, id="no checkpoint is known"),
        pytest.param((rank(0), rank(1, hours=None)), True, id="a rank does not say when it began"),
    ],
)
def test_what_is_not_known_is_no_figure(ranks: tuple[Rank, ...], is_saved: bool) -> None:
    assert lost_gpu_hours(training(*ranks), NOON - HOUR if is_saved else None, NOON) is None


def test_a_training_that_does_not_run_loses_nothing() -> None:
    assert lost_gpu_hours(training(rank(0, phase="Pending", hours=None)), None, NOON) == 0
    assert lost_gpu_hours(training(), None, NOON) == 0


def stake(name: str, **fields: object) -> Stake:
    return Stake(name=name, shown=name, **fields)  # type: ignore[arg-type]


SAFE = stake("web", replicas=3, left=2)
GONE = stake("api", replicas=1, left=0)
SMALL = stake("small", is_training=True, gpu_hours=1.5, gpus=8, owner="ana")
LARGE = stake("large", is_training=True, gpu_hours=30.0, gpus=8)
DARK = stake("dark", is_training=True, gpus=16)


def test_what_costs_least_is_first_and_what_is_not_known_last() -> None:
    price = price_of((DARK, LARGE, GONE, SMALL, SAFE))
    assert [one.name for one in price.stakes] == ["web", "small", "large", "api", "dark"]
    assert least_first(["dark", "small", "other", "web"], str, price.stakes) == [
        "web",
        "small",
        "dark",
        "other",
    ]


def test_it_says_what_is_known_and_that_the_rest_is_not() -> None:
    said = str(price_of((DARK, LARGE, SMALL, SAFE, GONE)).said)
    assert said == (
        "31.5 GPU-hours of 2 trainings since their last checkpoints; an unknown number of GPU-hours of 1 training; "
        "1 service with fewer replicas; 1 service with no replica"
    )
    assert str(SMALL.said) == "small of ana: 1.5 GPU-hours since its last checkpoint"
    assert str(DARK.said) == "dark: GPU-hours since its last checkpoint unknown"
    assert str(SAFE.said) == "web: 2 of 3 replicas left"
    assert price_of(()).said == ""


def test_as_json_an_unknown_figure_is_null() -> None:
    found = json.loads(price_of((DARK, SMALL)).as_json)
    assert found["gpu_hours"] == 1.5
    assert found["gpu_hours_are_complete"] is False
    assert [one["gpu_hours"] for one in found["ends"]] == [1.5, None]


def test_the_stake_of_a_training_names_its_owner() -> None:
    found = stake_of_training(training(rank(0)), gpus=4, saved_at=NOON - HOUR, now=NOON)
    assert (found.owner, found.gpu_hours, found.gpus) == ("ana", 4, 4)
