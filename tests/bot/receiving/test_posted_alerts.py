"""Posted alerts: how many refusals are named, and how late an alert may end."""

import asyncio
from datetime import timedelta

import msgspec

from bot.receiving.posted_alerts import LONGEST, NAMED, ReadingOptions, posted_alerts
from tests.support.alerting import NOON

OPTIONS = ReadingOptions(lasts=timedelta(minutes=5))


async def test_of_many_refused_alerts_the_first_are_named_and_the_others_counted() -> None:
    found = await posted_alerts(msgspec.json.encode([{}] * 1_000), OPTIONS, NOON)
    assert (len(found.refused), found.unnamed) == (NAMED, 1_000 - NAMED)
    assert found.refusal.startswith("alert 0: ")
    assert found.refusal.endswith(f"; and {1_000 - NAMED} more")


async def test_an_alert_whose_labels_are_no_text_is_kept_with_their_bytes_escaped() -> None:
    body = rb'[{"labels":{"alertname":"A","node":"gpu-%s01"},"annotations":{"summary":"\ud83d"}},' % b"\xff"
    body += b'{"labels":{"alertname":"B"}}]'
    found = await posted_alerts(body, OPTIONS, NOON)
    assert found.refusal == ""
    odd, other = found.alerts
    assert odd.labels == {"alertname": "A", "node": r"gpu-\xff01"}
    assert odd.annotations == {"summary": r"\ud83d"}
    assert other.labels == {"alertname": "B"}


async def test_an_end_in_the_far_future_is_one_in_a_year() -> None:
    body = msgspec.json.encode([{"labels": {"alertname": "A"}, "endsAt": "9999-12-31T23:59:59Z"}])
    (one,) = (await posted_alerts(body, OPTIONS, NOON)).alerts
    assert one.ends_at == NOON + LONGEST


async def test_others_run_while_a_large_body_is_read() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(other())
        await posted_alerts(msgspec.json.encode([{}] * 10_000), OPTIONS, NOON)
        task.cancel()
    assert turns >= 40
