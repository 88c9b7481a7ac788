"""The Deployment of the cluster's DNS, in distributions that label it differently."""

from collections.abc import Mapping

import pytest

from collectors.cluster.objects import Deployment, Service
from collectors.dns.deployment import dns_deployment
from tests.support.objects import inventory, read

CHART = {"app.kubernetes.io/instance": "dns", "app.kubernetes.io/name": "coredns", "k8s-app": "coredns"}
COREDNS = "registry.k8s.io/coredns/coredns:v1.13.1"


def deployment(
    name: str, namespace: str, labels: Mapping[str, str], image: str = COREDNS, replicas: int = 2
) -> Deployment:
    template = {"spec": {"containers": [{"name": "server", "image": image}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return read(Deployment, {"metadata": {"name": name, "namespace": namespace}, "spec": spec})


def service(name: str, namespace: str, labels: Mapping[str, str], port: int = 53) -> Service:
    spec = {"selector": labels, "ports": [{"port": port, "protocol": "UDP"}]}
    return read(Service, {"metadata": {"name": name, "namespace": namespace}, "spec": spec})


@pytest.mark.parametrize("name", ["coredns", "kube-dns", "rke2-coredns-rke2-coredns"])
def test_by_the_label_of_most_distributions(name: str) -> None:
    other = deployment("coredns", "tools", CHART)
    own = deployment(name, "kube-system", {"k8s-app": "kube-dns", "more": "x"})
    assert dns_deployment(inventory(other, own)) is own


def test_behind_the_service_of_a_chart_in_a_namespace_of_its_own() -> None:
    own = deployment("dns-coredns", "dns", CHART)
    web = deployment("web", "dns", {"app": "web"}, image="example.com/web")
    assert dns_deployment(inventory(own, web, service("dns-coredns", "dns", CHART))) is own


@pytest.mark.parametrize(
    ("image", "port", "elsewhere"),
    [
        ("docker.io/pihole/pihole", 53, "dns"),  # a DNS server, and not the cluster's
        (COREDNS, 8053, "dns"),
        (COREDNS, 53, "other"),  # its Service is in another namespace
    ],
)
def test_what_is_not_the_dns_of_the_cluster(image: str, port: int, elsewhere: str) -> None:
    one = deployment("coredns", "dns", CHART, image=image)
    assert dns_deployment(inventory(one, service("coredns", elsewhere, CHART, port))) is None


def test_of_two_it_is_not_clear() -> None:
    one, two = deployment("coredns", "dns", CHART), deployment("coredns", "edge", CHART)
    services = service("coredns", "dns", CHART), service("coredns", "edge", CHART)
    assert dns_deployment(inventory(one, two, *services)) is None
