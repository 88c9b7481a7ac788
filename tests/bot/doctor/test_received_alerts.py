"""The doctor names rules that a sender judges too, and alerts that name no cluster where there are several."""

from dataclasses import replace

from alerts.alert import Alert
from bot.doctor.received_alerts import received_findings
from bot.settings.schema import Settings
from tests.support.alerting import CLUSTER, a_rule, an_alert

RULE = a_rule()
TWO = Settings(clusters=({"name": CLUSTER}, {"name": "prod-b"}))  # type: ignore[arg-type]


def received(name: str, **labels: str) -> Alert:
    alert = an_alert(name, on={"node": "gpu-a01", **labels})
    return replace(alert, rule=f"received/{name}", is_received=True)


def test_doubled_rules_are_named_with_the_lines_that_drop_them() -> None:
    alerts = [received(RULE.name), received(RULE.name, gpu="1"), received("LinkDown")]
    (found,) = received_findings(alerts, {RULE.id: RULE}, Settings(), CLUSTER)
    assert found.text == "1 rule is judged here and by a sender: GPUTemperatureHigh"
    assert "regex: 'GPUTemperatureHigh', action: drop" in found.lines[-1]


def test_nothing_is_said_of_other_alerts() -> None:
    assert received_findings([received("LinkDown")], {RULE.id: RULE}, Settings(), CLUSTER) == []


def test_alerts_that_name_no_cluster_are_counted_where_there_are_several() -> None:
    alerts = [received("LinkDown"), received("FanDown", cluster="elsewhere"), received("A", cluster=CLUSTER)]
    (found,) = received_findings(alerts, {}, TWO, CLUSTER)
    assert found.text == "2 alerts that name no cluster were counted to this one"
    assert received_findings(alerts, {}, TWO, "prod-b") == []
    chosen = TWO.receive.model_copy(update={"default_cluster": CLUSTER})
    assert received_findings(alerts, {}, TWO.model_copy(update={"receive": chosen}), CLUSTER) == []
