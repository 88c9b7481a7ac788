"""Benchmarks run in order, with what they need, and a failure costs only its own row."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from benchmarks.catalogue import BENCHMARKS
from benchmarks.row import Benchmark, CannotRunError, Outcome, Row
from benchmarks.running import UnknownBenchmarkError, chosen, run_all
from demo.parts.processes import MissingPartError


async def _good(others: Mapping[str, Outcome]) -> Outcome:
    return Outcome(rows=(Row(id="good", measure=" ".join(["saw", *sorted(others)]), value=1),))


async def _refuses(_: Mapping[str, Outcome]) -> Outcome:
    raise CannotRunError("there is no uv")


async def _lacks_a_part(_: Mapping[str, Outcome]) -> Outcome:
    raise MissingPartError("no prometheus on the PATH")


async def _crashes(_: Mapping[str, Outcome]) -> Outcome:
    raise KeyError("items")


async def _never_ends(_: Mapping[str, Outcome]) -> Outcome:
    await asyncio.Event().wait()
    return Outcome()


GOOD = Benchmark(id="good", title="a good one", run=_good)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param(Benchmark(id="bad", title="t", run=_refuses), "no uv", id="a program is missing"),
        pytest.param(
            Benchmark(id="bad", title="t", run=_lacks_a_part), "no prometheus", id="a server is missing"
        ),
        pytest.param(Benchmark(id="bad", title="t", run=_crashes), "KeyError: 'items'", id="it has a bug"),
        pytest.param(
            Benchmark(id="bad", title="t", run=_never_ends, limit=timedelta(milliseconds=1)),
            "did not end within",
            id="it hangs",
        ),
    ],
)
def test_a_failure_gives_its_reason_and_the_others_run(bad: Benchmark, reason: str) -> None:
    logged: list[str] = []
    found = run_all([GOOD, bad, replace(GOOD, id="last")], log=logged.append)
    (first,), (failed,), (last,) = found.values()
    assert (first.value, last.value) == (1, 1)
    assert failed.id == "bad"
    assert reason in failed.missing
    assert failed.met is False
    assert logged[0] == "good: a good one"


def test_a_benchmark_receives_what_it_needs_and_no_more() -> None:
    others = [GOOD, replace(GOOD, id="other"), replace(GOOD, id="needy", needs=("good", "never run"))]
    assert run_all(others, log=lambda _: None)["needy"][0].measure == "saw good"


def test_dependencies_run_first() -> None:
    needy = replace(GOOD, id="needy", needs=("good",))
    other = replace(GOOD, id="other")
    assert [one.id for one in chosen(["needy"], [other, GOOD, needy])] == ["good", "needy"]
    assert [one.id for one in chosen([], [other, GOOD, needy])] == ["other", "good", "needy"]


def test_an_id_selects_its_parts_too() -> None:
    parts = [replace(GOOD, id="F1"), replace(GOOD, id="F1-demo"), replace(GOOD, id="F11")]
    assert [one.id for one in chosen(["F1"], parts)] == ["F1", "F1-demo"]


def test_an_unknown_id_lists_the_existing_ones() -> None:
    with pytest.raises(UnknownBenchmarkError, match="no benchmark F99; choose from good"):
        chosen(["good", "F99"], [GOOD])


def test_dependencies_come_first_in_the_catalogue() -> None:
    seen: set[str] = set()
    for benchmark in BENCHMARKS:
        assert benchmark.id not in seen
        assert set(benchmark.needs) <= seen
        seen.add(benchmark.id)
