"""Two clusters that ship the same PrometheusRule objects, each in its own version: each has its own rules."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from collectors.facts.clock import SystemClock
from demo.lookalikes.kubernetes import KubernetesLookalike, User
from demo.lookalikes.kubernetes import Settings as ControllerSettings
from tests.support.custom_kinds import RULE_OBJECTS, a_rule_object
from tests.support.light import CLUSTER, Light, light, ready_node
from tests.support.scripted_prometheus import ScriptedPrometheus

OTHER = "prod-b"
HEAT = {CLUSTER: "heat > 80", OTHER: "heat > 95"}


def _rules(cluster: str) -> dict[str, Any]:
    rule = {
        "alert": "NodeTooHot",
        "expr": HEAT[cluster],
        "labels": {"severity": "critical"},
        "annotations": {"summary": "{{ $labels.node }} is too hot."},
    }
    return a_rule_object("monitoring", "kube-prometheus-stack", rule)


@asynccontextmanager
async def two_clusters(folder: Path) -> AsyncIterator[tuple[Light, ScriptedPrometheus]]:
    """Yield a stage with a second cluster, and the second's Prometheus."""
    async with (
        KubernetesLookalike.running(
            tokens={"bot": User("bot", ("system:masters",))}, settings=ControllerSettings(node_grace=None)
        ) as kube,
        ScriptedPrometheus.running() as prometheus,
        light(folder, start=False) as stage,
    ):
        for name in ("gpu-x01", "gpu-x02"):
            ready_node(kube, name)
        for cluster, server in ((CLUSTER, stage.kube), (OTHER, kube)):
            server.create(RULE_OBJECTS)
            server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "monitoring"}})
            server.create(_rules(cluster))
        kube.kubeconfig(folder / "other", token="bot")
        stage.settings["rules"]["objects"] = True
        stage.settings["clusters"].append(
            {
                "name": OTHER,
                "kubernetes": {"kubeconfig": str(folder / "other"), "stale_after": "3s"},
                "prometheus": {"url": prometheus.url, "timeout": "1s", "stale_after": "1h"},
            }
        )
        await stage.start()
        yield stage, prometheus


async def test_each_cluster_has_its_own_rule(tmp_path: Path) -> None:
    async with two_clusters(tmp_path) as (stage, other):
        now = SystemClock().now()
        stage.prometheus.truth.say(HEAT[CLUSTER], ({"node": "gpu-a01"}, 91), since=now)
        other.truth.say(HEAT[OTHER], ({"node": "gpu-x01"}, 99), since=now)
        for cluster, node in ((CLUSTER, "gpu-a01"), (OTHER, "gpu-x01")):
            await stage.card(f"{node} is too hot")
            why = (await stage.asks("dana", f"alert why NodeTooHot --cluster {cluster}")).said
            assert HEAT[cluster].replace(">", "&gt;") in why
            assert f"{cluster}:monitoring:kube-prometheus-stack/g/NodeTooHot" in why
            assert node in why


async def test_each_cluster_lists_its_own_rules_only(tmp_path: Path) -> None:
    async with two_clusters(tmp_path) as (stage, _):
        for cluster in (CLUSTER, OTHER):
            listed = (await stage.asks("dana", f"rule doctor --all --cluster {cluster}")).said
            assert listed.count("NodeTooHot") == 1
            one = "monitoring:kube-prometheus-stack/g/NodeTooHot"
            for name in (one, f"{cluster}:{one}", "NodeTooHot"):
                shown = (await stage.asks("dana", f"rule doctor {name} --cluster {cluster}")).said
                assert "There is no rule" not in shown
                assert name in shown
