"""F3: `kill -9` while alerts come in and Slack fails, and alerts that come and go while nobody runs.

Both programs get the same alerts, faults and kills at the same moments. Half of the alerts are sent again and again, as
Prometheus does; the other half until the answer is 200, and then never again. Each is about a Deployment of its own, so
that each has a message; Alertmanager's groups are the same.
"""

import asyncio
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from benchmarks import alert_programs as programs
from benchmarks.alert_programs import CHANNEL, AlertProgram
from benchmarks.alert_storm import scattered, sending_to
from benchmarks.row import Benchmark, Goal, Outcome, Peer, Row
from benchmarks.rows.f1_storm import ToSlack, running
from collectors.facts.clock import SystemClock
from demo.lookalikes.slack import SlackLookalike
from demo.parts.prometheus import PrometheusServer
from tests.support.alert_sender import AlertSender, RepeatingSender
from tests.support.slack_record import SlackRecord

SEED = 22
KILLS = 8
PER_KILL = 4  # alerts: Slack takes a message a second
REPEATED_EVERY = timedelta(seconds=2)
CALM = 60.0  # seconds after the last kill
NAME = "ReplicasMissing"
AWAY = 10  # alerts that come and go while nobody runs
FAULTS: Mapping[str, Callable[[SlackLookalike], None]] = {
    "nothing": lambda slack: None,
    "an error": lambda slack: slack.fail("chat.postMessage", 500),
    "too many": lambda slack: slack.fail("chat.postMessage", "ratelimited", retry_after=1),
    "a reply that is lost": lambda slack: slack.lose_reply("chat.postMessage"),
    "a late post": lambda slack: slack.late("chat.postMessage", 2.0),
}
_INCIDENT = re.compile(r"\bi\d+\b")


@dataclass(slots=True, kw_only=True)
class Kept:
    """What is left after the kills."""

    alerts: int = 0
    once: int = 0  # of them sent until they were taken, and never again
    lost: int = 0
    lost_once: int = 0
    repeated: int = 0
    silences: set[str] = field(default_factory=set)  # those that were answered
    lost_silences: int = 0
    acknowledged: set[str] = field(default_factory=set)  # subjects
    lost_acknowledgements: int = 0
    lost_while_away: int = 0


async def run(_: Mapping[str, Outcome]) -> Outcome:
    ours, peers = await asyncio.gather(_kept(programs.yardmaster_to_slack), _kept(_peer()))
    again = f"{KILLS} times kill -9, Slack failing: of {ours.alerts} alerts that are sent again, lost"
    return Outcome(
        rows=(
            _lost(again, ours.lost, peers.lost),
            _lost(f"… of {ours.once} that are sent until it is 200, lost", ours.lost_once, peers.lost_once),
            _lost("… messages that stand twice", ours.repeated, peers.repeated),
            _lost(f"… of {len(ours.silences)} silences, lost", ours.lost_silences, peers.lost_silences),
            Row(
                id="F3",
                measure=f"… of {len(ours.acknowledged)} acknowledgements, lost",
                value=ours.lost_acknowledgements,
                goal=Goal(limit=0, of_value=True),
                missing="" if ours.acknowledged else "nobody could acknowledge anything",
            ),
            _lost(
                f"of {AWAY} alerts of a Prometheus that begin and end while nobody runs, lost",
                ours.lost_while_away,
                peers.lost_while_away,
            ),
        )
    )


def _lost(measure: str, ours: int, peers: int) -> Row:
    peer = Peer(name=programs.PEER, value=peers)
    return Row(id="F3", measure=measure, value=ours, peer=peer, goal=Goal(limit=0, of_value=True))


def _peer() -> ToSlack:
    waits = {"group_wait": "0s", "group_interval": "5s", "repeat_interval": "4h"}

    def to_slack(folder: Path, slack: SlackLookalike) -> AlertProgram:
        return programs.alertmanager_to_slack(
            folder, slack, send_resolved=False, group_by=["deployment"], **waits
        )

    return to_slack


async def _kept(to_slack: ToSlack) -> Kept:
    kept = Kept()
    chance = random.Random(SEED)
    async with running(to_slack) as (program, slack), sending_to(program) as sender:
        await _killed(program, slack, sender, chance, kept)
    async with running(to_slack) as (program, slack):
        kept.lost_while_away = await _lost_while_away(program, slack)
    return kept


