"""F15: the longest time that the event loop was blocked in F13 and F14, over the longest decode in them.

A blocked loop receives and sends nothing. A single decode cannot be interrupted, so it is the yardstick.
"""

from collections.abc import Mapping

from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row, Stall

NEEDS = ("F13", "F14")


async def run(others: Mapping[str, Outcome]) -> Outcome:
    stalls = [stall for other in others.values() for stall in other.stalls]
    absent = sorted(set(NEEDS) - {stall.during for stall in stalls})
    if not stalls:
        raise CannotRunError(f"{' and '.join(absent)} measured no stalls")
    decode = max(stall.longest_decode for stall in stalls)
    goal = Goal(limit=3.0)
    rows = [_row(max(stalls, key=lambda stall: stall.longest), decode.total_seconds(), goal, absent)]
    return Outcome(rows=(*rows, *(_row(stall, decode.total_seconds(), None, []) for stall in stalls)))


def _row(stall: Stall, decode: float, goal: Goal | None, absent: list[str]) -> Row:
    which = f"longest stall of the event loop, in {stall.during}" if goal else f"… in {stall.during}"
    return Row(
        id="F15",
        measure=which,
        value=stall.longest.total_seconds() * 1e3,
        unit="ms",
        peer=Peer(name="longest single decode", value=decode * 1e3),
        goal=goal,
        missing=f"{' and '.join(absent)} could not be run" if absent else "",
    )


BENCHMARK = Benchmark(id="F15", title="stalls of the event loop", run=run, needs=NEEDS)
