"""Alerts are listed by rule and place: the worst first, many of one kind as one line with their range."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.alert import Alert
from alerts.lifecycle import AlertState
from alerts.rules import Severity
from commands.alert.alert_groups import grouped, value_range
from tests.support.alerting import NOON, an_alert
from tests.support.incident_yard import yard_with
from tests.support.incidents import an_open_incident


def throttled(gpu: int, value: float, summary: str = "") -> Alert:
    written = summary or f"GPU {gpu} on gpu-a01 is thermally throttled {100 * value:.2f}% of the time."
    alert = an_alert("GPUThermalThrottling", on={"node": "gpu-a01", "gpu": str(gpu)}, summary=written)
    return replace(alert, value=value)


EIGHT = [throttled(gpu, 0.63 + gpu / 200) for gpu in range(8)]


def test_eight_alerts_of_a_rule_on_a_node_are_one_line() -> None:
    (group,) = grouped(EIGHT, silenced=())

    assert group.text == "8× GPUThermalThrottling on gpu-a01, 63-66 %"


def test_one_alert_speaks_for_itself() -> None:
    (group,) = grouped([an_alert(summary="gpu-a01 is hot: 91 °C.")], silenced=())

    assert group.text == "GPUTemperatureHigh: gpu-a01 is hot: 91 °C."


@pytest.mark.parametrize(
    ("summaries", "values", "expected"),
    [
        pytest.param(("GPU 1 is hot: 91 °C.", "GPU 9 is hot: 104.4 °C."), (91, 104.37), "91-104 °C", id="°C"),
        pytest.param(("91 °C", "91 °C"), (91, 91), "91 °C", id="all the same"),
        pytest.param(("slow: 0.25s", "slow: 3s"), (0.25, 3), "0.2-3 s", id="small numbers keep a digit"),
        pytest.param(("reported XID 79", "reported XID 79"), (79, 79), "", id="a number without a unit"),
        pytest.param(("91 °C", "100 W"), (91, 100), "", id="two units"),
        pytest.param(("83 °C", "83 °C"), (91, 92), "", id="a number that is not the value"),
    ],
)
def test_the_range_is_of_what_the_summaries_measure(
    summaries: tuple[str, ...], values: tuple[float, ...], expected: str
) -> None:
    alerts = [
        replace(an_alert(summary=one), value=value) for one, value in zip(summaries, values, strict=True)
    ]

    assert value_range(alerts) == expected


def test_the_worst_come_first_and_what_is_silenced_last() -> None:
    old = an_alert("Old", at=NOON - timedelta(hours=1))
    new = an_alert("New")
    silenced = an_alert("Silenced", severity="critical")
    pending = an_alert("Pending", severity="critical", state=AlertState.PENDING)
    critical = an_alert("Critical", severity="critical")
    found = grouped([pending, silenced, new, old, critical], silenced=[silenced.id])

    assert [group.oldest.name for group in found] == ["Critical", "Old", "New", "Pending", "Silenced"]


def test_nodes_states_and_silences_are_not_mixed() -> None:
    other = an_alert("GPUThermalThrottling", on={"node": "gpu-a02", "gpu": "0"})
    found = grouped([*EIGHT, other], silenced=[EIGHT[0].id])

    assert sorted(len(group.alerts) for group in found) == [1, 1, 7]


async def test_the_answer_counts_the_alerts_and_lists_the_groups(tmp_path: Path) -> None:
    async with yard_with(tmp_path, an_open_incident(*EIGHT), *EIGHT) as yard:
        reply = await yard.say("alert list")
        assert reply.splitlines()[0] == "8 alerts"
        assert "8× GPUThermalThrottling on gpu-a01, 63-66 % | " in reply
        assert "| warning, firing" in reply
        await yard.say("silence incident i1")
        assert "| warning, silenced" in await yard.say("alert list")


async def test_what_is_worse_in_its_incident_is_listed_as_there(tmp_path: Path) -> None:
    formatted = an_alert("VolumeFormatted", severity="info")
    incident = an_open_incident(formatted)
    lost = replace(
        incident.members[0], is_worse=True, severity=Severity.CRITICAL, summary="DATA LOSS on gpu-a01."
    )
    async with yard_with(tmp_path, replace(incident, members=(lost,)), formatted) as yard:
        reply = await yard.say("alert list")
    assert "VolumeFormatted: DATA LOSS on gpu-a01." in reply
    assert "| critical, firing" in reply
