"""A link to graphs is suggested where people can open Prometheus, and nowhere else."""

import json
from pathlib import Path

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from bot.doctor.graph_links import graph_link
from bot.settings.source_settings import ClusterSettings, KubernetesSettings, PrometheusSettings
from collectors.facts.findings import FindingLevel
from demo.lookalikes.kubernetes import KubernetesLookalike

LINK = "https://prometheus.example.com/graph?g0.expr={query}&g0.tab=0"


def prometheus(external_url: str) -> TestServer:
    """A Prometheus that says at which address people open it."""

    async def flags(_: web.Request) -> web.Response:
        return web.json_response({"status": "success", "data": {"web.external-url": external_url}})

    app = web.Application()
    app.router.add_get("/api/v1/status/flags", flags)
    return TestServer(app)


async def offered(server: BaseTestServer, kubeconfig: str = "", **links: str) -> dict[str, str] | None:
    """Return the links that the doctor suggests; None if it suggests none."""
    cluster = ClusterSettings(
        name="a",
        kubernetes=KubernetesSettings(kubeconfig=kubeconfig) if kubeconfig else None,
        prometheus=PrometheusSettings(url=str(server.make_url("/"))),
        links=links,
    )
    found = await graph_link(cluster)
    if found is None:
        return None
    assert found.level is FindingLevel.WARNING
    (line,) = found.lines
    read = yaml.safe_load(line)["links"]
    ClusterSettings.model_validate({"name": "a", "links": read})
    assert isinstance(read, dict)
    return read


async def test_the_address_that_prometheus_has_for_people_is_offered_beside_the_links_that_there_are() -> (
    None
):
    async with prometheus("https://prometheus.example.com/") as server:
        assert await offered(server) == {"Prometheus": LINK}
        assert await offered(server, Rack="https://racks.example.com/{node}") == {
            "Rack": "https://racks.example.com/{node}",
            "Prometheus": LINK,
        }


async def test_a_link_to_graphs_that_is_there_is_enough() -> None:
    async with prometheus("https://prometheus.example.com/") as server:
        assert await offered(server, Graph="https://grafana.example.com/explore?q={query}") is None


@pytest.mark.parametrize(
    "address",
    [
        "http://prometheus-0:9090/",
        "http://kps-prometheus.monitoring:9090",
        "http://kps-prometheus.monitoring.svc.cluster.local:9090",
        "http://10.0.0.7:9090",
        "http://[fd00::1]:9090",
        "https://me:secret@prometheus.example.com",
        "",
    ],
)
async def test_an_address_that_only_the_cluster_knows_is_not_offered(address: str) -> None:
    async with prometheus(address) as server:
        assert await offered(server) is None


@pytest.mark.parametrize(
    ("service", "host", "is_offered"),
    [
        pytest.param(
            "kps-kube-prometheus-stack-prometheus", "prometheus.example.com", True, id="of the stack"
        ),
        pytest.param("prometheus-operated", "prometheus.example.com", True, id="of the operator"),
        pytest.param(
            "kps-kube-prometheus-stack-alertmanager", "alerts.example.com", False, id="Alertmanager"
        ),
        pytest.param("kps-grafana", "grafana.example.com", False, id="Grafana"),
        pytest.param("prometheus-operated", "*.example.com", False, id="any host"),
    ],
)
async def test_an_ingress_that_leads_to_prometheus_is_offered(
    tmp_path: Path, service: str, host: str, *, is_offered: bool
) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube, prometheus("http://p:9090/") as server:
        kubeconfig = str(kube.kubeconfig(tmp_path / "config"))
        backend = {"service": {"name": service, "port": {"number": 9090}}}
        kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "monitoring"}})
        rule = {"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
        kube.create(
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "Ingress",
                "metadata": {"name": "prometheus"},
                "spec": {"rules": [rule], "tls": [{"hosts": [host]}]},
            },
            namespace="monitoring",
        )
        assert await offered(server, kubeconfig) == ({"Prometheus": LINK} if is_offered else None)


async def test_nothing_is_offered_where_ingresses_may_not_be_read(tmp_path: Path) -> None:
    async with prometheus("http://p:9090/") as server:
        missing = tmp_path / "kubeconfig"
        missing.write_text(json.dumps({}), encoding="utf-8")
        assert await offered(server, str(missing)) is None
