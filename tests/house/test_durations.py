"""Durations within the process are measured with the monotonic clock, as the wall clock may step."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import ROOT, tracked

# Sums and differences of the wall clock's time, each with the reason why it is the right clock there.
WALL_CLOCK = {
    "bot/channels/inbox.py": "the age of a line that an earlier process received",
    "bot/cli/store_commands.py": "entries of the audit of the last days, over many processes",
    "bot/delivery/channel_worker.py": "the intent of a message that an earlier process sent",
    "bot/delivery/reconciler.py": "a card changes by itself when a silence or a lease ends; its sleep is bounded",
    "bot/jobs/launch_watcher.py": "the age of a launch that an earlier process recorded, once",
    "bot/jobs/unknown_steps.py": "a step is looked at for a day, over many processes",
    "bot/jobs/retention.py": "rows are kept for days, over many processes",
    "collectors/facts/clock.py": "the comparison of both clocks",
}


def wall_clock_arithmetic(source: str) -> Iterator[int]:
    """Yield the lines that add to, subtract from or compare a fresh `now()`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.BinOp(left=left, right=right) if _is_now(left) or _is_now(right):
                yield node.lineno
            case ast.Compare(left=left, comparators=others) if any(_is_now(one) for one in (left, *others)):
                yield node.lineno


def _is_now(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return any(_is_now(one) for one in node.values)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "now"


def test_no_duration_is_measured_by_the_wall_clock() -> None:
    modules = tracked("bot/*.py", "alerts/*.py", "collectors/*.py")
    measured = {str(path) for path in modules if any(wall_clock_arithmetic((ROOT / path).read_text()))}
    assert measured == set(WALL_CLOCK), "use Clock.elapsed() or the loop's time"


def test_a_duration_by_the_wall_clock_is_found() -> None:
    for source in (
        "age = clock.now() - then",
        "if self._clock.now() > due: ...",
        "due = clock.now() + pause",
    ):
        assert list(wall_clock_arithmetic(source)) == [1]
    assert not list(wall_clock_arithmetic("age = clock.elapsed() - then"))
    assert Path("bot/delivery/reconciler.py") in tracked("bot/*.py")
