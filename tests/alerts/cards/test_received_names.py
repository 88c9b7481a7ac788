"""The card of alerts that other programs sent: it names them, and what they are about, whatever their text says."""

import pytest

from alerts.received import ReceivedAlert, received
from collectors.facts.labels import Labels
from tests.support.alerting import CLUSTER, NOON, a_topology, minutes
from tests.support.incidents import an_open_incident, message_of


def said(**labels: str) -> str:
    """Return the card's lines of an alert whose text names nothing."""
    one = ReceivedAlert(
        labels=Labels({"alertname": "ReplicasMissing", "severity": "critical", **labels}),
        annotations={"summary": "It has fewer replicas than it should."},
        starts_at=NOON,
        ends_at=NOON + minutes(5),
    )
    ((alert, _),) = received(
        one, None, cluster=CLUSTER, topology=a_topology(), now=NOON, stored_for=minutes(5)
    )
    return str(message_of(an_open_incident(alert)))


@pytest.mark.parametrize(
    ("labels", "about"),
    [
        pytest.param(
            {"namespace": "serving", "deployment": "app-7"}, "serving/Deployment/app-7", id="a workload"
        ),
        pytest.param(
            {"namespace": "vision", "persistentvolumeclaim": "data-7"}, "vision/data-7", id="a volume"
        ),
        pytest.param({"node": "gpu-a07"}, "gpu-a07", id="a node"),
    ],
)
def test_the_card_names_the_alert_and_what_it_is_about(labels: dict[str, str], about: str) -> None:
    card = said(**labels)
    assert "ReplicasMissing" in card
    assert about in card
