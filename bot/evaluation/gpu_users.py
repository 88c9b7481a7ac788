"""The pods on the GPUs that alerts are about, asked of the metrics when such an alert fires."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from collectors.facts.clock import Clock
from collectors.facts.results import Blind
from collectors.facts.topology import PodKey, Topology, gpu_keys
from collectors.gpu_pods import MOST_GPUS, GpuKey, pods_by_gpu, pods_query
from collectors.sources.cluster_sources import ClusterSources

ASK_AGAIN = timedelta(minutes=5)  # another workload may have come
ANSWER_WITHIN = 5.0  # seconds: without an answer the card names all on the node


class GpuUsers:
    """Who runs on the GPUs of firing alerts, for the topology. What was found is kept until it is asked again."""

    def __init__(self, sources: ClusterSources, clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._asked: dict[GpuKey, timedelta] = {}  # by the monotonic clock
        self._found: Mapping[GpuKey, tuple[PodKey, ...]] = {}

    async def added_to(self, topology: Topology, alerts: Iterable[Alert], *, at: datetime) -> Topology:
        """Return the topology with the pods on the GPUs of these alerts, as far as their series say."""
        elapsed = self._clock.elapsed()
        self._asked = {key: when for key, when in self._asked.items() if elapsed - when < ASK_AGAIN}
        wanted = {
            key: None
            for alert in alerts
            if alert.is_firing and not alert.own_subject.pod
            for key in gpu_keys(alert.subject, alert.labels.get("pci", ""))
        }
        new = [key for key in wanted if key not in self._asked][:MOST_GPUS]
        if (query := pods_query(new)) is not None:
            self._asked |= dict.fromkeys(new, elapsed)
            try:
                async with asyncio.timeout(ANSWER_WITHIN):
                    answer = await self._sources.query(query, at=at)
            except TimeoutError:
                return replace(topology, gpu_pods=self._found)
            if not isinstance(answer, Blind):
                kept = {
                    key: pods for key, pods in self._found.items() if key in self._asked and key not in new
                }
                self._found = {**kept, **pods_by_gpu(answer.samples, topology)}
        return replace(topology, gpu_pods=self._found) if self._found else topology
