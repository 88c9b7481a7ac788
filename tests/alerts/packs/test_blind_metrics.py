"""The shipped Prometheus rules while Prometheus does not answer, and while one target has no data.

Other tests run the presence queries on a real Prometheus; here their results are what promtool's cases imply:
the labels of the presence query's own grouping.
"""

import re
from datetime import UTC, datetime, timedelta

import pytest

from alerts.lifecycle import AlertState
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Sample, Seen
from tests.alerts.packs.evaluated import fired, once
from tests.alerts.packs.shipped import shipped_rules

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = NOW + timedelta(hours=2)
RULES = {name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, PromQLQuery)}
EVERY = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())

_CLAIM = {"namespace": "vision", "persistentvolumeclaim": "ckpt"}
_HOST = {"instance": "10.0.1.13:9100"}
_GPU = {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1"}
_PORT = {"instance": "10.0.1.13:9100", "device": "mlx5_0", "port": "1"}

# The labels of each rule's samples. The presence query returns the same target, and another one.
SAMPLES = {
    "GPUTemperatureHigh": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1"},
    "GPUNodeThrottling": {"Hostname": "gpu-b03"},
    "GPUThermalThrottling": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1"},
    "GPUXIDError": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1", "xid": "79"},
    "GPUXIDChanged": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1", "xid": "79"},
    "ControlPlaneLeaderLost": {"lease": "kube-scheduler", "component": "kube-scheduler"},
    "KubeletLeaseExpired": {"node": "gpu-b03"},
    "GPUClockLow": _GPU,
    "GPUMissing": {"node": "gpu-b03"},
    "GPUMetricsLost": {"Hostname": "gpu-b03"},
    "GPUSuspect": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1", "xid": "31"},
    "GPUReadingsImpossible": {"Hostname": "gpu-b03"},
    **dict.fromkeys(
        (
            "GPUECCUncorrectableErrors",
            "GPURowRemapFailed",
            "GPURowRemapPending",
            "GPURowsRemapped",
            "GPUSpareMemorySpent",
            "GPUPagesRetired",
            "GPUClockThrottled",
            "GPUReportedUnhealthy",
            "GPUThermalResidencyHigh",
            "GPUECCCorrectableErrors",
            "GPUMemoryTemperatureHigh",
            "GPUNetworkPortDown",
            "GPUNetworkPortErrors",
            "GPUNetworkPortFlapping",
            "GPUNetworkOpticsHot",
            "GPUMemoryFull",
            "GPUPowerLimited",
            "GPUNVLinkErrors",
            "GPUPCIeReplays",
        ),
        _GPU,
    ),
    "GPUPowerBrake": {"Hostname": "gpu-b03"},
    "GPUPCIeLinkDowngraded": {**_GPU, "link": "width"},
    "KubeCronJobMissed": {"namespace": "vision", "cronjob": "clean"},
    "KubeHpaMaxedOut": {"namespace": "vision", "horizontalpodautoscaler": "serve"},
    "CertManagerCertificateNotRenewed": {"namespace": "vision", "name": "serve"},
    "CertManagerCertificateExpiring": {"namespace": "vision", "name": "serve"},
    "KubeDNSErrorsHigh": {},
    "KubeDNSLatencyHigh": {},
    "KubeDNSProbesFailing": {},
    "GPUHealthFailed": {**_GPU, "health_watch": "ALL"},
    "GPUHealthWarning": {**_GPU, "health_watch": "ALL"},
    "GPUErrorCode": {**_GPU, "code": "30", "severity": "fatal"},
    "GPURecoveryActionNeeded": {**_GPU, "recovery": "1"},
    "GPUMetricsFrozen": _GPU,
    "GPUReadingsLost": {**_GPU, "reading": "temperature"},
    "InfiniBandLinkDown": _PORT,
    "InfiniBandErrors": _PORT,
    "InfiniBandDegraded": _PORT,
    "GPUOperatorNodeNotReady": {"instance": "10.244.3.3:8000", "node": "gpu-b03"},
    "PodAdmissionFailed": {"namespace": "vision-detr", "pod": "detr-0"},
    "GPUDriverVersionsDiffer": {"modelName": "NVIDIA H200"},
    "NodeCPUHighUsage": {"instance": "10.0.1.13:9100"},
    "NodeMemoryHighUtilization": {"instance": "10.0.1.13:9100"},
    "NodeOOMKill": {"instance": "10.0.1.13:9100"},
    "NodeFilesystemSpaceFillingUp": {"instance": "10.0.1.13:9100", "mountpoint": "/"},
    "NodeCPUOverload": _HOST,
    "NodeSystemSaturation": _HOST,
    "NodeMemoryMajorPageFaults": _HOST,
    "NodeIOPressureHigh": _HOST,
    "NodeClockSkewDetected": _HOST,
    "NodeClockNotSynchronising": _HOST,
    "NodeMemoryUncorrectableErrors": _HOST,
    "NodeMemoryCorrectableErrors": _HOST,
    "NodeFilesystemFullSoon": {**_HOST, "mountpoint": "/"},
    "NodeFilesystemAlmostOutOfSpace": {**_HOST, "mountpoint": "/"},
    "NodeFilesystemAlmostOutOfFiles": {**_HOST, "mountpoint": "/"},
    "NodeFilesystemReadOnly": {**_HOST, "mountpoint": "/"},
    "NodeFilesystemDeviceError": {**_HOST, "mountpoint": "/"},
    "NodeDiskIOSaturation": {**_HOST, "device": "nvme0n1"},
    "NodeProblemCounted": {**_HOST, "reason": "TaskHung"},
    "GPUsStarveOnData": {"node": "gpu-b03"},
    "KubeNodeReadinessFlapping": {"node": "gpu-b03"},
    "NodeNetworkSaturated": {**_HOST, "device": "eth0", "direction": "receive"},
    "NodeNetworkOverload": {**_HOST, "device": "eth0", "direction": "receive"},
    "NodeNetworkErrors": {**_HOST, "device": "eth0", "direction": "receive"},
    "NodeNetworkDrops": {**_HOST, "device": "eth0", "direction": "receive"},
    "NodeNetworkSpeedDropped": {**_HOST, "device": "eth0"},
    "NodeNetworkMTUDiffers": {**_HOST, "device": "eth0"},
    "NodeBondingDegraded": {**_HOST, "master": "bond0"},
    "NodeHighNumberConntrackEntriesUsed": _HOST,
    "CalicoIPPoolNearlyFull": {"ippool": "default"},
    "CalicoIPPoolFull": {"ippool": "default"},
    "CalicoAddressesLeaked": {"node": "gpu-b03"},
    "CalicoFelixNotInSync": _HOST,
    "CalicoFelixFailures": _HOST,
    "MetalLBPoolNearlyFull": {"pool": "first"},
    "KubeAPILatencyHigh": {"verb": "LIST", "resource": "pods"},
    "KubeAPIErrorsHigh": {},
    "KubeAPITerminatedRequests": {},
    "KubeAPIErrorBudgetBurn": {},
    "KubeAPIErrorBudgetBurn6h": {},
    "KubeAPIErrorBudgetBurn1d": {},
    "KubeAPIErrorBudgetBurn3d": {},
    "KubeClientCertificateExpiration": {},
    "KubeClientCertificateExpiring": {},
    "KubeSchedulerSlow": {},
    "KubePodsUnschedulable": {},
    "VolcanoSchedulingSlow": {},
    "KubeStateMetricsMissing": {},
    "KubeStateMetricsListErrors": {},
    "KubeAPIRequestsRejected": {"flow_schema": "service-accounts"},
    "KubeObjectExplosion": {"resource": "services"},
    "etcdNoLeader": _HOST,
    "etcdMemberWithoutLeader": _HOST,
    "etcdHighNumberOfLeaderChanges": _HOST,
    "etcdHighFsyncDurations": _HOST,
    "etcdVeryHighFsyncDurations": _HOST,
    "etcdHighCommitDurations": _HOST,
    "etcdDatabaseQuotaLowSpace": _HOST,
    "etcdMemberCommunicationSlow": _HOST,
    "ControllerRetriesHigh": {"name": "job"},
    "KubeletPlegDurationHigh": _HOST,
    "KubeletPodStartUpLatencyHigh": _HOST,
    "KubeletRuntimeErrors": _HOST,
    "KubeletClientCertificateExpiration": _HOST,
    "KubeletClientCertificateExpiring": _HOST,
    "NodeTargetDown": {**_HOST, "job": "node-exporter"},
    "TargetDown": {"job": "coredns"},
    "TargetJobDown": {"job": "coredns"},
    "CoreDNSErrorsHigh": {},
    "CoreDNSErrorsCritical": {},
    "CoreDNSLatencyHigh": {},
    "CoreDNSLatencyCritical": {},
    "CoreDNSReplicaSlow": {"namespace": "kube-system", "pod": "coredns-0", "instance": "10.0.0.2"},
    "AdmissionWebhookCallsFailing": {"name": "mutate.injector.example"},
    "CoreDNSNXDomainSurge": {},
    "CoreDNSProgrammingSlow": {"service_kind": "headless_with_selector"},
    "CoreDNSForwardBroken": {},
    "CoreDNSUpstreamFailing": {"to": "10.0.9.2:53"},
    "CoreDNSForwardRejects": {},
    "CoreDNSPanic": {"namespace": "kube-system", "pod": "coredns-0"},
    "CoreDNSReloadFailed": {"namespace": "kube-system", "pod": "coredns-0"},
    "CephOSDFlapping": {"ceph_daemon": "osd.3"},
    "CephOSDDown": {"ceph_daemon": "osd.3", "hostname": "stor-03"},
    "CephOSDDownHigh": {},
    "CephOSDSlowHeartbeats": {"name": "OSD_SLOW_PING_TIME_BACK"},
    "CephSlowOps": {},
    "CephMDSSlow": {"name": "MDS_TRIM"},
    "CephFilesystemDown": {"name": "FS_DEGRADED"},
    "CephFSClientsHigh": {"ceph_daemon": "mds.a"},
    "CephHealthError": {},
    "CephHealthWarning": {},
    "CephVersionsDiffer": {},
    "CephSpaceNearFull": {"name": "OSD_NEARFULL"},
    "CephSpaceFull": {"name": "OSD_FULL"},
    "CephPGsInactive": {"pool_id": "2"},
    "CephPGsDamaged": {"name": "PG_DAMAGED"},
    "VolumeContentCollapsed": _CLAIM,
    "KubePersistentVolumeFull": _CLAIM,
    "KubePersistentVolumeFillingUp": _CLAIM,
    "KubePersistentVolumeInodesFillingUp": _CLAIM,
    "VolumeOperationsFailing": {
        "instance": "10.0.1.13:10250",
        "volume_plugin": "x",
        "operation_name": "volume_mount",
    },
    "CSIOperationsFailing": {"instance": "10.0.1.13:10250", "driver_name": "x", "method_name": "y"},
    "NFSRetransmissionsHigh": {"instance": "10.0.1.13:9100"},
    "HDFSMissingBlocks": {"instance": "nn1:7071"},
    "HDFSDataNodesDead": {"instance": "nn1:7071"},
    "HDFSSpaceFillingUp": {"instance": "nn1:7071"},
}


def _present(rule: Rule, labels: dict[str, str]) -> Labels:
    """Return one element of the presence query's result, for these labels."""
    assert isinstance(rule.query, PromQLQuery)
    presence = rule.query.presence or ""
    if grouped := re.search(r"\bby \(([^)]*)\)", presence):
        return Labels({name: labels[name] for name in grouped[1].split(", ") if name in labels})
    if presence.startswith("sum("):
        return Labels()
    return Labels({**labels, "__name__": presence, "job": "node-exporter", "pod": "node-exporter-abcde"})


def _seen(rule: Rule, at: datetime, *, breaches: bool, watched: bool) -> Seen:
    labels = SAMPLES[rule.name]
    others = {name: f"{value}9" for name, value in labels.items()}
    present = [_present(rule, others)] if labels else []
    if watched:
        present.append(_present(rule, labels))
    samples = (Sample(labels=Labels(labels), value=1),) if breaches else ()
    return Seen(source="prometheus", at=at, samples=samples, present=tuple(present))


@EVERY
def test_a_prometheus_that_does_not_answer_resolves_nothing(rule: Rule) -> None:
    known = {a.key: a for a in fired(rule, _seen(rule, NOW, breaches=True, watched=True), NOW)}
    assert len(known) == 1

    after = once(rule, known, Blind(source="prometheus", at=LATER, reason="refused"), LATER)

    assert (after.alerts, after.changes, after.blind) == (known, (), "refused")


@EVERY
def test_a_target_without_data_blinds_only_its_own_alert(rule: Rule) -> None:
    known = {a.key: a for a in fired(rule, _seen(rule, NOW, breaches=True, watched=True), NOW)}

    after = once(rule, known, _seen(rule, LATER, breaches=False, watched=False), LATER)
    still = once(
        rule, after.alerts, _seen(rule, LATER, breaches=False, watched=False), LATER + timedelta(hours=1)
    )

    assert [alert.life for alert in still.alerts.values()] == [alert.life for alert in known.values()]
    assert after.changes == still.changes == ()
    assert not after.blind


@EVERY
def test_a_target_that_has_data_and_is_healthy_again_resolves(rule: Rule) -> None:
    known = {a.key: a for a in fired(rule, _seen(rule, NOW, breaches=True, watched=True), NOW)}

    first = once(rule, known, _seen(rule, LATER, breaches=False, watched=True), LATER)
    end = LATER + rule.timing.keep_firing_for
    after = once(rule, first.alerts, _seen(rule, end, breaches=False, watched=True), end)

    assert not after.alerts
    assert [change.alert.life.state for change in (*first.changes, *after.changes)] == [AlertState.RESOLVED]


def test_every_prometheus_rule_has_a_sample() -> None:
    assert set(SAMPLES) == set(RULES)
