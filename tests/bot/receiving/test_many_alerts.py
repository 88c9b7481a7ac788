"""Very many alerts: of one rule, and in one incident. None is lost, and a repeat of all of them writes nothing."""

import asyncio
from datetime import datetime, timedelta

import pytest

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import whole_ones
from alerts.received import ReceivedAlert
from alerts.routing import CardRouting
from bot.evaluation.recorder import IncidentRecorder
from bot.receiving.receiver import Inlet, Receiver
from collectors.facts.labels import Labels
from tests.support.alerting import CLUSTER, a_topology
from tests.support.chat import LoopClock
from tests.support.memory_store import MemoryStore

OF_ONE_RULE, IN_ONE_INCIDENT = 10_000, 2_000


def sent(node: str, port: int, at: datetime) -> ReceivedAlert:
    return ReceivedAlert(
        labels=Labels({"alertname": "LinkDown", "severity": "warning", "node": node, "port": str(port)}),
        annotations={"summary": f"Port {port} of {node} is down."},
        starts_at=at,
        ends_at=at + timedelta(minutes=5),
    )


@pytest.mark.looptime
async def test_ten_thousand_of_one_rule_and_two_thousand_of_one_node_lose_none() -> None:
    store, clock = MemoryStore(), LoopClock()
    at = clock.now()
    recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="C1"))
    inlet = Inlet(recorder=recorder, topology=a_topology, rules=dict)
    receiver = Receiver({CLUSTER: inlet}, store, clock, lasts=timedelta(minutes=5))
    alerts = [sent(f"node-{number:05}", 1, at) for number in range(OF_ONE_RULE)]
    alerts += [sent("gpu-a01", number, at) for number in range(IN_ONE_INCIDENT)]
    commits: list[int] = []
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(receiver.run())
        async with asyncio.TaskGroup() as senders:  # as Prometheus: batches of 64, of several senders
            for start in range(0, len(alerts), 64):
                senders.create_task(receiver.take(alerts[start : start + 64]))
        store.listen(lambda _changed: commits.append(1))
        for start in range(0, len(alerts), 640):
            await receiver.take(alerts[start : start + 640])
        task.cancel()
    async with store.read() as snapshot:
        assert len(await snapshot.rows(Alert).find()) == len(alerts)
        incidents = await snapshot.rows(Incident).find()
        (crowd,) = [one for one in incidents if one.group_key == "node/gpu-a01"]
        (whole,) = await whole_ones([crowd], snapshot)
    assert len(incidents) == OF_ONE_RULE + 1
    assert (crowd.alerts, len(whole.members), crowd.is_crowded) == (IN_ONE_INCIDENT, IN_ONE_INCIDENT, False)
    assert sum(one.is_firing for one in receiver.standing) == len(alerts)
    assert not commits
