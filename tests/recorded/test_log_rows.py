"""Faults that only logs tell, in the shapes of three shippers."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest

from alerts.incidents.incident import Incident
from alerts.rules import Severity
from collectors.cluster.objects import KubernetesObject, PersistentVolumeClaim
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.parts.prometheus import PrometheusServer
from tests.recorded.shipped_lines import SHIPPERS, Line, quiet_lines, shipped, source_of
from tests.recorded.table import EPISODES, MINUTE
from tests.support.objects import pod, read
from tests.support.recorded_cluster import Fault, FaultKind
from tests.support.recorded_loop import RuleLoop, rule_loop
from tests.support.recorded_objects import OWNER, ObjectsAt, objects_at
from tests.support.scrape_styles import STYLES

CLUSTER = EPISODES[f"quiet, {STYLES[0].name}"].cluster
BEGINS = CLUSTER.start + 10 * MINUTE
ABOUT_LOGS = (
    "GPUXIDLogged",
    "GPUFellOffBusLogged",
    "VolumeAboutToBeFormatted",
    "VolumeFormatted",
    "VolumeMountFailed",
    "ErrorLogBurst",
    "NeverSeenError",
)
XID = "NVRM: Xid (PCI:0000:41:00): 79, pid=1234, name=python, GPU has fallen off the bus."
UNREADABLE = (
    'E0101 00:10:05.123456    1234 nestedpendingoperations.go:348] MountVolume.MountDevice failed for volume "pvc-1" : '
    "rpc error: code = Internal desc = mount failed: exit status 32: mount: /var/lib/kubelet/plugins/x/globalmount: "
    "wrong fs type, bad option, bad superblock on /dev/rbd0, missing codepage or helper program, or other error."
)
FORMATS = (
    'I0101 00:10:05.123456    1234 mount_linux.go:618] Disk "/dev/rbd0" appears to be unformatted, attempting to '
    'format as type: "ext4" with options: [-F -m0 /dev/rbd0]'
)
BROKEN = (
    "E{at:%m%d %H:%M:%S.%f}    1234 pod_workers.go:1301] Error syncing pod {number}, skipping: failed to sync"
)
HEALTHY = partial(objects_at, CLUSTER)
shippers = pytest.mark.parametrize("shipper", SHIPPERS)


@asynccontextmanager
async def loop_with(
    recordings: PrometheusServer,
    shipper: str,
    lines: Iterable[Line],
    objects: ObjectsAt = HEALTHY,
) -> AsyncIterator[RuleLoop]:
    async with ElasticsearchLookalike.running() as elastic, source_of(elastic.url) as logs:
        await shipped(elastic.url, shipper, (*quiet_lines(CLUSTER.start, CLUSTER.end), *lines))
        async with rule_loop(
            recordings.url, objects, start=BEGINS - MINUTE, rules=ABOUT_LOGS, sources=(logs,)
        ) as loop:
            yield loop


async def the_card(loop: RuleLoop) -> tuple[Incident, str]:
    (incident,) = await loop.incidents()
    ((_, card),) = (await loop.shown()).items()
    assert incident.subject.node == "gpu-nl"
    assert "gpu-nl" in card.splitlines()[0]
    return incident, card


def line(text: str, unit: str, *, at: datetime = BEGINS, level: str = "") -> Line:
    return Line(at=at, node="gpu-nl", unit=unit, text=text, level=level)


@shippers
async def test_an_xid(recordings: PrometheusServer, shipper: str) -> None:
    offered_at = BEGINS + 24 * MINUTE
    fault = Fault(kind=FaultKind.ALLOCATABLE, nodes=frozenset({"gpu-nl"}), begins=BEGINS, ends=offered_at)
    objects = partial(objects_at, replace(CLUSTER, faults=(fault,)))
    async with loop_with(recordings, shipper, [line(XID, "kernel")], objects) as loop:
        await loop.run(BEGINS + 2 * MINUTE)
        incident, card = await the_card(loop)
        assert incident.severity is Severity.CRITICAL
        assert "XID 79" in card or "fallen off the bus" in card
        assert "node cordon gpu-nl" in card
        assert "Affects: Pod team-gpu-nl/train-gpu-nl-0" in card, "who is on the GPU at this address"
        assert OWNER in card
        await loop.run(offered_at - MINUTE, every=7 * MINUTE)
        assert await loop.incidents(is_open=True), "time does not heal it"
        await loop.run(offered_at + 2 * MINUTE)
        assert not await loop.incidents(is_open=True)


def a_writer(at: datetime, runs_at: datetime) -> list[KubernetesObject]:
    """Return a pod on the node that waits for a volume, until it runs."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    spec = {"nodeName": "gpu-nl", "volumes": [volume]}
    claim = {"metadata": {"name": "data", "namespace": "speech"}, "spec": {"volumeName": "pvc-1"}}
    phase = "Running" if at >= runs_at else "Pending"
    return [
        pod("asr-0", "speech", spec=spec, status={"phase": phase}),
        read(PersistentVolumeClaim, claim),
    ]


@shippers
async def test_a_volume_that_is_about_to_be_formatted(recordings: PrometheusServer, shipper: str) -> None:
    runs_at = BEGINS + 36 * MINUTE

    def objects(at: datetime) -> list[KubernetesObject]:
        return objects_at(CLUSTER, at, *a_writer(at, runs_at))

    async with loop_with(recordings, shipper, [line(UNREADABLE, "kubelet")], objects) as loop:
        await loop.run(BEGINS + 2 * MINUTE)
        incident, card = await the_card(loop)
        assert incident.severity is Severity.CRITICAL
        assert "node cordon gpu-nl" in card
        assert "volume freeze speech/data" in card
        await loop.run(runs_at - MINUTE, every=7 * MINUTE)
        assert await loop.incidents(is_open=True), "time does not heal it"
        await loop.run(runs_at + 2 * MINUTE)
        assert not await loop.incidents(is_open=True)


@shippers
async def test_a_volume_that_is_formatted_after_it_could_not_be_read(
    recordings: PrometheusServer, shipper: str
) -> None:
    lines = [line(UNREADABLE, "kubelet"), line(FORMATS, "kubelet", at=BEGINS + MINUTE)]
    async with loop_with(recordings, shipper, lines) as loop:
        await loop.run(BEGINS + 3 * MINUTE)
        _, card = await the_card(loop)
        assert "DATA LOSS" in card
        assert "node cordon gpu-nl" in card


@shippers
@pytest.mark.parametrize("level", ["", "error"], ids=["as klog writes it", "in a field"])
async def test_a_burst_of_errors(recordings: PrometheusServer, shipper: str, level: str) -> None:
    moments = [BEGINS + number * timedelta(milliseconds=700) for number in range(200)]
    lines = [
        line(BROKEN.format(at=at, number=number % 7), "kubelet", at=at, level=level)
        for number, at in enumerate(moments)
    ]
    async with loop_with(recordings, shipper, lines) as loop:
        await loop.run(BEGINS + 4 * MINUTE)
        _, card = await the_card(loop)
        assert "kubelet on gpu-nl" in card
        assert "node show gpu-nl" in card
        await loop.run(BEGINS + 40 * MINUTE, every=9 * MINUTE)
        assert not await loop.incidents(is_open=True)
