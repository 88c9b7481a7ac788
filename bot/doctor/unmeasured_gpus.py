"""GPUs of other makes that no series is about: rules on GPUs cannot see them."""

from collections.abc import Sequence
from datetime import datetime

from bot.doctor.listed_nodes import ListedCluster
from collectors.checks.gpu_metrics import MEASURED, MeasuredNodes
from collectors.facts.findings import Finding, warning
from collectors.facts.results import Blind
from collectors.facts.sentences import counted
from collectors.sources.cluster_sources import ClusterSources

_FIX = (
    "install the exporter of its maker, and let Prometheus scrape it: AMD's device-metrics-exporter (port 5000), "
    "Ascend's npu-exporter (8082), Tencent's gpu-manager (5678); docs/dialects.md has the metrics that rules know"
)


async def unmeasured_gpus(listed: ListedCluster, sources: ClusterSources, at: datetime) -> Sequence[Finding]:
    """Return a finding for each make whose GPUs are there and not measured on any node.

    Of NVIDIA's, the source of metrics says what rules lack.
    """
    if not listed.makes:
        return ()
    answer = await sources.query(MEASURED, at=at)
    if isinstance(answer, Blind):  # a finding of its own
        return ()
    series = MeasuredNodes()
    for sample in answer.samples:
        series.add(sample, listed.topology)
    return [
        warning(
            counted(
                "no series of the GPUs of {make} on {count} node: no rule on GPUs can see them",
                "no series of the GPUs of {make} on {count} nodes: no rule on GPUs can see them",
                make=make,
                count=len(nodes),
            ),
            _FIX,
        )
        for make, nodes in sorted(listed.makes.items())
        if series.knows_none_of(nodes)
    ]
