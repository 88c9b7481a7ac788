"""Log lines are counted by label, on the server."""

from datetime import timedelta

import pytest

from collectors.facts.queries import TimesUsual
from collectors.facts.results import Seen
from tests.contract.elasticsearch.own_logs import Logs


async def test_each_group_is_a_sample(logs: Logs) -> None:
    await logs.index(
        *(logs.host("GPU has fallen off the bus", node="gpu-a01") for _ in range(3)),
        logs.host("GPU has fallen off the bus", node="gpu-a02"),
        logs.host("all is well", node="gpu-a03"),
    )
    assert await logs.counts('message:"fallen off the bus"') == {"gpu-a01": 3, "gpu-a02": 1}


async def test_no_matching_line_is_a_result_without_samples(logs: Logs) -> None:
    await logs.index(logs.host("all is well"))
    assert await logs.counts('message:"fallen off the bus"') == {}


async def test_only_counts_above_the_threshold_are_samples(logs: Logs) -> None:
    await logs.index(*(logs.host("x", node="gpu-a01") for _ in range(3)), logs.host("x", node="gpu-a02"))
    assert await logs.counts(above=1) == {"gpu-a01": 3}
    assert await logs.counts(above=3) == {}


async def test_without_labels_there_is_one_group(logs: Logs) -> None:
    await logs.index(logs.host("x", node="gpu-a01"), logs.host("x", node="gpu-a02"))
    assert await logs.counts(by=()) == {"": 2}
    assert await logs.counts("message:nothing", by=()) == {}


async def test_lines_are_grouped_by_several_labels(logs: Logs) -> None:
    await logs.index(
        logs.pod("x", pod="a", level="error"),
        logs.pod("x", pod="a", level="warning"),
        logs.pod("x", pod="b", level="error"),
    )
    found = await logs.counts(by=("pod", "level"))
    assert found == {"error a": 1, "warning a": 1, "error b": 1}  # labels are sorted by name


async def test_different_values_of_a_field_are_counted_instead_of_lines(logs: Logs) -> None:
    await logs.index(
        *(logs.pod("x", pod="a", node="gpu-a01") for _ in range(5)),
        logs.pod("x", pod="b", node="gpu-a01"),
        *(logs.pod("x", pod="c", node="gpu-a02") for _ in range(9)),
        logs.host("x", node="gpu-a01"),  # without the field
    )
    assert await logs.counts(distinct="pod") == {"gpu-a01": 2, "gpu-a02": 1}
    assert await logs.counts(distinct="pod", above=1) == {"gpu-a01": 2}
    assert await logs.counts(distinct="pod", by=()) == {"": 3}


async def test_a_label_may_be_in_different_fields_of_different_shippers(logs: Logs) -> None:
    await logs.index(
        logs.pod("x", node="gpu-a01"), logs.host("x", node="gpu-a01"), logs.host("x", node="gpu-a02")
    )
    assert await logs.counts() == {"gpu-a01": 2, "gpu-a02": 1}


async def test_lines_without_the_field_are_counted_without_the_label(logs: Logs) -> None:
    await logs.index(logs.host("x"), logs.pod("x", pod="a"))
    assert await logs.counts(by=("pod",)) == {"": 1, "a": 1}


async def test_the_window_includes_its_start_and_excludes_its_end(logs: Logs) -> None:
    await logs.index(
        logs.host("x", ago=0, node="now"),
        logs.host("x", ago=0.001, node="just-before"),
        logs.host("x", ago=300, node="at-the-start"),
        logs.host("x", ago=300.001, node="too-old"),
        logs.host("x", ago=-5, node="from-the-future"),
    )
    assert await logs.counts() == {"just-before": 1, "at-the-start": 1}


async def test_the_lag_moves_the_window_back(logs: Logs) -> None:
    await logs.index(logs.host("x", ago=5, node="too-new"), logs.host("x", ago=305, node="still-in"))
    assert await logs.counts(settings={"lag": timedelta(seconds=10)}) == {"still-in": 1}


