"""The child process that draws: pictures, and what becomes of a child that hangs, ends or grows."""

import asyncio
import struct
import sys
from datetime import timedelta

import pytest

from bot.charts.chart_renderer import ChartRenderer, DrawingError, can_render
from bot.charts.drawing import HEIGHT, ROW, SCALE, WIDTH
from bot.charts.line_chart import Chart, Line

LINES = tuple(
    Line(name=f"gpu {number}", points=tuple((60.0 * minute, 60.0 + number + minute) for minute in range(60)))
    for number in range(8)
)
CHART = Chart(
    lines=LINES, start=0, end=3600, step=60, fired=1800, resolved=3000, threshold=83, comparison=">", more=2
)
HUNGRY = """
import resource, sys
from bot.charts.chart_child import MOST_MEMORY
resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
sys.stdin.readline()
grown = bytearray(2 * MOST_MEMORY)
"""


def size_of(png: bytes) -> tuple[int, int]:
    """Return the width and the height of a PNG."""
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


async def test_charts_are_drawn_one_after_another_by_one_child() -> None:
    assert can_render()
    renderer = ChartRenderer()
    try:
        drawn = await asyncio.gather(*(renderer.render(CHART) for _ in range(3)))
    finally:
        await renderer.close()
    assert len(set(drawn)) == 1
    rows = 3  # of the legend: eight lines, and how many more
    assert size_of(drawn[0]) == (WIDTH * SCALE, (HEIGHT + rows * ROW) * SCALE)


@pytest.mark.parametrize(
    "chart",
    [
        pytest.param(
            Chart(lines=(Line(name="", points=((0.0, 0.0),)),), start=0, end=3600, step=30, fired=0),
            id="a point",
        ),
        pytest.param(
            Chart(
                lines=(Line(name="", points=((0.0, 0.0), (3600.0, 0.0))),),
                start=0,
                end=3600,
                step=30,
                fired=3600,
                resolved=3600,
                threshold=0,
                comparison="==",
            ),
            id="nothing but the threshold",
        ),
        pytest.param(
            Chart(
                lines=(Line(name="$x_1$ {a} \\frac", points=((0.0, -1e300), (1.0, 1e300))),),
                start=0,
                end=10 * 86_400,
                step=7200,
                fired=86_400,
                threshold=1e-9,
                comparison="<",
            ),
            id="huge values and a name of signs",
        ),
    ],
)
async def test_odd_charts_are_drawn_too(chart: Chart) -> None:
    renderer = ChartRenderer()
    try:
        assert size_of(await renderer.render(chart))[0] == WIDTH * SCALE
    finally:
        await renderer.close()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        pytest.param("import time; time.sleep(600)", "not drawn within", id="it hangs"),
        pytest.param("import sys; sys.stdin.readline()", "ended unexpectedly", id="it ends"),
        pytest.param("print('Traceback: ' * 9, flush=True); input()", "bytes", id="it writes something else"),
        pytest.param(HUNGRY, "ended unexpectedly", id="it needs too much memory"),
    ],
)
async def test_a_child_that_fails_is_an_error_and_is_replaced(program: str, reason: str) -> None:
    deadline = timedelta(seconds=2 if "sleep" in program else 60)
    renderer = ChartRenderer(deadline=deadline, child=(sys.executable, "-c", program))
    for _ in range(2):
        with pytest.raises(DrawingError, match=reason):
            await renderer.render(CHART)
    await renderer.close()
