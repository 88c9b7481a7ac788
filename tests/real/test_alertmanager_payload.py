"""The webhook's body has the shape of what a real Alertmanager posts, so its receivers read ours."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.channels.webhook.payload import payload_of
from tests.real.fixtures import present_or_skip
from tests.real.servers.alertmanager import AlertmanagerServer, find_alertmanager
from tests.support.incidents import an_open_incident, message_of, resolved
from tests.support.rows import an_alert
from tests.support.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.real

CONFIG = """\
route: {{receiver: night, group_by: [node], group_wait: 100ms, group_interval: 200ms}}
receivers:
  - name: night
    webhook_configs: [{{url: "{url}", send_resolved: true}}]
"""


def shape(value: Any) -> Any:
    """Return the types at every level; of a list, those of its first item. Maps of labels are maps of strings."""
    match value:
        case dict() if (
            value and all(isinstance(one, str) for one in value.values()) and "status" not in value
        ):
            return "strings by name"
        case dict():
            return {name: shape(one) for name, one in value.items()} or "strings by name"
        case list():
            return [shape(value[0])] if value else []
        case _:
            return type(value).__name__


def moments(body: dict[str, Any]) -> Iterator[datetime]:
    for alert in body["alerts"]:
        for name in ("startsAt", "endsAt"):
            assert alert[name].endswith("Z") or "+" in alert[name]
            yield datetime.fromisoformat(alert[name])


async def _posted_by_alertmanager(folder: Path) -> list[dict[str, Any]]:
    """Return what a real Alertmanager posts for an alert that fires and for its end."""
    async with WebhookReceiver.running() as receiver, aiohttp.ClientSession() as session:
        with AlertmanagerServer(folder=folder, config=CONFIG.format(url=receiver.url)) as server:
            alert = {
                "labels": {"alertname": "GPUTemperatureHigh", "node": "gpu-a04", "severity": "warning"},
                "annotations": {"summary": "gpu-a04 is hot"},
                "generatorURL": "http://prometheus/graph",
            }
            for status in ("firing", "resolved"):
                ended = {} if status == "firing" else {"endsAt": _rfc3339(datetime.now(UTC))}  # noqa: TID251
                async with session.post(f"{server.url}/api/v2/alerts", json=[{**alert, **ended}]) as answer:
                    assert answer.status == 200
                async with asyncio.timeout(60):
                    while status not in {body["status"] for body in receiver.bodies}:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
        return list(receiver.bodies)


def _rfc3339(at: datetime) -> str:
    return (at - timedelta(seconds=1)).isoformat().replace("+00:00", "Z")


async def test_our_body_has_the_shape_of_alertmanagers(tmp_path: Path) -> None:
    present_or_skip(find_alertmanager)
    theirs = await _posted_by_alertmanager(tmp_path)
    alert = an_alert("gpu-a04")
    ours = []
    for incident in (an_open_incident(alert), resolved(an_open_incident(alert))):
        facts = message_of(incident, alert).facts
        assert facts is not None
        ours.append(json.loads(payload_of(facts, receiver="night")))
    for mine, real in zip(ours, (theirs[0], theirs[-1]), strict=True):
        assert mine["status"] == real["status"]
        assert mine["version"] == real["version"]
        assert mine["alerts"][0]["status"] == real["alerts"][0]["status"]
        assert len(mine["alerts"][0]["fingerprint"]) == len(real["alerts"][0]["fingerprint"])
        incident = mine.pop("incident")
        assert incident["id"] == "i1"
        assert shape(mine) == shape(real)
        assert [at.tzinfo is not None for at in moments(mine)] == [
            at.tzinfo is not None for at in moments(real)
        ]
    assert ours[0]["alerts"][0]["endsAt"] == theirs[0]["alerts"][0]["endsAt"]  # it has not ended
