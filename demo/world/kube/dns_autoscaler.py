"""The DNS autoscaler: scales CoreDNS by its ConfigMap every ten seconds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import aiohttp

from demo.world.kube.api import MERGE, Api, RefusedError
from demo.world.kube.cache import ObjectCache
from demo.world.kube.linear_scaling import BadParametersError, Linear, counted, linear_of, replicas
from demo.world.logs.line import Line, klog
from demo.world.shared_services import PodKey
from demo.world.state import State

LOG = logging.getLogger(__name__)
POLL = timedelta(seconds=10)
WHERE, CONFIG, TARGET = "kube-system", "kube-dns-autoscaler", "coredns"


@dataclass(slots=True)
class DnsAutoscaler:
    """The autoscaler. It scales only while its pod runs."""

    api: Api
    cache: ObjectCache
    state: State
    log: Callable[[Line], None]
    last_good: Linear | None = None

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            await asyncio.sleep(POLL.total_seconds())
            try:
                await self.poll()
            except (RefusedError, aiohttp.ClientError, TimeoutError, OSError) as error:
                LOG.warning("the DNS autoscaler failed to scale: %s", error)

    async def poll(self) -> None:
        """Compute the replicas and, if they differ, patch the scale subresource."""
        pod = next(
            (key for key, body in self.state.bodies.items() if body.labels.get("k8s-app") == CONFIG), None
        )
        if pod is None:
            return
        config = self.cache.get("ConfigMap", WHERE, CONFIG)
        try:
            if config is None:
                raise BadParametersError("configmap not found")
            self.last_good = linear_of((config.get("data") or {}).get("linear", ""))
        except BadParametersError as error:
            self._log(
                pod,
                "error",
                f"autoscaler_server.go:120] Error syncing configMap with apiserver: error parsing "
                f"linear params: {error}",
            )
        target = self.cache.get("Deployment", WHERE, TARGET)
        if self.last_good is None or target is None:
            return
        nodes, cores = counted(self.cache.all("Node"), self.last_good)
        wanted = replicas(self.last_good, nodes=nodes, cores=cores)
        now = target["spec"].get("replicas", 1)
        if wanted != now:
            self._log(
                pod,
                "info",
                f"k8sclient.go:287] Cluster status: SchedulableNodes[{nodes}], SchedulableCores[{cores}]",
            )
            self._log(
                pod,
                "info",
                f"k8sclient.go:288] Replicas are not as expected : updating replicas from {now} to {wanted}",
            )
            path = f"/apis/apps/v1/namespaces/{WHERE}/deployments/{TARGET}/scale"
            await self.api.patch(path, {"spec": {"replicas": wanted}}, kind=MERGE)

    def _log(self, pod: PodKey, level: str, text: str) -> None:
        source, _, message = text.partition("] ")
        at = self.state.now
        self.log(Line(at=at, text=klog(at, level, source, message), level=level, pod=pod))
