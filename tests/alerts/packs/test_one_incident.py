"""One incident for all that rules see of one node, whatever its exporters call the node."""

import pytest

from alerts.alert import Alert
from alerts.engine import evaluate
from alerts.incidents.group_keys import group_key_of
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.results import Sample, Seen
from collectors.facts.stepwise import result_of
from collectors.facts.topology import NodeFacts, Topology
from tests.alerts.packs.shipped import shipped_rules
from tests.alerts.packs.test_blind_metrics import SAMPLES
from tests.support.grouping import add_alert, belongs
from tests.support.objects import NOW

TOPOLOGY = Topology(
    cluster="prod-a",
    nodes={"gpu-b03": NodeFacts(name="gpu-b03", addresses=("10.0.1.13",))},
    node_of_address={"10.0.1.13": "gpu-b03"},
)
RENDERER = RuleRenderer(lambda: TOPOLOGY, clean=lambda text: text)
RULES = shipped_rules()
OF_NODES = {
    name: rule
    for name, rule in RULES.items()
    if rule.id.startswith(("node/", "network/", "control-plane/kubelet/", "monitoring/"))
    and {"node", "instance"} & set(SAMPLES.get(name, ()))
}


def alert_of(rule: Rule, labels: dict[str, str]) -> Alert:
    seen = Seen(source="any", at=NOW, samples=(Sample(labels=Labels(labels), value=1),))
    pending = result_of(evaluate(rule, {}, seen, cluster="prod-a", renderer=RENDERER, now=NOW))
    later = NOW + rule.timing.for_
    (found,) = result_of(
        evaluate(rule, pending.alerts, seen, cluster="prod-a", renderer=RENDERER, now=later)
    ).alerts.values()
    return found


def test_there_are_such_rules() -> None:
    assert len(OF_NODES) >= 35


@pytest.mark.parametrize("name", OF_NODES)
def test_a_rule_about_a_node_is_grouped_by_it(name: str) -> None:
    assert group_key_of(alert_of(RULES[name], SAMPLES[name])) == "node/gpu-b03"


def test_what_exporters_logs_and_the_api_see_of_one_fault_is_one_incident() -> None:
    """A dying disk: the file system, the kernel's log, the condition, the network agent, a lost exporter."""
    alerts = [
        alert_of(RULES["NodeFilesystemReadOnly"], {"instance": "10.0.1.13:9100", "mountpoint": "/"}),
        alert_of(RULES["NodeFilesystemReadOnlyLogged"], {"node": "gpu-b03", "device": "sda1"}),
        alert_of(RULES["KubeNodeProblem"], {"node": "gpu-b03", "condition": "ReadonlyFilesystem"}),
        alert_of(RULES["NetworkAgentDown"], {"node": "gpu-b03", "component": "calico-node"}),
        alert_of(RULES["KubeletPlegDurationHigh"], {"instance": "10.0.1.13:10250"}),
        alert_of(RULES["NodeTargetDown"], {"instance": "10.0.1.13:9400", "job": "dcgm-exporter"}),
    ]
    context = GroupingContext(rules={rule.id: rule for rule in RULES.values()}, topology=TOPOLOGY)
    incident = add_alert(open_incident("i-1", alerts[0], channels=(), now=NOW), alerts[0], context, NOW)

    for alert in alerts[1:]:
        assert belongs(incident, alert, NOW)
        incident = add_alert(incident, alert, context, NOW)

    assert len(incident.members) == len(alerts)
    assert incident.subject.node == "gpu-b03"


def test_members_of_etcd_are_one_incident() -> None:
    alerts = [
        alert_of(RULES["etcdHighFsyncDurations"], {"instance": f"10.0.9.{number}:2379"})
        for number in (1, 2, 3)
    ]
    assert {group_key_of(alert) for alert in alerts} == {"component/etcd"}
