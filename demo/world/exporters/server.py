"""HTTP proxy through which Prometheus scrapes every exporter."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web
from yarl import URL

from demo.world.exporters import ceph, coredns, dcgm, discovery, kubelet, node, state_metrics, training
from demo.world.exporters.quantities import Listing
from demo.world.exporters.text import CONTENT_TYPE, Family, render
from demo.world.state import Body, Host, Role, State

LOG = logging.getLogger(__name__)

HERE = "127.0.0.1"
NODE_PORT, DCGM_PORT, DNS_PORT, STATE_PORT, CEPH_PORT, KUBELET_PORT = 9100, 9400, 9153, 8080, 9283, 10250


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A scrape target: its address, its path, and a function that returns its metrics."""

    address: str
    port: int
    path: str
    answer: Callable[[], list[Family]]
    body: Body | None = None  # the exporter's pod; None for a kubelet


@dataclass(frozen=True, slots=True)
class Exporters:
    """All exporters of the cluster, by address."""

    state: State
    listing: Listing

    def targets(self) -> list[Target]:
        """Return all targets that are up. Servers without power and ended pods have none."""
        found: list[Target] = []
        on: dict[str, list[Body]] = {name: [] for name in self.state.hosts}
        for body in self.state.bodies.values():
            if body.exit is None:
                on[body.node].append(body)
        for host in self.state.hosts.values():
            if not host.powered:
                continue
            found += [t for body in on[host.name] if (t := self._of_pod(host, body)) is not None]
            found += self._of_kubelet(host, on[host.name])
        return found

    def _of_pod(self, host: Host, body: Body) -> Target | None:
        state, name = self.state, body.labels.get("app.kubernetes.io/name") or body.labels.get("app")

        def target(port: int, answer: Callable[[], list[Family]]) -> Target:
            return Target(address=body.address, port=port, path="/metrics", answer=answer, body=body)

        if name == "node-exporter":
            return target(NODE_PORT, lambda: node.families(host, state.now))
        if name == "dcgm-exporter":
            return target(DCGM_PORT, lambda: dcgm.families(host, state.bodies))
        if name == "kube-state-metrics":
            return target(STATE_PORT, lambda: state_metrics.families(self.listing))
        if name == "rook-ceph-mgr":
            return target(CEPH_PORT, lambda: ceph.families(state))
        server = state.dns.servers.get(body.key)
        if server is not None:
            return target(DNS_PORT, lambda: coredns.families(server, state.dns))
        run = state.trainings.get(body.training) if body.training else None
        if run is not None:
            return target(body.metrics_port or 8080, lambda: training.families(run, body))
        if body.role is Role.SERVER and body.metrics_port:
            return target(body.metrics_port, lambda: training.server_families(body))
        return None

    def _of_kubelet(self, host: Host, bodies: list[Body]) -> list[Target]:
        if not host.kubelet_alive:
            return []
        at = {"address": host.spec.address, "port": KUBELET_PORT}
        return [
            Target(path="/metrics", answer=lambda: kubelet.own(self.state, host, bodies), **at),  # type: ignore[arg-type]
            Target(path="/metrics/cadvisor", answer=lambda: kubelet.cadvisor(bodies), **at),  # type: ignore[arg-type]
        ]

    def scrape(self, url: URL) -> str | None:
        """Return the metrics of the target at this URL as text, or None when there is none."""
        for target in self._at(url.host or ""):
            if (target.port, target.path) == (url.port, url.path):
                return render(target.answer())
        return None

    def _at(self, address: str) -> list[Target]:
        """Return the targets of one address, as `targets` has them: it is asked for each target every two seconds."""
        hosts = self.state.hosts
        running = [body for body in self.state.bodies.values() if body.exit is None]
        found = [
            target
            for body in running
            if body.address == address and hosts[body.node].powered
            if (target := self._of_pod(hosts[body.node], body)) is not None
        ]
        for host in hosts.values():
            if host.spec.address == address and host.powered:
                found += self._of_kubelet(host, [body for body in running if body.node == host.name])
        return found

    async def answer(self, request: web.BaseRequest) -> web.Response:
        if request.url.host == HERE:  # a direct request, not a proxied one
            role = request.url.path.removeprefix("/discovery/")
            if role not in discovery.ROLES:
                return web.Response(status=404, text=f"roles: {', '.join(discovery.ROLES)}\n")
            return web.json_response(discovery.ROLES[role](self.listing))
        text = self.scrape(request.url)
        if text is None:
            return web.Response(status=504, text=f"no route to {request.url}\n")
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})


class ExporterServer:
    """The proxy on 127.0.0.1. Use it as `async with ExporterServer(exporters) as server`; the port is `server.port`."""

    def __init__(self, exporters: Exporters, *, port: int = 0) -> None:
        self.exporters = exporters
        self.port = port

    async def __aenter__(self) -> ExporterServer:
        self._runner = web.ServerRunner(web.Server(self.exporters.answer), shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HERE, self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://{HERE}:{self.port}"
