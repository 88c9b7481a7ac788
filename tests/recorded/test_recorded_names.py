"""The metrics of rules are named as real exporters name them, and have the labels that the rules select by."""

import re
from collections.abc import Iterator

import pytest

from tests.alerts.packs.shipped import PACKS
from tests.support.exporter_pages import page

PAGES = {
    "kube-state-metrics": r"kube_",
    "coredns": r"coredns_",
    "node_exporter": r"node_",
    "kubelet": r"kubelet_|storage_operation_|csi_operations_",
    "kube-apiserver": r"apiserver_|workqueue_",
    "kube-scheduler": r"scheduler_",
    "etcd": r"etcd_",
}
# What a page has only on other machines, or once something has happened.
NOT_RECORDED = {
    "apiserver_admission_webhook_fail_open_count": "once a webhook does not answer and objects pass",
    "apiserver_admission_webhook_rejection_count": "once a webhook rejects an object, or does not answer",
    "apiserver_flowcontrol_rejected_requests_total": "once a request is rejected",
    "apiserver_request_terminations_total": "once a request is terminated",
    "coredns_forward_healthcheck_failures_total": "before 1.11; then coredns_proxy_healthcheck_failures_total",
    "coredns_kubernetes_dns_programming_duration_seconds_bucket": "once a headless service has changed",
    "coredns_kubernetes_dns_programming_duration_seconds_count": "once a headless service has changed",
    "csi_operations_seconds_count": "with a CSI driver",
    "etcd_network_peer_round_trip_time_seconds_bucket": "with a second member",
    "etcd_network_peer_round_trip_time_seconds_count": "with a second member",
    "kube_cronjob_next_schedule_time": "with a CronJob",
    "kube_cronjob_spec_suspend": "with a CronJob",
    "kube_cronjob_status_active": "with a CronJob",
    "kube_horizontalpodautoscaler_spec_max_replicas": "with a HorizontalPodAutoscaler",
    "kube_horizontalpodautoscaler_spec_min_replicas": "with a HorizontalPodAutoscaler",
    "kube_horizontalpodautoscaler_status_current_replicas": "with a HorizontalPodAutoscaler",
    "kube_lease_owner": "with a lease: the recording was made without any",
    "kube_lease_renew_time": "with a lease",
    "kubelet_certificate_manager_client_ttl_seconds": "where the kubelet rotates its certificate",
    "kubelet_runtime_operations_errors_total": "once an operation fails",
    "storage_operation_duration_seconds_count": "once a volume is mounted",
}
# With a claim, and with such devices.
OF_OTHERS = re.compile("kubelet_volume_stats_|node_(bonding|edac|infiniband|nfs)_")


def named() -> Iterator[str]:
    """Yield the names in the expressions of the packs."""
    for file in PACKS.glob("*.yaml"):
        if not file.name.endswith((".test.yaml", ".yard.yaml")):
            text = "\n".join(line.partition(" #")[0] for line in file.read_text("utf-8").splitlines())
            yield from re.findall(r"\b[a-z]+_[a-z_0-9]+(?=[{\[ )]|$)", text, re.MULTILINE)


@pytest.mark.parametrize("exporter", PAGES)
def test_a_rule_names_what_the_real_page_has(exporter: str) -> None:
    known = {sample.metric for sample in page(exporter)}
    wanted = {name for name in named() if re.match(PAGES[exporter], name) and not OF_OTHERS.match(name)}
    assert wanted - known <= NOT_RECORDED.keys()
    assert not known & NOT_RECORDED.keys(), "it is recorded now"


def test_what_is_not_recorded_is_named_by_a_rule() -> None:
    assert set(named()) >= NOT_RECORDED.keys()
