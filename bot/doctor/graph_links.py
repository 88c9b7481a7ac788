"""The link to the graph of an alert's query, suggested where an address for people can be found out.

Prometheus says itself at which address people open it (`--web.external-url`). Else the Ingresses of the cluster are
asked, as kube-prometheus-stack makes them. Nothing is set by itself: an address that can be found may not be one to
show.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from ipaddress import ip_address

import msgspec
from yarl import URL

from alerts.cards.query_links import QUERY_PLACEHOLDER
from bot.settings.source_options import prometheus_options
from bot.settings.source_settings import ClusterSettings, KubernetesSettings
from collectors.facts.findings import Finding, warning
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from collectors.sources.prometheus.client import PrometheusClient

_LIMIT = timedelta(seconds=20)
_INGRESSES = "/apis/networking.k8s.io/v1/ingresses"
_GRAPH = f"/graph?g0.expr={QUERY_PLACEHOLDER}&g0.tab=0"
_INSIDE = (".svc", ".local", ".internal", ".localdomain")  # names that only the cluster knows
_NAMES = (
    "prometheus",
    "operated",
    "server",
    "k8s",
)  # the ends of the names that charts and operators give its Service


class _Flags(msgspec.Struct):
    data: dict[str, str] = {}


class _Service(msgspec.Struct):
    name: str = ""


class _Backend(msgspec.Struct):
    service: _Service = msgspec.field(default_factory=_Service)


class _Path(msgspec.Struct):
    backend: _Backend = msgspec.field(default_factory=_Backend)
    path: str = "/"


class _Http(msgspec.Struct):
    paths: list[_Path] = []


class _Rule(msgspec.Struct):
    host: str = ""
    http: _Http | None = None


class _Tls(msgspec.Struct):
    hosts: list[str] | None = None


class _Spec(msgspec.Struct):
    rules: list[_Rule] | None = None
    tls: list[_Tls] | None = None


class _Ingress(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Ingresses(msgspec.Struct):
    items: list[_Ingress] | None = None


async def graph_link(cluster: ClusterSettings) -> Finding | None:
    """Return the line to add to the cluster's settings; None if it has such a link, or no address is found."""
    if cluster.prometheus is None or any(QUERY_PLACEHOLDER in link for link in cluster.links.values()):
        return None
    address = ""
    try:
        async with asyncio.timeout(_LIMIT.total_seconds()):
            address = await _external_url(cluster)
            if not address and cluster.kubernetes is not None:
                address = await _ingress(cluster.kubernetes)
    except (SourceError, TimeoutError, msgspec.DecodeError, OSError, ValueError):
        return None  # what does not answer, or may not be read, is a finding of its part
    if not address:
        return None
    links = {**cluster.links, "Prometheus": address.rstrip("/") + _GRAPH}
    text = sentence(
        "cards have no link to the graph of their query, and Prometheus seems to be open to people at {address}",
        address=address,
    )
    fix = sentence("if it is, add this line to the cluster in the settings: clusters[].links")
    return warning(text, fix, (f"links: {json.dumps(links)}",))


async def _external_url(cluster: ClusterSettings) -> str:
    """Return the address that Prometheus has for people; empty for one that only the cluster knows."""
    assert cluster.prometheus is not None
    client = PrometheusClient(prometheus_options(cluster.prometheus))
    try:
        body = await client.get("api/v1/status/flags")
        address = msgspec.json.decode(body, type=_Flags).data.get("web.external-url", "")
    except (SourceError, msgspec.DecodeError):  # Thanos, Mimir and others have none
        return ""
    finally:
        await client.close()
    return address if _is_for_people(address) else ""


def _is_for_people(address: str) -> bool:
    """Whether a browser outside may know this address, by its form."""
    try:
        url = URL(address)
        host = url.host or ""
        if url.scheme not in ("http", "https") or url.user or url.password:
            return False
    except ValueError:
        return False
    try:
        ip_address(host)
    except ValueError:
        is_service = url.scheme == "http" and host.count(".") < 2  # `prometheus`, or `prometheus.monitoring`
        return "." in host and not is_service and not host.rstrip(".").endswith(_INSIDE)
    return False  # a pod's or a node's


async def _ingress(settings: KubernetesSettings) -> str:
    """Return the address of the first Ingress that leads to a Prometheus; empty without one."""
    client = await KubernetesClient.connect(
        KubernetesOptions(kubeconfig=settings.kubeconfig, context=settings.context)
    )
    try:
        found = [address async for address in _addresses(KubernetesSource(client))]
    finally:
        await client.close()
    return min(found, default="")


async def _addresses(source: KubernetesSource) -> AsyncIterator[str]:
    async for page in source.pages(_INGRESSES):
        for ingress in msgspec.json.decode(page, type=_Ingresses).items or ():
            secure = {host for one in ingress.spec.tls or () for host in one.hosts or ()}
            for rule in ingress.spec.rules or ():
                for path in rule.http.paths if rule.http else ():
                    name = path.backend.service.name
                    is_it = "prometheus" in name and name.rpartition("-")[2] in _NAMES
                    scheme = "https" if rule.host in secure else "http"
                    address = f"{scheme}://{rule.host}{'' if path.path == '/' else path.path}"
                    if is_it and "*" not in rule.host and _is_for_people(address):
                        yield address
