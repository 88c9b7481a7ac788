"""The exporters' metrics, read with Prometheus' own parser."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from yarl import URL

from demo.world.exporters import ceph, coredns, dcgm, kubelet, node, state_metrics, training
from demo.world.exporters.discovery import endpoints
from demo.world.exporters.server import Exporters
from demo.world.exporters.text import Family, gauge, render
from demo.world.scrape_config import series_labels
from demo.world.shared_services import PodKey, Volume
from tests.demo.world.clusters import DETR, Cluster

Samples = dict[str, list[tuple[dict[str, str], float]]]


def parsed(families: Iterable[Family]) -> Samples:
    """Return samples by name, without the `_total` that the parser adds to every counter and Prometheus does not."""
    text = render(families)
    read: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            short = sample.name.removesuffix("_total")
            name = short if f"# TYPE {short} counter" in text else sample.name
            read.setdefault(name, []).append((dict(sample.labels), sample.value))
    return read


def gpu_samples(cluster: Cluster, name: str) -> Samples:
    return parsed(dcgm.families(cluster.state.hosts[name], cluster.state.bodies))


def test_a_gpu_has_the_labels_of_its_workload_and_its_node(cluster: Cluster) -> None:
    rank = cluster.state.ranks_of(DETR)[0]
    labels, value = gpu_samples(cluster, rank.node)["DCGM_FI_DEV_GPU_UTIL"][0]
    assert value > 90
    assert labels["pci_bus_id"] == "00000000:18:00.0"
    assert {
        key: labels[key]
        for key in ("gpu", "device", "modelName", "Hostname", "namespace", "pod", "container")
    } == {
        "gpu": "0",
        "device": "nvidia0",
        "modelName": "NVIDIA H200",
        "Hostname": rank.node,
        "namespace": "vision-detr",
        "pod": rank.key.name,
        "container": "worker",
    }


def test_a_free_gpu_has_no_workload_labels(cluster: Cluster) -> None:
    free = next(
        host.name for host in cluster.state.hosts.values() if host.gpus and not any(g.pod for g in host.gpus)
    )
    assert all("pod" not in labels for labels, _ in gpu_samples(cluster, free)["DCGM_FI_DEV_GPU_TEMP"])


def test_an_xid_is_in_the_gauge_with_its_text_and_in_the_count_with_its_number(cluster: Cluster) -> None:
    rank = cluster.state.ranks_of(DETR)[0]
    before = gpu_samples(cluster, rank.node)
    assert all("xid" not in labels and value == 0 for labels, value in before["DCGM_EXP_XID_ERRORS_COUNT"])
    cluster.faults.start("xid", node=rank.node, gpu=2, xid=79)
    cluster.run(2)
    after = gpu_samples(cluster, rank.node)
    gauges = {labels["gpu"]: (labels["err_msg"], value) for labels, value in after["DCGM_FI_DEV_XID_ERRORS"]}
    assert gauges["2"] == ("GPU has fallen off the bus", 79)
    assert [
        (labels["xid"], value) for labels, value in after["DCGM_EXP_XID_ERRORS_COUNT"] if "xid" in labels
    ] == [("79", 1)]
    assert "2" not in {labels["gpu"] for labels, _ in after["DCGM_FI_DEV_GPU_TEMP"]}, (
        "a GPU off the bus has no values"
    )


def test_the_xid_count_resets_after_its_window_and_the_gauge_does_not(cluster: Cluster) -> None:
    cluster.faults.start("xid", node="gpu-a01", gpu=1, xid=63)
    cluster.run(310, pace=10)
    read = gpu_samples(cluster, "gpu-a01")
    assert all("xid" not in labels for labels, _ in read["DCGM_EXP_XID_ERRORS_COUNT"])
    assert 63 in {value for _, value in read["DCGM_FI_DEV_XID_ERRORS"]}


def test_throttling_adds_clock_events_and_violation_time(cluster: Cluster) -> None:
    name = cluster.nodes_of(DETR)[0]
    cluster.faults.start("cooling", node=name)
    cluster.run(120)
    read = gpu_samples(cluster, name)
    assert (
        max(
            value
            for labels, value in read["DCGM_EXP_CLOCK_EVENTS_COUNT"]
            if labels.get("clock_event") == "sw_thermal"
        )
        >= 6
    )
    assert min(value for _, value in read["DCGM_FI_DEV_THERMAL_VIOLATION"]) > 1e9


def test_cpu_modes_add_up_to_the_elapsed_time_of_all_cores(cluster: Cluster) -> None:
    host = cluster.state.hosts["gpu-a01"]
    before = parsed(node.families(host, cluster.state.now))["node_cpu_seconds_total"]
    cluster.run(60)
    after = parsed(node.families(host, cluster.state.now))["node_cpu_seconds_total"]
    spent = sum(value for _, value in after) - sum(value for _, value in before)
    assert spent == pytest.approx(60 * host.spec.cpus, rel=0.02)
    assert len({labels["cpu"] for labels, _ in after}) == host.spec.cpus


def test_failed_lookups_are_servfail_and_slow_responses(cluster: Cluster) -> None:
    def now() -> Samples:
        replica = next(iter(cluster.state.dns.servers.values()))
        return parsed(coredns.families(replica, cluster.state.dns))

    def under(read: Samples, bound: str) -> float:
        return next(
            v for labels, v in read["coredns_dns_request_duration_seconds_bucket"] if labels["le"] == bound
        )

    calm = now()
    cluster.faults.start("dns_load", tasks=700)
    cluster.run(30)
    busy = now()
    failed = [v for labels, v in busy["coredns_dns_responses_total"] if labels["rcode"] == "SERVFAIL"]
    assert failed[0] > 1000
    assert calm["coredns_dns_requests_total"][0][1] < busy["coredns_dns_requests_total"][0][1]
    fast = (under(busy, "0.016") - under(calm, "0.016")) / (under(busy, "+Inf") - under(calm, "+Inf"))
    assert fast < 0.5


def test_the_parser_reads_every_exporter(cluster: Cluster) -> None:
    state, rank = cluster.state, cluster.state.ranks_of(DETR)[0]
    claim = PodKey("vision-detr", "coco-images")
    state.ceph.volumes[claim] = Volume(claim=claim, image="i", capacity=4e12, used=2e12)
    bodies = [body for body in state.bodies.values() if body.node == rank.node]
    for families, expected in (
        (ceph.families(state), "ceph_health_status"),
        (kubelet.own(state, state.hosts[rank.node], bodies), "kubelet_volume_stats_used_bytes"),
        (kubelet.cadvisor(bodies), "container_memory_working_set_bytes"),
        (training.families(cluster.detr, rank), "training_step_duration_seconds"),
    ):
        assert expected in parsed(families)


def test_labels_with_quotes_and_new_lines_are_escaped() -> None:
    family = gauge("x", "A gauge.")
    family.put({"a": 'say "no"\n\\'}, 1)
    assert parsed([family])["x"][0][0] == {"a": 'say "no"\n\\'}


def test_objects_become_kube_state_metrics() -> None:
    objects: dict[str, list[Mapping[str, Any]]] = {
        "Node": [
            {
                "metadata": {"name": "n1", "labels": {"pool": "large", "secret": "x"}},
                "spec": {"unschedulable": True},
                "status": {
                    "capacity": {"nvidia.com/gpu": "8", "memory": "4Ki"},
                    "conditions": [{"type": "Ready", "status": "Unknown"}],
                    "addresses": [{"type": "InternalIP", "address": "10.0.0.11"}],
                },
            }
        ],
        "Pod": [
            {
                "metadata": {"name": "p", "namespace": "a", "uid": "u", "labels": {"team": "vision"}},
                "spec": {
                    "nodeName": "n1",
                    "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "4"}}}],
                },
                "status": {"phase": "Running"},
            }
        ],
    }
    read = parsed(state_metrics.families(lambda kind: objects.get(kind, [])))
    assert read["kube_node_spec_unschedulable"] == [({"node": "n1"}, 1.0)]
    capacity = {
        labels["resource"]: (labels["unit"], value) for labels, value in read["kube_node_status_capacity"]
    }
    assert capacity == {"nvidia_com_gpu": ("integer", 8.0), "memory": ("byte", 4096.0)}
    states = {labels["status"]: value for labels, value in read["kube_node_status_condition"]}
    assert states == {"true": 0.0, "false": 0.0, "unknown": 1.0}
    assert read["kube_node_info"][0][0]["internal_ip"] == "10.0.0.11"
    assert read["kube_node_labels"][0][0] == {"node": "n1", "label_pool": "large"}, (
        "only labels on the allow-list"
    )
    assert {labels["phase"]: value for labels, value in read["kube_pod_status_phase"]}["Running"] == 1.0
    assert read["kube_pod_container_resource_limits"][0][1] == 4.0


def test_target_labels_override_and_rename_the_exporters_labels() -> None:
    target = {"pod": "dcgm-exporter-1", "namespace": "monitoring"}
    assert series_labels({"pod": "worker-0", "gpu": "0"}, target, honor=False) == {
        "exported_pod": "worker-0",
        "gpu": "0",
        "pod": "dcgm-exporter-1",
        "namespace": "monitoring",
    }
    assert series_labels({"pod": "worker-0"}, target, honor=True) == {
        "pod": "worker-0",
        "namespace": "monitoring",
    }


def test_a_server_without_power_has_no_targets_and_a_silent_kubelet_only_pods(cluster: Cluster) -> None:
    exporters = Exporters(cluster.state, lambda kind: [])
    training_at, kubelet_at = "http://10.9.9.9:8080/metrics", "http://10.0.0.11:10250/metrics"
    rank = next(b for b in cluster.state.bodies.values() if b.node == "gpu-a01")
    rank.address = "10.9.9.9"
    assert exporters.scrape(URL(training_at)) is not None
    assert exporters.scrape(URL(kubelet_at)) is not None
    quiet = cluster.faults.start("kubelet_silent", node="gpu-a01", power=True)
    assert exporters.scrape(URL(training_at)) is not None
    assert exporters.scrape(URL(kubelet_at)) is None
    cluster.faults.end(quiet)
    cluster.faults.start("kubelet_silent", node="gpu-a01", power=False, lasting=timedelta(minutes=5))
    assert exporters.scrape(URL(training_at)) is None


def test_discovery_returns_the_meta_labels_of_the_service_and_the_pod() -> None:
    objects: dict[str, list[Mapping[str, Any]]] = {
        "Service": [
            {
                "metadata": {"name": "s", "namespace": "a", "annotations": {"prometheus.io/scrape": "true"}},
                "spec": {"clusterIP": "None"},
            }
        ],
        "Pod": [
            {
                "metadata": {"name": "p", "namespace": "a", "uid": "u"},
                "spec": {"nodeName": "n1", "containers": [{"name": "c", "ports": [{"containerPort": 8080}]}]},
                "status": {"podIP": "10.1.1.1"},
            }
        ],
        "Endpoints": [
            {
                "metadata": {"name": "s", "namespace": "a"},
                "subsets": [
                    {
                        "addresses": [
                            {"ip": "10.1.1.1", "targetRef": {"kind": "Pod", "namespace": "a", "name": "p"}}
                        ],
                        "ports": [{"name": "metrics", "port": 8080}],
                    }
                ],
            }
        ],
    }
    (group,) = endpoints(lambda kind: objects.get(kind, []))
    assert group["targets"] == ["10.1.1.1:8080"]
    wanted = {
        "service_annotation_prometheus_io_scrape": "true",
        "service_annotationpresent_prometheus_io_scrape": "true",
        "pod_name": "p",
        "pod_container_name": "c",
        "pod_container_port_number": "8080",
        "endpoint_port_name": "metrics",
        "endpoint_ready": "true",
    }
    assert {f"__meta_kubernetes_{k}": v for k, v in wanted.items()}.items() <= group["labels"].items()
