"""Traps: faults that are none, and faults that look harmless, through evaluation to the card."""

from typing import Any

import msgspec
import pytest

from alerts.rules import Rule
from collectors.facts.queries import PromQLQuery
from tests.bot.plays.play import ExpectedCard, LoggedLine, OverTime, Play
from tests.bot.plays.stage import played, shipped
from tests.support.yard import text_of

FORMAT = 'Disk "/dev/rbd1" appears to be unformatted, attempting to format as type: "ext4" with options: [-F /dev/rbd1]'
CEPHFS = "mount: /x/globalmount: can't read superblock on 10.0.9.1:6789,10.0.9.2:6789:/volumes/csi."
RBD = "mount: /x/globalmount: can't read superblock on /dev/rbd1."
BYTES = "rbd: failed to unmap device /dev/rbd10, error exit status 16, rbd output: [114 98 100 58 32 117 110]"
CSI = (
    "rpc error: code = Internal desc = an error\nrbd output:\nrbd: unmap failed: (16) Device or resource busy"
)


def a_play(*lines: str, minutes: int = 2, every: int = 2, unit: str = "kubelet", **parts: Any) -> Play:
    logged = tuple(LoggedLine(text=text, minute=1, unit=unit) for text in lines)
    card = ExpectedCard(about={}, says=())
    return Play(report="", play="", minutes=minutes, every=every, lines=logged, fires={}, card=card, **parts)


async def titles(play: Play) -> list[str]:
    outcome = await played(play)
    return [text_of(message).splitlines()[0] for message in outcome.messages.values()]


async def test_formatting_a_new_disk_is_not_an_incident() -> None:
    assert await titles(a_play(FORMAT)) == []


async def test_a_disk_that_is_formatted_after_its_superblock_could_not_be_read_is_a_loss() -> None:
    assert await titles(a_play(RBD, FORMAT)) == ["🔴 DATA LOSS on gpu-a01: /dev/rbd1 was formatted"]


async def test_a_superblock_of_cephfs_is_a_matter_of_its_servers_and_one_of_a_device_of_its_data() -> None:
    assert await titles(a_play(CEPHFS)) == ["🔴 gpu-a01 cannot mount CephFS: its servers do not answer"]
    assert await titles(a_play(RBD)) == [
        "🔴 gpu-a01 cannot read a volume's file system: the next attempt may format it"
    ]


@pytest.mark.parametrize("line", [BYTES, CSI], ids=["as a list of bytes", "on the third line of a record"])
async def test_an_image_that_is_busy_is_seen_however_the_kubelet_writes_it(line: str) -> None:
    assert await titles(a_play(line)) == ["🟠 gpu-a01 cannot unmap a volume: its mount is still in use"]


def _attached_elsewhere(count: int) -> OverTime:
    event = {
        "kind": "Event",
        "metadata": {"name": "asr-0.3", "namespace": "speech"},
        "involvedObject": {"kind": "Pod", "namespace": "speech", "name": "asr-0"},
        "source": {"component": "attachdetach-controller", "host": "gpu-a03"},
        "type": "Warning",
        "reason": "FailedAttachVolume",
        "message": 'Multi-Attach error for volume "pv-asr" Volume is already used by pod(s) asr-0',
        "count": count,
        "firstTimestamp": "2026-11-21T02:58:00Z",
        "lastTimestamp": "2026-11-21T03:00:00Z",
    }
    return OverTime(after=0, object=event)


async def test_a_pod_that_moves_waits_for_its_volume_and_one_that_waits_on_is_seen() -> None:
    assert await titles(a_play(over_time=(_attached_elsewhere(1),))) == []
    assert await titles(a_play(over_time=(_attached_elsewhere(4),))) == [
        "🟠 Pods on gpu-a03 do not get a volume: 4 failures in 10 minutes"
    ]


async def test_a_claim_that_waits_for_its_pod_is_pending_by_design() -> None:
    waiting = (
        {"kind": "StorageClass", "metadata": {"name": "rbd"}, "volumeBindingMode": "WaitForFirstConsumer"},
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "ckpt", "namespace": "vision", "creationTimestamp": "2026-11-21T02:00:00Z"},
            "spec": {"storageClassName": "rbd", "accessModes": ["ReadWriteOnce"]},
            "status": {"phase": "Pending"},
        },
    )
    assert await titles(a_play(minutes=12, every=3, objects=waiting)) == []


async def test_a_container_over_its_own_limit_is_not_a_fault_of_its_node() -> None:
    own = "Memory cgroup out of memory: Killed process 51877 (python3) total-vm:91234567kB"
    node = "Out of memory: Killed process 51877 (python3) total-vm:91234567kB"

    assert await titles(a_play(own, unit="kernel")) == []
    assert await titles(a_play(node, unit="kernel")) == [
        "🔴 gpu-a01 ran out of memory, and its kernel killed processes"
    ]


async def test_answers_without_a_name_are_noise_in_total_and_a_fault_where_many_tasks_miss_one() -> None:
    """NXDOMAIN is information; three tasks of one training that miss a name are a card."""
    surge = msgspec.convert([{"rule": "CoreDNSNXDomainSurge", "labels": {}, "value": 900}], tuple[Any, ...])
    noise = msgspec.convert({**_tree(a_play(minutes=18, every=6)), "seen": surge}, Play)
    tasks = tuple(
        LoggedLine(text="Temporary failure in name resolution", pod=f"vision-detr/detr-{one}", minute=1)
        for one in range(3)
    )

    assert await titles(noise) == []
    assert await titles(msgspec.structs.replace(a_play(), lines=tasks[:2])) == []
    assert await titles(msgspec.structs.replace(a_play(), lines=tasks)) == [
        "🟠 3 tasks in vision-detr cannot resolve a name"
    ]


def _tree(play: Play) -> dict[str, Any]:
    tree: dict[str, Any] = msgspec.to_builtins(play)
    return tree


def _metrics() -> list[tuple[Rule, str]]:
    return [(rule, rule.query.expr) for rule in shipped() if isinstance(rule.query, PromQLQuery)]


@pytest.mark.parametrize(
    "metric", ["felix_log_errors", "accelerator_memory_used_bytes", "container_gpu_memory_total"]
)
def test_no_rule_reads_a_metric_that_does_not_mean_what_it_says(metric: str) -> None:
    assert [rule.name for rule, expr in _metrics() if metric in expr] == []


def test_how_busy_cpus_are_is_a_share_of_those_that_a_host_has_and_not_of_what_the_api_shows() -> None:
    busy = [(rule.name, expr) for rule, expr in _metrics() if "node_cpu_seconds_total" in expr]

    assert len(busy) >= 3
    assert [
        name
        for name, expr in busy
        if 'count by (instance, node) (node_cpu_seconds_total{mode="idle"})' not in expr
    ] == []
    assert [name for name, expr in busy if "kube_node_status" in expr or "machine_cpu" in expr] == []


def test_what_kube_state_metrics_reports_resolves_nothing_while_it_restarts() -> None:
    """Its series are gone then, and a result is empty: the presence query names what is not seen."""
    reading = [
        rule for rule, expr in _metrics() if "kube_" in expr and rule.id.startswith("monitoring/") is False
    ]

    assert reading
    for rule in reading:
        assert isinstance(rule.query, PromQLQuery)
        assert rule.query.presence is not None, rule.name
