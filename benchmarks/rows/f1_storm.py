"""F1 and F2: a storm in a Slack that takes one message a second, and alerts that are over before the next message.

Both programs get the same alerts from the same sender and post to the same look-alike of Slack, one after the other.
Alertmanager's groups are nodes, so that a message is about one thing; a row shows it with a group for each rule.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import alert_programs as programs
from benchmarks.alert_programs import CHANNEL, AlertProgram
from benchmarks.alert_storm import nodes, post_within, scattered, sending_to, storm
from benchmarks.row import Benchmark, Goal, Outcome, Peer, Row
from collectors.facts.clock import SystemClock
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.support.alert_sender import Posted, over
from tests.support.slack_record import SlackRecord

SOON = timedelta(seconds=5)
OVER_AFTER = timedelta(seconds=8)
WATCHED = timedelta(seconds=60)  # after the end: what waits is posted by then
APPS = 40  # alerts with nothing in common: as many messages fit into the time that is watched
LONE = "ReplicasMissing"
GROUPS: Mapping[str, Any] = {"group_wait": "1s", "group_interval": "10s", "repeat_interval": "4h"}
CLEAR = f"over after {OVER_AFTER.seconds} s: visible at any time"
POSTS = ("chat.postMessage", "files.completeUploadExternal")  # calls that give a message

ToSlack = Callable[[Path, SlackLookalike], AlertProgram]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a channel showed of alerts, as shares of 1, and the calls that it took."""

    soon: float  # a while after the first was sent
    ever: float
    whole_after: float | None  # seconds until all were visible
    posts: int  # until they were over
    refused: int


async def run(_: Mapping[str, Outcome]) -> Outcome:
    alerts = storm()
    ours = await _shown(programs.yardmaster_to_slack, alerts)
    by_node, by_rule = await _shown(_peer("node"), alerts), await _shown(_peer("alertname"), alerts)
    visible_soon = (
        f"{len(alerts):,} alerts on {len(nodes())} nodes in a second: visible after {SOON.seconds} s"
    )
    return Outcome(
        rows=(
            _share("F1", visible_soon, ours.soon, by_node.soon),
            _share("F1", "… the same, and the peer with a group for each rule", ours.soon, by_rule.soon),
            Row(
                id="F1",
                measure="… until all are visible",
                value=ours.whole_after,
                unit="s",
                missing="they never are" if ours.whole_after is None else "",
            ),
            _count("… posts until they are over", ours.posts, by_node.posts, limit=5),
            _count("… posts refused with 429", ours.refused, by_node.refused, limit=0),
            _share("F2", f"the same, {CLEAR}", ours.ever, by_node.ever),
        )
    )


async def run_scattered(_: Mapping[str, Outcome]) -> Outcome:
    alerts = scattered(APPS, name=LONE)
    ours, peers = (
        await _shown(programs.yardmaster_to_slack, alerts),
        await _shown(_peer("deployment"), alerts),
    )
    return Outcome(
        rows=(_share("F2", f"{APPS} alerts with nothing in common, {CLEAR}", ours.ever, peers.ever),)
    )


def _peer(group: str) -> ToSlack:
    def to_slack(folder: Path, slack: SlackLookalike) -> AlertProgram:
        return programs.alertmanager_to_slack(folder, slack, group_by=[group], **GROUPS)

    return to_slack


def _share(id: str, measure: str, ours: float, peers: float) -> Row:
    goal = Goal(limit=100, of_value=True, at_least=True)
    peer = Peer(name=programs.PEER, value=100 * peers)
    return Row(id=id, measure=measure, value=100 * ours, unit="%", peer=peer, goal=goal)


def _count(measure: str, ours: int, peers: int, *, limit: int) -> Row:
    peer = Peer(name=programs.PEER, value=peers)
    return Row(id="F1", measure=measure, value=ours, peer=peer, goal=Goal(limit=limit, of_value=True))


async def _shown(to_slack: ToSlack, alerts: Sequence[Posted]) -> Shown:
    """Post the alerts, end them, and return what the channel showed."""
    pairs = {(one["labels"]["alertname"], _subject(one)) for one in alerts}
    async with running(to_slack) as (program, slack), sending_to(program) as sender:
        record = SlackRecord(
            slack=slack,
            channel=CHANNEL,
            names={name for name, _ in pairs},
            subjects={subject for _, subject in pairs},
        )
        began = SystemClock().now()
        loop = asyncio.get_running_loop()
        ends = loop.time() + OVER_AFTER.total_seconds()
        await post_within(sender, _since(alerts, began))
        await asyncio.sleep(ends - loop.time())
        ended = SystemClock().now()
        await post_within(sender, [over(one, ended) for one in _since(alerts, began)])
        await asyncio.sleep(WATCHED.total_seconds())
        calls = list(slack.calls)
        return Shown(
            soon=_part(record.visible(began + SOON), pairs),
            ever=_part(record.visible(), pairs),
            whole_after=_whole_after(record, pairs, began, ended + WATCHED),
            posts=sum(one.method in POSTS and one.outcome == "ok" and one.at <= ended for one in calls),
            refused=sum(one.outcome == "ratelimited" for one in calls),
        )


def _since(alerts: Sequence[Posted], at: datetime) -> list[Posted]:
    """Return the alerts as if they began then."""
    later = (at + timedelta(minutes=4)).isoformat()
    return [{**one, "startsAt": at.isoformat(), "endsAt": later} for one in alerts]


def _subject(alert: Posted) -> str:
    labels: Mapping[str, str] = alert["labels"]
    return labels.get("node") or labels["deployment"]


def _part(seen: set[tuple[str, str]], of: set[tuple[str, str]]) -> float:
    return len(seen & of) / len(of)


def _whole_after(
    record: SlackRecord, pairs: set[tuple[str, str]], began: datetime, end: datetime
) -> float | None:
    """Return after how many seconds all were visible, to half a second."""
    step = timedelta(seconds=0.5)
    moments = (began + number * step for number in range(1, int((end - began) / step)))
    return next(((at - began).total_seconds() for at in moments if pairs <= record.visible(at)), None)


@asynccontextmanager
async def running(to_slack: ToSlack) -> AsyncIterator[tuple[AlertProgram, SlackLookalike]]:
    """Run a program with a Slack of its own."""
    members = Members(people=("dana",), channels=(CHANNEL,))
    with TemporaryDirectory(prefix="bench-") as name:
        async with SlackLookalike.running(members) as slack:
            program = to_slack(Path(name), slack)
            await program.start()
            try:
                yield program, slack
            finally:
                await program.kill()


BENCHMARK = Benchmark(id="F1", title="a storm in a Slack at its limits", run=run, limit=timedelta(minutes=7))
SCATTERED = Benchmark(
    id="F2", title="alerts that are over before their turn", run=run_scattered, limit=timedelta(minutes=5)
)
