"""Lines with a new pattern are found, and no others."""

from datetime import timedelta

from collectors.facts.queries import TimesUsual
from collectors.facts.results import Seen
from tests.contract.elasticsearch.own_logs import Logs

DAY = 86_400
WEEK = timedelta(days=7)


async def test_a_new_pattern_is_a_sample(logs: Logs) -> None:
    await logs.index(
        logs.host("failed to mount volume pvc-1 for pod a-1", ago=2 * DAY),
        logs.host("failed to mount volume pvc-2 for pod b-2", ago=60),
        logs.host("rpc error: code 5 while talking to mon.3", ago=50, node="gpu-a02"),
        logs.host("rpc error: code 7 while talking to mon.1", ago=40, node="gpu-a02"),
    )
    seen = await logs.query(novel=WEEK)
    assert isinstance(seen, Seen)
    (sample,) = seen.samples
    assert dict(sample.labels) == {"node": "gpu-a02", "pattern": "rpc error: code … while talking to …"}
    assert sample.value == 2
    assert sample.texts == (
        "rpc error: code 7 while talking to mon.1",
        "rpc error: code 5 while talking to mon.3",
    )


async def test_a_new_pattern_on_several_nodes_is_one_sample_that_names_them(logs: Logs) -> None:
    await logs.index(
        *(logs.host("cannot renew the lease", node=node) for node in ("gpu-a01", "gpu-b02", "gpu-b02")),
        logs.host("something else broke", node="gpu-b02"),
    )
    seen = await logs.query(novel=WEEK)
    assert isinstance(seen, Seen)
    assert {(tuple(one.labels.items()), one.value, one.texts) for one in seen.samples} == {
        (
            (("pattern", "cannot renew the lease"),),
            3,
            ("on 2 nodes: gpu-a01, gpu-b02", "cannot renew the lease"),
        ),
        ((("node", "gpu-b02"), ("pattern", "something else broke")), 1, ("something else broke",)),
    }


async def test_a_pattern_seen_only_before_the_horizon_is_new(logs: Logs) -> None:
    await logs.index(
        logs.host("failed to sync the volume cache", ago=8 * DAY),
        logs.host("failed to sync the volume cache", ago=60),
    )
    assert await logs.counts(novel=WEEK) == {"gpu-a01 failed to sync the volume cache": 1}
    assert await logs.counts(novel=timedelta(days=9)) == {}


async def test_only_matching_lines_count_but_any_line_makes_a_pattern_known(logs: Logs) -> None:
    await logs.index(
        logs.pod("cannot reach the parameter server", level="info", ago=DAY),
        logs.pod("cannot reach the parameter server", level="error"),
        logs.pod("cannot reach the checkpoint store", level="info"),
    )
    assert await logs.counts("level:error", novel=WEEK) == {}


async def test_the_threshold_applies_to_each_pattern(logs: Logs) -> None:
    await logs.index(
        *(logs.host("a new kind of failure") for _ in range(3)), logs.host("another new kind of thing")
    )
    assert await logs.counts(novel=WEEK, above=2) == {"gpu-a01 a new kind of failure": 3}


async def test_secrets_are_not_in_the_pattern(logs: Logs) -> None:
    await logs.index(logs.host("login refused for admin with password=correct-horse today"))
    (label,) = await logs.counts(novel=WEEK)
    assert label == "gpu-a01 login refused for admin with password=… today"


async def test_a_frequent_known_line_does_not_hide_a_rare_new_one(logs: Logs) -> None:
    await logs.index(logs.host("reconciling the state of object number 1 again", ago=DAY))
    await logs.index(logs.host("something that nobody has ever seen before", ago=299))
    await logs.index_many(
        logs.host(f"reconciling the state of object number {number} again", ago=1 + number % 200)
        for number in range(1_500)
    )
    assert await logs.counts(novel=WEEK) == {"gpu-a01 something that nobody has ever seen before": 1}


async def test_chinese_lines_have_patterns(logs: Logs) -> None:
    await logs.index(
        logs.host("训练任务 失败 rank 3", ago=DAY),
        logs.host("训练任务 失败 rank 4"),
        logs.host("显存 不足 rank 5"),
    )
    assert await logs.counts(novel=WEEK) == {"gpu-a01 显存 不足 rank …": 1}


async def test_too_many_different_lines_without_a_new_one_are_blind(logs: Logs) -> None:
    # Two words per line: too vague to exclude such lines from the next round.
    for ago in (DAY, 10):
        await logs.index_many(
            logs.host(f"word{chr(97 + number % 26)} again {number}", ago=ago) for number in range(600)
        )
    assert "too many different lines" in await logs.blind_reason(novel=WEEK)


async def test_a_keyword_field_cannot_be_searched_for_patterns(logs: Logs) -> None:
    await logs.create(
        "other", {"message": {"type": "keyword"}, "host": {"properties": {"name": {"type": "keyword"}}}}
    )
    await logs.index(logs.host("something new"), into="other")
    assert "not mapped as text" in await logs.blind_reason(novel=WEEK)


async def test_novelty_cannot_be_combined_with_times_usual(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    reason = await logs.blind_reason(novel=WEEK, times_usual=TimesUsual(factor=2))
    assert "`novel` and `times_usual` cannot be used together" in reason


async def test_a_line_with_a_redacted_word_is_known_from_the_past(logs: Logs) -> None:
    """The words around it are searched for; `[redacted]` stands in no line."""
    message = "failed to fetch token: context deadline exceeded"
    colored = "\x1b[31merror\x1b[0m: cannot renew the lease"
    await logs.index(*(logs.host(text, ago=ago) for text in (message, colored) for ago in (7200, 60)))
    assert await logs.counts(novel=WEEK) == {}