async def test_a_sample_has_the_newest_lines(logs: Logs) -> None:
    await logs.index(*(logs.host(f"line {number}", ago=10 + number) for number in range(5)))
    seen = await logs.query()
    assert isinstance(seen, Seen)
    assert seen.samples[0].texts == ("line 0", "line 1", "line 2")


async def test_lines_are_redacted_cut_and_distinct(logs: Logs) -> None:
    await logs.index(
        logs.host("login with password=hunter2 refused", ago=10),
        logs.host("login with password=hunter2 refused", ago=11),
        logs.host("long " * 1000, ago=12),
    )
    seen = await logs.query()
    assert isinstance(seen, Seen)
    texts = seen.samples[0].texts
    assert texts[0] == "login with password=[redacted] refused"
    assert len(texts) == 2
    assert len(texts[1]) == 500
    assert texts[1].endswith("…")


async def test_each_group_has_its_own_lines(logs: Logs) -> None:
    await logs.index(
        *(
            logs.host(f"{node} says {number}", ago=10 + number, node=node)
            for node in ("a", "b")
            for number in range(4)
        )
    )
    seen = await logs.query()
    assert isinstance(seen, Seen)
    assert {sample.labels["node"]: sample.texts[0] for sample in seen.samples} == {
        "a": "a says 0",
        "b": "b says 0",
    }


@pytest.mark.parametrize(
    ("today", "counts"),
    [
        pytest.param(21, {"gpu-a01": 21.0}, id="more than the factor times the median"),
        pytest.param(20, {}, id="exactly the factor times the median is still usual"),
    ],
)
async def test_times_usual_compares_with_the_same_window_of_earlier_days(
    logs: Logs, today: int, counts: dict[str, float]
) -> None:
    day = 86_400
    earlier = [5, 3, 9, 5, 5, 80, 1]  # the median is 5
    await logs.index_many(
        logs.host("oops", ago=60 + back * day)
        for back, count in enumerate([today, *earlier])
        for _ in range(count)
    )
    await logs.index(*(logs.host("oops", ago=60 + 3 * day + 3600) for _ in range(500)))  # another hour
    assert await logs.counts("oops", times_usual=TimesUsual(factor=4)) == counts


async def test_the_usual_count_stands_before_the_lines(logs: Logs) -> None:
    await logs.index(
        *(logs.host("oops", ago=60) for _ in range(9)),
        *(logs.host("oops", ago=60 + 86_400) for _ in range(2)),
    )
    seen = await logs.query("oops", times_usual=TimesUsual(factor=4))
    assert isinstance(seen, Seen)
    (sample,) = seen.samples
    assert sample.texts[0] == "usually 2 in the same time"
    assert "oops" in sample.texts[1]


async def test_days_without_any_line_are_ignored(logs: Logs) -> None:
    day = 86_400
    await logs.index(
        *(logs.host("oops", ago=60) for _ in range(10)), *(logs.host("oops", ago=60 + day) for _ in range(5))
    )
    # The logs begin one day ago: zeros for the other six days would make any count unusual.
    assert await logs.counts("oops", times_usual=TimesUsual(factor=4)) == {}
    assert await logs.counts("oops", times_usual=TimesUsual(factor=1)) == {"gpu-a01": 10}


async def test_days_with_only_other_lines_count_as_zero(logs: Logs) -> None:
    day = 86_400
    await logs.index(
        logs.host("oops", ago=60), *(logs.host("fine", ago=60 + back * day) for back in range(1, 8))
    )
    assert await logs.counts("oops", times_usual=TimesUsual(factor=4)) == {"gpu-a01": 1}


async def test_more_groups_than_the_cap_are_blind(logs: Logs) -> None:
    await logs.index(*(logs.host("x", node=f"node-{number}") for number in range(5)))
    reason = await logs.blind_reason(settings={"groups_cap": 4})
    assert "more than 4 groups by node" in reason
    assert "narrow" in reason


async def test_groups_come_in_pages(logs: Logs) -> None:
    await logs.index_many(logs.host("x", node=f"node-{number}") for number in range(4_100))
    seen = await logs.query(settings={"timeout": timedelta(minutes=2)})
    assert isinstance(seen, Seen)
    assert len(seen.samples) == 4_100
    assert all(sample.value == 1 for sample in seen.samples)
