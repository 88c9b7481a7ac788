"""Searches for lines of hosts: a pod that quotes a kernel's line says nothing of its node."""

from datetime import timedelta
from typing import Any

from collectors.facts.queries import LogQuery
from collectors.facts.results import Seen
from collectors.facts.topology import NodeFacts, PodFacts, Topology
from tests.contract.elasticsearch.own_logs import NOW, Logs
from tests.support.log_matches import message

XID = "NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
PODS = {
    "kmsg-x7": "monitoring/DaemonSet/kmsg",
    "driver-x7": "gpu/DaemonSet.apps.kruise.io/driver",
    "chat-bot": "tools/Deployment/chat-bot",
    "ansible": "",
}
_OVER = timedelta(minutes=5)
CLUSTER = Topology(
    cluster="lab",
    nodes={name: NodeFacts(name=name) for name in ("gpu-a01", "gpu-a02")},
    pods={
        ("tools", name): PodFacts(namespace="tools", name=name, workload=workload)
        for name, workload in PODS.items()
    },
)


async def counted(logs: Logs, topology: Topology = CLUSTER, **query: Any) -> dict[str, float]:
    source = logs.source()
    source.follow(lambda: topology)
    asked = LogQuery(
        match=message("NVRM: Xid"), by=("node",), over=query.pop("over", _OVER), of_host=True, **query
    )
    seen = await source.query(asked, at=NOW)
    assert isinstance(seen, Seen), seen
    return {" ".join(one.labels.values()): one.value for one in seen.samples}


async def shipped(logs: Logs) -> None:
    await logs.index(
        logs.host(XID, node="gpu-a01"),
        logs.pod(XID, pod="kmsg-x7", namespace="tools", ago=50),
        logs.pod(f"again {XID}", pod="driver-x7", namespace="tools", ago=40),
        logs.pod(XID, pod="chat-bot", namespace="tools", node="gpu-a02"),
        logs.pod(f"ok: [gpu-a01] => {XID}", pod="ansible", namespace="tools", node="gpu-a02"),
        logs.pod(XID, pod="gone", namespace="tools", node="gpu-a02"),
    )


async def test_a_quotation_is_not_a_line_of_its_node(logs: Logs) -> None:
    await shipped(logs)
    assert await counted(logs) == {"gpu-a01": 3}
    assert await counted(logs, extract=r"\): (?P<xid>[0-9]+),") == {"gpu-a01 79": 2}  # one in two ways
    assert await counted(logs, Topology(cluster="lab")) == {"gpu-a01": 3, "gpu-a02": 3}


async def test_logs_without_pods_are_of_hosts(logs: Logs) -> None:
    line = {"@timestamp": logs.host("")["@timestamp"], "message": XID, "host": "gpu-a01"}
    await logs.index(line, into="syslog")
    assert await counted(logs) == {"gpu-a01": 1}
