"""Any set of alerts with any text: each is kept, Slack takes its card, and nobody is mentioned."""

import asyncio
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.alert import Alert
from bot.receiving.posted_alerts import PostedAlerts, ReadingOptions, posted_alerts
from bot.receiving.receiver import Inlet, Receiver
from collectors.facts.redaction import Redactor
from tests.stories.test_hostile_text import rendered_json
from tests.support.alerting import CLUSTER, minutes
from tests.support.examples import share
from tests.support.storm_stage import StormStage, a_site

pytestmark = pytest.mark.looptime

SECRET = "AKIAABCDEFGHIJKLMNOP"  # the shape of an AWS key
NASTY = (
    "<!channel> look",
    "<!here>",
    "<@U0ELI00000>",
    "<#C0123456|general>",
    "<!subteam^S012|sre>",
    "<https://evil.example|grafana>",
    "*bold* _it_ ~no~ `code` ```fence",
    "🔥" * 500,
    "A" * 10_000,
    "\u202egnp.exe",
    "a\x00b\x07\x1b[31m",
    "ok\n\n*Resolved* after 1 min",
    "{{ $labels.node }} {node} %s {0}",
    "'; DROP TABLE alerts; --",
    "café ＠channel 一二三",
    "&lt;!channel&gt;",
    f"password={SECRET}",
    f"{SECRET} of gpu-a01",
)
texts = st.one_of(
    st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
)
alerts = st.fixed_dictionaries(
    {
        "labels": st.builds(
            lambda name, node, severity, more: {
                **more,
                "alertname": name,
                "node": node,
                "severity": severity,
            },
            st.one_of(st.sampled_from(("LinkDown", "FanDown")), texts),
            st.one_of(st.sampled_from(("gpu-a01", "gpu-b01")), texts),
            st.one_of(st.sampled_from(("critical", "warning")), texts),
            st.dictionaries(
                st.one_of(st.sampled_from(("pod", "namespace", "instance", "job")), texts), texts, max_size=3
            ),
        ),
        "annotations": st.dictionaries(
            st.sampled_from(("summary", "description", "message", "actions", "runbook_url", "headline")),
            texts.map(lambda text: f"{text} {SECRET}"),
            max_size=4,
        ),
        "generatorURL": st.one_of(st.just("http://prometheus.example/graph?g0.expr=up"), texts),
    }
)
MENTION = re.compile(r"<(?!!date\^|https?://)[!@#][^>]*>|<!(?:channel|here|everyone)|<https://evil")


def _name(number: int) -> str:
    return f"Alert{number}x"


async def _delivered(sent: list[dict[str, Any]]) -> tuple[StormStage, PostedAlerts]:
    stage = StormStage(topology=a_site({"gpu-a01": "ra", "gpu-b01": "rb"}))
    inlet = Inlet(recorder=stage.recorder, topology=lambda: stage.topology, rules=dict)
    receiver = Receiver({CLUSTER: inlet}, stage.store, stage.clock, lasts=minutes(60))
    options = ReadingOptions(lasts=minutes(60), clean=Redactor().clean)
    read = await posted_alerts(json.dumps(sent).encode(), options, stage.clock.now())
    assert len(read.alerts) + len(read.refused) + read.unnamed == len(sent)
    assert all("characters in labels and annotations are more than" in one for one in read.refused)
    async with stage.delivering(), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(receiver.run())
        await receiver.take(read.alerts)
        await asyncio.sleep(120)
        task.cancel()
    return stage, read


@share(0.5, deadline=None)
@given(st.lists(alerts, min_size=1, max_size=12))
async def test_each_alert_is_kept_and_shown_and_its_card_is_taken_and_mentions_nobody(
    sent: list[dict[str, Any]],
) -> None:
    for number, one in enumerate(sent):  # each has a name by which people can find it
        one["labels"]["alertname"] = f"{_name(number)} {one['labels']['alertname']}"
    stage, read = await _delivered(sent)
    async with stage.store.read() as snapshot:
        kept = await snapshot.rows(Alert).find()
    assert {one.labels for one in kept} == {one.labels for one in read.alerts}
    incidents = await stage.incidents()
    notified = {member.alert for incident in incidents for member in incident.members}
    assert notified == {one.id for one in kept if one.severity != "info"}
    cards = await stage.cards()
    assert {card.row_id for card in cards} == {incident.id for incident in incidents}
    outcomes = {call.outcome for call in stage.slack.lookalike.workspace.ledger}
    assert outcomes <= {"ok", "ratelimited"}
    assert len(stage.slack.cards) == len(cards)
    shown = stage.slack.seen()
    names = {one.id: one.labels["alertname"].split()[0] for one in kept}
    assert [names[id] for id in notified if names[id] not in shown] == []
    for message in stage.slack.lookalike.everything(stage.slack.channel):
        assert not MENTION.search(rendered_json(message))
        assert SECRET not in json.dumps(message.body)