async def _killed(
    program: AlertProgram, slack: SlackLookalike, sender: AlertSender, chance: random.Random, kept: Kept
) -> None:
    repeating = RepeatingSender(sender=sender, every=REPEATED_EVERY)
    subjects = [one["labels"]["deployment"] for one in scattered(KILLS * PER_KILL)]
    record = SlackRecord(slack=slack, channel=CHANNEL, names={NAME}, subjects=set(subjects))
    again, once = subjects[0::2], subjects[1::2]
    async with asyncio.TaskGroup() as group:
        repeats = group.create_task(repeating.run())
        for number in range(KILLS):
            for alert in scattered(PER_KILL, name=NAME, first=number * PER_KILL):
                subject = alert["labels"]["deployment"]
                if subject in again:
                    repeating.begins(subject, alert)
                else:
                    group.create_task(sender.post_until_taken([alert]))
            FAULTS[chance.choice(list(FAULTS))](slack)
            await asyncio.sleep(chance.uniform(1.0, 4.0))
            await _by_people(sender, record, kept, number)
            await asyncio.sleep(chance.uniform(0.0, 0.5))
            await program.kill()
            await asyncio.sleep(chance.uniform(0.1, 1.0))
            await program.start()
        await asyncio.sleep(CALM)
        repeats.cancel()
    seen = {subject for _, subject in record.visible()}
    kept.alerts, kept.once = len(again), len(once)
    kept.lost, kept.lost_once = len(set(again) - seen), len(set(once) - seen)
    kept.repeated = len(record.repeated())
    kept.lost_silences = len(kept.silences - await _silences(sender))
    kept.lost_acknowledgements = sum(
        not any("cknowledged by" in card.said for card in record.cards(one)) for one in kept.acknowledged
    )


async def _by_people(sender: AlertSender, record: SlackRecord, kept: Kept, number: int) -> None:
    """Add a silence, and acknowledge an alert that has a card, where a program knows acknowledgements."""
    now = SystemClock().now()
    silence = {
        "matchers": [{"name": "deployment", "value": f"other-{number}", "isRegex": False, "isEqual": True}],
        "startsAt": now.isoformat(),
        "endsAt": (now + timedelta(hours=4)).isoformat(),
        "createdBy": "dana",
        "comment": "a new fan is ordered",
    }
    async with sender.session.post(
        f"{sender.url}/api/v2/silences", json=silence, headers=sender.headers
    ) as answer:
        if answer.status == 200:
            kept.silences.add((await answer.json())["silenceID"])
    if not sender.headers:  # Alertmanager has no acknowledgements
        return
    for subject in sorted(set(record.subjects) - kept.acknowledged):
        if (cards := record.cards(subject)) and (incident := _INCIDENT.search(cards[0].said)):
            line = {"line": f"alert ack {incident[0]}"}
            async with sender.session.post(
                f"{sender.url}/api/yard/lines", json=line, headers=sender.headers
            ) as answer:
                if answer.status == 200 and (await answer.json())["outcome"] == "done":
                    kept.acknowledged.add(subject)
            return


async def _silences(sender: AlertSender) -> set[str]:
    async with sender.session.get(f"{sender.url}/api/v2/silences", headers=sender.headers) as answer:
        return {one["id"] for one in await answer.json() if one["status"]["state"] == "active"}


async def _lost_while_away(program: AlertProgram, slack: SlackLookalike) -> int:
    """Return how many alerts of a real Prometheus nobody reads that came and went while the program was dead."""
    subjects = [one["labels"]["deployment"] for one in scattered(AWAY)]
    record = SlackRecord(slack=slack, channel=CHANNEL, names={NAME}, subjects=set(subjects))
    with TemporaryDirectory(prefix="bench-") as name:
        rules = Path(name) / "rules.yml"
        rules.write_text(_rules(subjects, fire=False), encoding="utf-8")
        server = PrometheusServer(
            config=_prometheus(program, rules),
            folder=Path(name),
            flags=("--rules.alert.resend-delay=2s",),
        )
        async with server:
            await program.kill()
            for fire, standing in ((True, AWAY), (False, 0)):
                rules.write_text(_rules(subjects, fire=fire), encoding="utf-8")
                await server.reload()
                await _until(server.url, standing)
                await asyncio.sleep(3)
            await program.start()
            end = asyncio.get_running_loop().time() + CALM
            while asyncio.get_running_loop().time() < end:
                if len(record.visible()) == AWAY:
                    break
                await asyncio.sleep(1)
    return AWAY - len(record.visible())


async def _until(url: str, standing: int) -> None:
    """Wait until so many alerts fire in the Prometheus."""
    async with aiohttp.ClientSession(url) as session, asyncio.timeout(60):
        while True:
            async with session.get("/api/v1/alerts") as answer:
                alerts = (await answer.json())["data"]["alerts"]
            if sum(one["state"] == "firing" for one in alerts) == standing:
                return
            await asyncio.sleep(0.5)


def _rules(subjects: list[str], *, fire: bool) -> str:
    listed = "".join(
        f"""
      - alert: {NAME}
        expr: vector({int(fire)}) > 0
        labels: {{severity: critical, namespace: serving, deployment: {subject}}}
        annotations: {{summary: "It has fewer replicas than it should."}}"""
        for subject in subjects
    )
    return f"groups:\n  - name: replicas\n    rules:{listed}\n"


def _prometheus(program: AlertProgram, rules: Path) -> str:
    token = program.headers.get("Authorization", "").removeprefix("Bearer ")
    access = f"authorization: {{credentials: {token}}}\n      " if token else ""
    return f"""\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
alerting:
  alertmanagers:
    - {access}static_configs: [{{targets: ["{program.url.removeprefix("http://")}"]}}]
"""


BENCHMARK = Benchmark(id="F3", title="kill -9, and nobody at home", run=run, limit=timedelta(minutes=10))
