"""The instruments: runs alternate, stalls are measured, the prepared pods are realistic."""

import asyncio
import time
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from benchmarks.pods import pages, pod
from benchmarks.row import CannotRunError, Outcome, Stall
from benchmarks.rows.f11_install import measure
from benchmarks.rows.f15_stalls import run as stalls_row
from benchmarks.stalls import longest_decode, longest_stall
from benchmarks.timing import Watch, take_turns
from collectors.cluster.objects import Pod


async def test_runs_alternate_and_every_second_round_is_reversed() -> None:
    order: list[str] = []

    def runner(name: str, seconds: list[float]):  # type: ignore[no-untyped-def]
        async def run() -> float:
            order.append(name)
            return seconds.pop(0)

        return run

    found = await take_turns(
        {"ours": runner("ours", [9.0, 1.0, 3.0, 2.0]), "bare": runner("bare", [9.0, 4.0, 4.0, 4.0])},
        rounds=3,
    )
    assert found["ours"].seconds == (1.0, 3.0, 2.0)  # without the warm-up
    assert found["ours"].milliseconds == 2000
    assert found["bare"].median == 4
    assert order == ["bare", "ours", "ours", "bare", "bare", "ours", "ours", "bare"]


async def test_rounds_stop_after_the_limit_but_one_always_runs() -> None:
    async def run() -> float:
        return 1.0

    found = await take_turns({"ours": run}, rounds=50, within=timedelta(0))
    assert found["ours"].seconds == (1.0,)


async def test_a_blocked_loop_is_measured() -> None:
    async def block() -> None:
        time.sleep(0.05)  # noqa: ASYNC251 - the stall to be measured

    assert await longest_stall(block, rounds=2) > timedelta(milliseconds=40)  # less is not possible


async def test_work_without_a_pause_is_measured() -> None:
    async def work() -> None:
        busy(0.02)
        await asyncio.sleep(0)
        busy(0.01)

    assert await longest_stall(work, rounds=3) >= timedelta(milliseconds=20)


def test_the_slowest_body_is_found() -> None:
    def decode(body: bytes) -> None:
        busy(0.02 if body == b"slow" else 0)

    assert longest_decode(decode, [b"quick", b"slow", b"quick"]) >= timedelta(milliseconds=20)


def busy(seconds: float) -> None:
    """Work for this long, in this thread's CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_a_watch_measures_both_clocks() -> None:
    with Watch() as watch:
        time.sleep(0.02)
    assert watch.wall >= 0.02
    assert watch.cpu >= 0


def test_the_pods_are_complete_of_realistic_size_and_always_the_same() -> None:
    generated = pages(count=25, page=10)
    assert list(generated.bodies) == ["", "10", "20"]
    assert generated == pages(count=25, page=10)
    assert 8_000 < generated.size / generated.count < 10_000
    read = [msgspec.json.decode(body) for body in generated.bodies.values()]
    assert [page["metadata"].get("continue") for page in read] == ["10", "20", None]
    names = {
        (item["metadata"]["namespace"], item["metadata"]["name"]) for page in read for item in page["items"]
    }
    assert len(names) == 25
    one = msgspec.json.decode(msgspec.json.encode(pod(7)), type=Pod)
    assert one.spec.containers is not None
    assert one.spec.containers[0].resources.limits == {
        "cpu": "14",
        "memory": "900Gi",
        "nvidia.com/gpu": "8",
        "rdma/hca": "8",
    }


async def test_the_longest_stall_is_compared_with_the_longest_decode() -> None:
    def outcome(name: str, stall: float, decode: float) -> dict[str, Outcome]:
        longest, longest_decode = timedelta(milliseconds=stall), timedelta(milliseconds=decode)
        return {name: Outcome(stalls=(Stall(during=name, longest=longest, longest_decode=longest_decode),))}

    both = await stalls_row({**outcome("F13", 5, 1), **outcome("F14", 30, 12)})
    assert (both.rows[0].value, both.rows[0].ratio, both.rows[0].met) == (30, 2.5, True)
    half = await stalls_row(outcome("F14", 30, 12))
    assert half.rows[0].met is False
    assert "F13 could not be run" in half.rows[0].missing
    with pytest.raises(CannotRunError, match="F13 and F14"):
        await stalls_row({})


def test_packages_and_their_byte_code_are_measured(tmp_path: Path) -> None:
    for name, size in (("small", 10), ("large", 50_000)):
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
        (info / "RECORD").write_text(f"{name}.py,,\n{name}-1.dist-info/METADATA,,\n")
        (tmp_path / f"{name}.py").write_text("#" * size)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "large.cpython-311.pyc").write_bytes(b"x" * 100_000)
    found = measure(tmp_path)
    assert found.packages == 2
    assert list(found.biggest) == ["large", "small"]
    assert found.megabytes - found.bare_megabytes >= 0.1
    assert found.bare_megabytes >= 0.05
