"""The shares of devices: what fits on a GPU of which others have a part."""

from typing import Any

import pytest

from collectors.cluster.device_shares import after, free_shares, times_it_fits
from collectors.cluster.objects import Pod
from tests.support.objects import gpus, node, pod

VCUDA = "tencent.com/vcuda-core"
PERCENT = "koordinator.sh/gpu"
NODE = node("gpu-a01", status={"allocatable": {VCUDA: "400", PERCENT: "400", "nvidia.com/gpu": "4"}})


def shared(taken: int, resource: str = VCUDA, **annotations: str) -> Pod:
    more: dict[str, Any] = {"annotations": annotations} if annotations else {}
    return pod(f"p-{taken}", spec={"containers": [gpus(taken, resource)]}, **more)


def test_a_share_is_taken_from_its_device() -> None:
    one = shared(30, **{"tencent.com/predicate-gpu-idx-0": "1"})
    two = shared(200, **{"tencent.com/predicate-gpu-idx-0": "2,3"})
    assert free_shares(NODE, [one, two], VCUDA) == (100, 70, 0, 0)


def test_koordinator_says_in_json_which_devices_a_pod_has() -> None:
    allocated = '{"gpu":[{"minor":2,"resources":{"koordinator.sh/gpu-core":"50"}}]}'
    one = shared(50, PERCENT, **{"scheduling.koordinator.sh/device-allocated": allocated})
    assert free_shares(NODE, [one], PERCENT) == (100, 100, 50, 100)


@pytest.mark.parametrize(
    "annotations",
    [
        {},
        {"tencent.com/predicate-gpu-idx-0": "x"},
        {"tencent.com/predicate-gpu-idx-0": "9"},
        {"scheduling.koordinator.sh/device-allocated": "{"},
    ],
    ids=["none", "no number", "no such device", "cut off"],
)
def test_a_share_on_an_unknown_device_is_where_it_spoils_most(annotations: dict[str, str]) -> None:
    known = shared(50, **{"tencent.com/predicate-gpu-idx-0": "0"})
    shares = free_shares(NODE, [known, shared(30, **annotations), shared(120)], VCUDA)
    assert shares is not None
    assert sum(shares) == 400 - 200
    assert times_it_fits(shares, 100, 100) == 0


def test_a_resource_of_whole_devices_has_no_shares() -> None:
    assert free_shares(NODE, [], "nvidia.com/gpu") is None
    assert free_shares(NODE, [], "cpu") is None


@pytest.mark.parametrize(
    ("amount", "fits"),
    [(100, 1), (200, 0), (50, 4), (60, 2), (30, 6), (150, 0)],
)
def test_what_fits_is_counted_on_each_device(amount: float, fits: int) -> None:
    shares = (100.0, 50.0, 60.0, 0.0)
    assert times_it_fits(shares, amount, 100) == fits
    assert times_it_fits(after(shares, amount, 100, fits), amount, 100) == 0 or fits == 0


def test_a_share_goes_to_the_fullest_device_with_room() -> None:
    assert after((100.0, 50.0, 60.0), 40, 100, 1) == (100, 10, 60)
    assert after((100.0, 50.0, 100.0), 200, 100, 1) == (0, 50, 0)
