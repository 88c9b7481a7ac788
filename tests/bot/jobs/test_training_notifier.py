"""An owner and their team are notified once of each failure of a training, with its cause and the right node."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.matching import parse_matchers
from alerts.routing import Route
from alerts.rules import AlertTemplate, Recipient, Severity
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.jobs.training_notifier import NoticeRouting, TrainingNotifier
from collectors.facts.labels import Labels
from collectors.facts.redaction import Redactor
from collectors.facts.subjects import Subject
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Rank, Training, TrainingState
from commands.models import TrainingNotice
from commands.training.past_failures import failure_lines
from tests.support.alerting import CLUSTER, NOON, a_rule, a_topology, an_alert, minutes
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory
from tests.support.rows import a_launch, a_silence
from tests.support.trainings import a_training
from tests.support.yard import text_of

KEY = "speech/Job/asr"
CONTEXT = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
RULE = replace(
    a_rule("TrainingFailed", severity="info"),
    template=AlertTemplate(labels={"severity": "info"}, notify=Recipient.OWNER),
)
HALF = replace(
    a_rule("TrainingHalfPlaced"),
    template=AlertTemplate(labels={"severity": "warning"}, notify=Recipient.OWNER),
)
ROUTING = NoticeRouting(
    teams={"speech": "slack:C_SPEECH"},
    routes=(Route(matchers=parse_matchers('team="vision"'), channels=("slack:C_VISION",)),),
    default="slack:C_ALL",
    owners={"bo": "slack:U_BO"},
    reaches_people=lambda kind: kind == "slack",
)


def rank(index: int, node: str, *, after: float = 0, **more: Any) -> Rank:
    return Rank(
        role="worker",
        index=index,
        pod=f"asr-{index}",
        node=node,
        exit_code=1,
        finished=NOON + timedelta(seconds=after),
        explanation="the program exited with an error",
        **more,
    )


FAILED = a_training(
    "speech",
    "asr",
    TrainingState.FAILED,
    id=KEY,
    owner="bo",
    team="speech",
    gpus_wanted=24,
    failures=(rank(0, "gpu-d02"), rank(7, "gpu-a01", after=1)),
    finished=NOON + timedelta(seconds=5),
)


def alert_of(rule: str = "TrainingFailed", team: str = "speech", **labels: str) -> Alert:
    subject = Subject(
        cluster=CLUSTER, namespace="speech", training=KEY, training_name="speech/asr", owner="bo", team=team
    )
    fired = an_alert(rule, summary="Training speech/asr has failed.")
    words = {"alertname": rule, "training": "speech/asr", "namespace": "speech", **labels}
    return replace(
        fired,
        rule=f"gpu/heat/{rule}",
        labels=Labels(words),
        own_subject=Subject(cluster=CLUSTER, namespace="speech", training="speech/asr"),
        subject=subject,
        texts=("1 of 2 tasks have a node",),
    )


class Stage:
    """A notifier, which a test may start again over the same store."""

    def __init__(self, training: Training | None = FAILED, routing: NoticeRouting = ROUTING) -> None:
        self.store = MemoryStore()
        self.now = NOON + minutes(1)
        self.routing = routing
        self.cluster: Any = SimpleNamespace(
            training=lambda id: training if training is not None and id == training.id else None,
            pod_logs=None,
            logs=None,
            inventory=inventory,
        )

    def notifier(self) -> TrainingNotifier:
        """A new process over the same store."""
        return TrainingNotifier(
            self.store,
            {CLUSTER: self.cluster},
            lambda: {rule.id: rule for rule in (RULE, HALF)},
            SimpleNamespace(now=lambda: self.now),
            self.routing,
            redact=Redactor(),
            errors=InternalErrors(lambda component: pytest.fail(component)),
        )

    async def hears(self, *alerts: Alert) -> None:
        notifier = self.notifier()
        self.store.listen(notifier.wake)
        await self.put(*alerts)
        await notifier.notify()

    async def put(self, *rows: Any) -> None:
        async with self.store.unit() as unit:
            for row in rows:
                await unit.rows(type(row)).put(row)

    async def channels(self) -> list[str]:
        async with self.store.read() as snapshot:
            return [card.channel for card in await snapshot.rows(PostedCard).find()]

    async def says(self, channel: str) -> str:
        async with self.store.read() as snapshot:
            cards = await snapshot.rows(PostedCard).find(kind=CardKind.TRAINING_NOTICE, channel=channel)
            composed = await CardCatalogue(CONTEXT).compose(cards[-1], snapshot, self.now)
        assert composed.message is not None
        return text_of(composed.message)


def broken_gpu(node: str = "gpu-a01") -> Incident:
    alert = an_alert(
        "GPUXIDError", node=node, severity="critical", summary=f"GPU 3 on {node} fell off the bus."
    )
    grouping = GroupingContext(rules={}, topology=a_topology())
    opened = open_incident("i3", alert, channels=("slack:C_ALL",), now=NOON)
    return add_alert(opened, alert, grouping, NOON)


async def test_the_team_and_the_owner_hear_of_it_with_the_cause_and_the_node_that_killed_it() -> None:
    stage = Stage()
    await stage.put(broken_gpu())

    await stage.hears(alert_of())

    assert await stage.channels() == ["slack:C_SPEECH", "slack:U_BO"]
    said = await stage.says("slack:U_BO")
    assert "Training speech/asr has failed" in said
    assert "Probably not your code: GPU 3 on gpu-a01 fell off the bus" in said
    assert "First failure: worker 7 on gpu-a01" in said
    assert "gpu-d02: exit" not in said
    assert "[Logs] training logs speech/asr" in said
    assert "24 GPUs on gpu-a01, gpu-d02" in said


async def test_without_a_broken_node_the_cause_is_the_task_that_failed_first() -> None:
    stage = Stage()
    await stage.hears(alert_of())
    said = await stage.says("slack:C_SPEECH")
    assert "First failure: worker 0 on gpu-d02: exit code 1: the program exited with an error" in said
    assert "Probably not your code" not in said


class Said:
    """What pods printed last, with the times that the API puts before the lines."""

    async def logs(self, _namespace: str, pod: str, **_more: Any) -> str:
        echo = "NCCL error: remote process exited or there was a network error"
        text = "ValueError: labels out of range" if pod == "asr-7" else echo
        return f"{NOON:%Y-%m-%dT%H:%M:%S}.5Z {text}\n"


async def test_the_task_that_failed_first_is_named_by_what_the_tasks_say_and_not_by_who_ended_first() -> None:
    stage = Stage()
    stage.cluster.pod_logs = Said()
    await stage.hears(alert_of())

    said = await stage.says("slack:C_SPEECH")
    assert "First failure: worker 7 on gpu-a01" in said
    assert "Cause: its own program ended with an error" in said
    assert said.count("ValueError: labels out of range") == 2  # as the first line, and among the last
    async with stage.store.read() as snapshot:
        (notice,) = await snapshot.rows(TrainingNotice).find()
    home = plain(failure_lines((notice, None)))
    assert "First failure: worker 7 on gpu-a01" in home
    assert "ValueError: labels out of range" in home


async def test_a_failure_is_notified_once_whatever_follows() -> None:
    stage = Stage()
    await stage.hears(alert_of())
    stage.now += minutes(2)
    await stage.hears(replace(alert_of(), value=2))  # stored again each minute, and by a new process
    again = replace(alert_of(), life=replace(alert_of().life, since=NOON + minutes(5)))
    await stage.hears(again)  # it fires again for the same end: its Job was not seen for a while

    assert len(await stage.channels()) == 2


async def test_a_second_failure_of_the_same_training_is_notified_too() -> None:
    stage = Stage()
    await stage.hears(alert_of())
    ended = replace(FAILED, finished=NOON + minutes(90))
    stage.cluster.training = lambda _id: ended
    await stage.hears(replace(alert_of(), life=replace(alert_of().life, since=NOON + minutes(91))))

    assert len(await stage.channels()) == 4


async def test_what_an_earlier_process_stored_and_did_not_come_to_is_notified() -> None:
    stage = Stage()
    await stage.put(alert_of())
    posted = asyncio.Event()
    stage.store.listen(lambda changed: posted.set() if "cards" in changed else None)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(stage.notifier().run())
        await posted.wait()
        task.cancel()
    assert await stage.channels() == ["slack:C_SPEECH", "slack:U_BO"]


async def test_an_alert_of_another_rule_tells_no_owner() -> None:
    stage = Stage()
    await stage.hears(alert_of("GPUTemperatureHigh"))
    assert await stage.channels() == []


async def test_a_team_without_a_channel_has_those_of_the_routes() -> None:
    stage = Stage(replace(FAILED, team="vision"))
    await stage.hears(alert_of(team="vision"))
    assert await stage.channels() == ["slack:C_VISION", "slack:U_BO"]


async def test_whose_owner_is_not_known_is_notified_in_the_channel_only() -> None:
    stage = Stage(replace(FAILED, owner="zoe"))
    await stage.hears(alert_of())
    assert await stage.channels() == ["slack:C_SPEECH"]
    assert "zoe, team speech" in await stage.says("slack:C_SPEECH")


async def test_the_owner_of_what_was_launched_here_is_who_launched_it_and_its_channel_knows() -> None:
    stage = Stage(replace(FAILED, owner=""))
    launch = a_launch(
        NOON, id=f"{CLUSTER}/{KEY}", training=KEY, by="slack:U_ANA", channel="slack:C_SPEECH", plan="p1"
    )
    await stage.put(launch)
    await stage.hears(alert_of())
    assert await stage.channels() == ["slack:U_ANA"]  # the launch's thread shows it in that channel


async def test_a_channel_with_the_incident_s_card_gets_no_second_message() -> None:
    stage = Stage(replace(FAILED, state=TrainingState.STARTING, finished=None, failures=()))
    alert = alert_of("TrainingHalfPlaced")
    opened = open_incident("i9", alert, channels=("slack:C_SPEECH",), now=NOON)
    incident = add_alert(opened, alert, GroupingContext(rules={}, topology=a_topology()), NOON)
    await stage.put(incident)

    await stage.hears(alert)

    assert await stage.channels() == ["slack:U_BO"]
    assert "1 of 2 tasks have a node" in await stage.says("slack:U_BO")


async def test_what_waits_and_runs_and_waits_again_is_notified_once_an_hour() -> None:
    stage = Stage(replace(FAILED, state=TrainingState.STARTING, finished=None, failures=()))
    for after in (0, 20, 40, 70):
        alert = alert_of("TrainingHalfPlaced")
        await stage.hears(replace(alert, life=replace(alert.life, since=NOON + minutes(after))))
    assert len(await stage.channels()) == 4  # two notices, in two channels each


async def test_a_silenced_alert_tells_nobody_until_the_silence_ends() -> None:
    stage = Stage()
    await stage.put(a_silence(NOON, 'alertname="TrainingFailed"', cluster=CLUSTER, ends_at=NOON + minutes(5)))
    await stage.hears(alert_of())
    assert await stage.channels() == []

    stage.now = NOON + minutes(6)
    await stage.hears(alert_of())
    assert len(await stage.channels()) == 2


async def test_the_notice_keeps_why_after_the_training_is_gone() -> None:
    stage = Stage()
    await stage.put(broken_gpu())
    await stage.hears(alert_of())
    stage.cluster.training = lambda _id: None
    await stage.put(replace(broken_gpu(), resolved_at=NOON + minutes(20), severity=Severity.CRITICAL))

    assert "fell off the bus" in await stage.says("slack:U_BO")
    async with stage.store.read() as snapshot:
        (notice,) = await snapshot.rows(TrainingNotice).find()
    assert notice.nodes == ("gpu-a01", "gpu-d02")


async def test_a_direct_message_and_a_mention_would_be_two() -> None:
    stage = Stage()
    await stage.hears(alert_of())
    async with stage.store.read() as snapshot:
        (notice,) = await snapshot.rows(TrainingNotice).find()
    assert notice.is_direct
    assert "@bo" not in await stage.says("slack:C_SPEECH")
