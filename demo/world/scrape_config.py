"""Prometheus' configuration for the simulated cluster, and the target labels that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import yaml

from demo.world.exporters.server import KUBELET_PORT, Target
from demo.world.kube.api import Access, Object

PROXY_JOB = "annotated-services"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Service discovery: Kubernetes discovery when `access` is given, else HTTP discovery from `proxy`.

    Debian's build has no Kubernetes discovery; the proxy returns the same meta labels from the same objects.
    """

    proxy: str
    access: Access | None = None

    def of(self, role: str) -> Object:
        """Return the part of a scrape configuration that discovers targets of this role."""
        if self.access is None:
            return {"http_sd_configs": [{"url": f"{self.proxy}/discovery/{role}", "refresh_interval": "2s"}]}
        config: Object = {"role": role, "api_server": self.access.url}
        if self.access.token:
            config["authorization"] = {"credentials": self.access.token}
        if self.access.ca_file is not None:
            config["tls_config"] = {"ca_file": str(self.access.ca_file)}
        return {"kubernetes_sd_configs": [config]}


def prometheus_config(
    discovery: Discovery,
    *,
    every: timedelta = timedelta(seconds=2),
    rule_files: tuple[str, ...] = (),
    extra: Object | None = None,
) -> str:
    """Return prometheus.yml: every annotated Service and every kubelet, scraped at its own address through the proxy.

    Labels are those of the common charts: `job` is the Service, target labels override the exporter's
    (`exported_pod` …), except for kube-state-metrics and kubelets. `extra` is merged over the document.
    """
    seconds = f"{max(1, round(every.total_seconds()))}s"
    document: Object = {
        "global": {"scrape_interval": seconds, "scrape_timeout": seconds, "evaluation_interval": seconds},
        "rule_files": list(rule_files),
        "scrape_configs": [
            _services(discovery, PROXY_JOB, honor=False, only_state_metrics=False),
            _services(discovery, "kube-state-metrics", honor=True, only_state_metrics=True),
            _kubelets(discovery, "kubelet", "/metrics"),
            _kubelets(discovery, "cadvisor", "/metrics/cadvisor"),
        ],
    }
    return yaml.safe_dump(document | (extra or {}), sort_keys=False)


def _services(discovery: Discovery, name: str, *, honor: bool, only_state_metrics: bool) -> Object:
    service = "__meta_kubernetes_service"
    rules: list[Object] = [
        {"source_labels": [f"{service}_annotation_prometheus_io_scrape"], "regex": "true", "action": "keep"},
        {
            "source_labels": [f"{service}_name"],
            "regex": "kube-state-metrics",
            "action": "keep" if only_state_metrics else "drop",
        },
        {  # one target per address: the port in the annotation
            "source_labels": ["__meta_kubernetes_pod_container_port_number"],
            "target_label": f"{service}_annotation_prometheus_io_port",
            "action": "keepequal",
        },
        {
            "source_labels": [f"{service}_annotation_prometheus_io_path"],
            "regex": "(.+)",
            "target_label": "__metrics_path__",
        },
        *_copies(
            {
                f"{service}_name": "job",
                "__meta_kubernetes_namespace": "namespace",
                "__meta_kubernetes_pod_name": "pod",
                "__meta_kubernetes_pod_container_name": "container",
                "__meta_kubernetes_endpoint_port_name": "endpoint",
            }
        ),
        {"source_labels": [f"{service}_name"], "target_label": "service"},
    ]
    return {
        "job_name": name,
        "honor_labels": honor,
        "proxy_url": discovery.proxy,
        **discovery.of("endpoints"),
        "relabel_configs": rules,
    }


def _kubelets(discovery: Discovery, name: str, path: str) -> Object:
    return {
        "job_name": name,
        "honor_labels": True,
        "proxy_url": discovery.proxy,
        "metrics_path": path,
        **discovery.of("node"),
        "relabel_configs": [
            {"target_label": "job", "replacement": "kubelet"},
            {"target_label": "metrics_path", "replacement": path},
            *_copies({"__meta_kubernetes_node_name": "node"}),
            {
                "source_labels": ["__meta_kubernetes_node_address_InternalIP"],
                "target_label": "__address__",
                "replacement": f"$1:{KUBELET_PORT}",
            },
            {"source_labels": ["__address__"], "target_label": "instance"},
        ],
    }


def _copies(names: dict[str, str]) -> list[Object]:
    return [{"source_labels": [source], "target_label": target} for source, target in names.items()]


def target_labels(target: Target, services: list[Object], node: str) -> dict[str, str] | None:
    """Return the labels that this configuration gives to a target; None when no annotated Service selects its pod."""
    instance = f"{target.address}:{target.port}"
    if target.body is None:
        return {"job": "kubelet", "instance": instance, "metrics_path": target.path, "node": node}
    for service in services:
        meta = service["metadata"]
        wanted = service["spec"].get("selector") or {}
        notes = meta.get("annotations") or {}
        if (
            meta["namespace"] == target.body.key.namespace
            and wanted
            and all(target.body.labels.get(key) == value for key, value in wanted.items())
            and notes.get("prometheus.io/scrape") == "true"
            and notes.get("prometheus.io/port") == str(target.port)
        ):
            port = next(p["name"] for p in service["spec"]["ports"] if p["port"] == target.port)
            return {
                "job": meta["name"],
                "instance": instance,
                "namespace": meta["namespace"],
                "service": meta["name"],
                "pod": target.body.key.name,
                "container": target.body.container,
                "endpoint": port,
            }
    return None


def series_labels(labels: dict[str, str], target: dict[str, str], *, honor: bool) -> dict[str, str]:
    """Merge an exporter's labels with the target's as Prometheus does."""
    if honor:
        return {**target, **labels}
    moved = {(f"exported_{key}" if key in target else key): value for key, value in labels.items()}
    return {**moved, **target}
