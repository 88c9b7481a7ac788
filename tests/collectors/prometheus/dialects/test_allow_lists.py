"""kube-state-metrics whose labels are not honoured, and of which an allow-list leaves only what some rules need."""

from collections.abc import Iterator

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from tests.real.fixtures import StartPrometheus
from tests.support.dialect_rules import END, source_of
from tests.support.gpu_dialects import STEP

_TARGET = (
    'job="kube-state-metrics",instance="10.244.0.3:8080",namespace="monitoring",pod="kube-state-metrics-0"'
)


def samples() -> Iterator[str]:
    for series, value in (
        ('kube_node_status_capacity{node="gpu-std",resource="pods"', 110),
        (
            "kube_daemonset_status_number_unavailable"
            '{daemonset="nvidia-device-plugin-daemonset",exported_namespace="gpu-operator"',
            2,
        ),
    ):
        yield f"# TYPE {series.partition('{')[0]} gauge"
        for number in range(40, -1, -1):
            yield f"{series},{_TARGET}}} {value} {(END - number * STEP).timestamp():.3f}"


UNAVAILABLE = "max by (namespace, daemonset) (kube_daemonset_status_number_unavailable) > 0"


async def test_a_daemon_set_is_in_its_own_namespace_and_not_in_the_exporters(
    start_prometheus: StartPrometheus,
) -> None:
    server = start_prometheus(samples=samples())
    async with source_of(server.url) as source:
        query = PromQLQuery(expr=UNAVAILABLE, of_pack=True)
        result = await source.query(query, at=END)
    assert isinstance(result, Seen)
    (found,) = result.samples
    assert dict(found.labels) == {"namespace": "gpu-operator", "daemonset": "nvidia-device-plugin-daemonset"}
