"""Faults of DNS: answers that fail, in both chart styles, and an autoscaler at its cap."""

import json
from datetime import datetime
from functools import partial

import pytest

from alerts.incidents.incident import Incident
from collectors.cluster.objects import ConfigMap, Deployment, KubernetesObject
from collectors.dns.autoscaler import autoscaler_of
from collectors.dns.deployment import dns_deployment, wanted_replicas
from collectors.facts.proportional import read_linear
from commands.dns.owner import Dns, ProportionalOwner, recommended
from commands.execution.object_refs import ObjectRef
from demo.parts.prometheus import PrometheusServer
from tests.recorded.table import EPISODES, MINUTE
from tests.support.objects import inventory, read
from tests.support.recorded_loop import RuleLoop, rule_loop
from tests.support.recorded_objects import objects_at
from tests.support.scrape_styles import STYLES

CLUSTER = EPISODES[f"quiet, {STYLES[0].name}"].cluster
BEGINS = CLUSTER.start + 10 * MINUTE
ENDS = BEGINS + 14 * MINUTE
OF_DNS = (
    "CoreDNSErrorsHigh",
    "CoreDNSErrorsCritical",
    "CoreDNSLatencyHigh",
    "DNSAutoscalerCapped",
    "DNSDown",
)
SYSTEM = "kube-system"
CAP, CALLED_FOR = 2, 4  # of 10 nodes, 3 for each replica


async def the_card(loop: RuleLoop) -> tuple[Incident, str]:
    (incident,) = await loop.incidents()
    ((_, card),) = (await loop.shown()).items()
    return incident, card


@pytest.mark.parametrize("style", [one.name for one in STYLES])
async def test_dns_that_fails(recordings: PrometheusServer, style: str) -> None:
    one = EPISODES[f"dns, {style}"]
    objects = partial(objects_at, one.cluster)
    async with rule_loop(recordings.url, objects, start=one.begins - 2 * MINUTE, rules=OF_DNS) as loop:
        await loop.run(one.fixed)
        incident, card = await the_card(loop)
        assert incident.opened_at <= one.begins + 5 * MINUTE
        assert incident.subject.component == "dns"
        assert "SERVFAIL" in card.splitlines()[0]
        assert "dns scale" in card
        await loop.run(one.fixed + 6 * MINUTE)
        assert not await loop.incidents(is_open=True)


def autoscaler(at: datetime) -> list[KubernetesObject]:
    """Return cluster-proportional-autoscaler and its ConfigMap, whose `max` is too low for a while."""
    limit = CAP if BEGINS <= at < ENDS else 9
    document = json.dumps({"nodesPerReplica": 3, "coresPerReplica": 256, "max": limit})
    line = ["/cpa", "--target=deployment/coredns", "--configmap=dns-autoscaler"]
    spec = {
        "template": {"spec": {"containers": [{"name": "autoscaler", "image": "cpa:v1.9.0", "command": line}]}}
    }
    return [
        read(
            ConfigMap,
            {"metadata": {"name": "dns-autoscaler", "namespace": SYSTEM}, "data": {"linear": document}},
        ),
        read(Deployment, {"metadata": {"name": "dns-autoscaler", "namespace": SYSTEM}, "spec": spec}),
    ]


def proposed(at: datetime) -> int:
    """Return the replicas that `dns scale` proposes without a number."""
    seen = inventory(*objects_at(CLUSTER, at, *autoscaler(at)))
    deployment = dns_deployment(seen)
    assert deployment is not None
    found = autoscaler_of(seen, deployment)
    assert found is not None
    wanted = wanted_replicas(deployment)
    ref = ObjectRef(api="apps/v1", kind="Deployment", namespace=SYSTEM, name="coredns")
    dns = Dns(ref=ref, wanted=wanted, ready=wanted, deployment=deployment)
    config = next(one for one in autoscaler(at) if isinstance(one, ConfigMap))
    document = (config.data or {})["linear"]
    owner = ProportionalOwner(config=ref, document=document, linear=read_linear(document), autoscaler=found)
    return recommended(dns, owner, seen)


async def test_an_autoscaler_at_its_cap(recordings: PrometheusServer) -> None:
    def objects(at: datetime) -> list[KubernetesObject]:
        return objects_at(CLUSTER, at, *autoscaler(at))

    async with rule_loop(recordings.url, objects, start=BEGINS - MINUTE, rules=OF_DNS) as loop:
        await loop.run(BEGINS + 11 * MINUTE)
        incident, card = await the_card(loop)
        assert incident.subject.component == "dns"
        assert f"{CALLED_FOR} replicas are needed" in card
        assert "dns scale" in card
        assert proposed(loop.clock.at) == CALLED_FOR
        await loop.run(ENDS + MINUTE)
        assert not await loop.incidents(is_open=True)
