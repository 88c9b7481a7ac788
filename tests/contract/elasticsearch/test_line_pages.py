"""Pages of the lines of a component between two times, the newest first."""

from datetime import timedelta
from typing import Any

import pytest

from collectors.facts.results import SourceError
from tests.contract.elasticsearch.own_logs import NOW, Logs

KUBELET = {"component": "kubelet"}


async def paged(logs: Logs, *, size: int, since: float = 3_600, until: float = 0) -> list[list[str]]:
    """Return the texts of all pages, each asked for by a source of its own."""
    pages: list[list[str]] = []
    after = ""
    while not pages or after:
        page = await logs.source().page(
            where=KUBELET,
            since=NOW - timedelta(seconds=since),
            until=NOW - timedelta(seconds=until),
            size=size,
            after=after,
        )
        pages.append([line.text for line in page.lines])
        after = page.after
        assert len(pages) < 50
    return pages


async def test_pages_have_each_line_once_the_newest_first(logs: Logs) -> None:
    lines = [logs.host(f"line {number}", ago=number + 1, unit="kubelet.service") for number in range(7)]
    await logs.index(*lines, logs.host("of another", ago=3, unit="kernel"))

    assert await paged(logs, size=3) == [
        ["line 0", "line 1", "line 2"],
        ["line 3", "line 4", "line 5"],
        ["line 6"],
    ]


async def test_lines_of_one_moment_are_paged_too(logs: Logs) -> None:
    same = [logs.host(f"same {number}", ago=60, unit="kubelet") for number in range(25)]
    around = [logs.host("before", ago=61, unit="kubelet"), logs.host("after", ago=59, unit="kubelet")]
    await logs.index(*same, *around)

    pages = await paged(logs, size=4)

    texts = [text for page in pages for text in page]
    assert texts[0] == "after"
    assert texts[-1] == "before"
    assert sorted(texts[1:-1]) == sorted(f"same {number}" for number in range(25))
    assert {len(page) for page in pages[:-1]} == {4}


async def test_a_page_has_the_lines_between_two_times_only(logs: Logs) -> None:
    await logs.index(*(logs.host(f"{ago}", ago=ago, unit="kubelet") for ago in (5, 10, 20, 30, 40)))

    assert await paged(logs, size=2, since=30, until=5) == [["10", "20"], ["30"]]
    assert await paged(logs, size=10, since=4) == [[]]


async def test_lines_that_arrive_later_do_not_shift_the_pages(logs: Logs) -> None:
    await logs.index(*(logs.host(f"{ago}", ago=ago, unit="kubelet") for ago in (10, 20, 30)))
    asked: dict[str, Any] = {"where": KUBELET, "since": NOW - timedelta(hours=1), "until": NOW, "size": 2}
    first = await logs.source().page(**asked)
    await logs.index(logs.host("late", ago=5, unit="kubelet"))

    second = await logs.source().page(**asked, after=first.after)

    assert [line.text for line in (*first.lines, *second.lines)] == ["10", "20", "30"]


@pytest.mark.parametrize("after", ["x", "2026-01-10T12:00:00+00:00", "2026-01-10T12:00:00+00:00/-1", "/3"])
async def test_an_odd_continuation_is_refused(logs: Logs, after: str) -> None:
    await logs.index(logs.host("x", unit="kubelet"))

    with pytest.raises(SourceError, match="does not continue a page of lines"):
        await logs.source().page(where=KUBELET, since=NOW - timedelta(hours=1), until=NOW, after=after)
