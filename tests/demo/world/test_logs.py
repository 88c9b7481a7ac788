"""Log lines of events, and the documents that are doc."""

import asyncio
import json
import re
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from aiohttp import web

from demo.world.logs import background
from demo.world.logs.event_lines import WRITERS, lines_of
from demo.world.logs.journal import Journal
from demo.world.logs.line import Line, document
from demo.world.logs.shipper import Shipper
from demo.world.shared_services import PodKey, Volume
from demo.world.state import WorldEvent
from tests.demo.world.clusters import DETR, START, Cluster

XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9A-Fa-f:.]+)(?: GPU-I:(?P<gi>[0-9]+))?\): (?P<xid>[0-9]+),"
)


def texts(cluster: Cluster, events: list[WorldEvent]) -> list[str]:
    return [line.text for event in events for line in lines_of(event, cluster.state)]


def test_an_xid_is_printed_as_the_kernel_prints_it(cluster: Cluster) -> None:
    cluster.faults.start("xid", node="gpu-a01", gpu=3, xid=79)
    lines = [line for e in cluster.run(1) for line in lines_of(e, cluster.state) if line.unit == "kernel"]
    found = [match for line in lines if (match := XID.search(line.text))]
    assert [(match["pci"], match["xid"]) for match in found] == [("0000:5d:00", "79")]
    assert any("GPU has fallen off the bus" in line.text for line in lines)
    assert {line.node for line in lines} == {"gpu-a01"}


def test_every_rank_of_a_hung_training_prints_the_watchdog_line(cluster: Cluster) -> None:
    cluster.faults.start("xid", node=cluster.nodes_of(DETR)[0], gpu=0)
    printed = texts(cluster, cluster.run(70))
    assert sum("Watchdog caught collective operation timeout" in text for text in printed) == 4


def test_failed_lookups_are_logged_by_trainings_and_by_coredns(cluster: Cluster) -> None:
    cluster.faults.start("dns_load", tasks=700)
    text = " ".join(texts(cluster, cluster.run(12)))
    assert "Temporary failure in name resolution" in text
    assert "CreateSession still waiting for response from worker" in text
    assert "[ERROR] plugin/errors: 2" in text


def test_an_error_burst_has_the_requested_rate(cluster: Cluster) -> None:
    cluster.faults.start("error_burst", component="kubelet", node="gpu-a02", per_second=20)
    lines = [line for e in cluster.run(10) for line in lines_of(e, cluster.state) if line.unit == "kubelet"]
    assert len(lines) == 200
    assert all(line.text.startswith("E0302 ") and line.level == "error" for line in lines)


def test_the_volume_incident_prints_its_warnings_before_it_formats(cluster: Cluster) -> None:
    claim = PodKey("vision-detr", "coco-images")
    cluster.state.ceph.volumes[claim] = Volume(
        claim=claim, image="csi-vol-coco-images", capacity=4e12, used=2e12
    )
    cluster.faults.start("volume_format", node="gpu-a01", pace=2)
    text = "\n".join(texts(cluster, cluster.run(15)))
    steps = [
        text.index("rbd: unmap failed: (16) Device or resource busy"),
        text.index("wrong fs type, bad option, bad superblock on /dev/rbd1"),
        text.index("appears to be unformatted, attempting to format as type"),
    ]
    assert steps == sorted(steps)


def test_every_event_with_a_writer_prints_a_line(cluster: Cluster) -> None:
    rank = cluster.state.ranks_of(DETR)[0]
    facts = dict.fromkeys(
        (
            "xid",
            "pid",
            "bytes",
            "step",
            "loss",
            "seconds",
            "osd",
            "way",
            "image",
            "claim",
            "namespace",
            "component",
        ),
        "3",
    )
    facts |= {
        "pci": "0000:18:00",
        "uid": "a-b",
        "rank": "0",
        "reason": "KubeletHasDiskPressure",
        "message": "m",
        "text": "t",
    }
    for what in WRITERS:
        event = WorldEvent(at=START, what=what, node=rank.node, pod=rank.key, gpu=0, facts=facts)
        assert lines_of(event, cluster.state), what


def test_a_pods_document_has_filebeats_fields(cluster: Cluster) -> None:
    rank = cluster.state.ranks_of(DETR)[0]
    rank.labels["app.kubernetes.io/name"] = "detr"
    doc = document(
        Line(at=START, text="step 1", pod=rank.key, shows_level=False, stderr=False), cluster.state
    )
    assert doc is not None
    assert doc["@timestamp"] == "2026-03-02T09:00:00.000Z"
    assert doc["kubernetes"] == {
        "node": {"name": rank.node},
        "namespace": "vision-detr",
        "pod": {"name": rank.key.name, "uid": rank.uid},
        "container": {"name": "worker"},
        "labels": {"team": "vision", "owner": "ana", "training": "detr", "app_kubernetes_io/name": "detr"},
    }
    assert doc["stream"] == "stdout"
    assert "level" not in doc["log"]
    assert doc["log"]["file"]["path"].startswith(f"/var/log/containers/{rank.key.name}_vision-detr_worker-")


def test_a_kernel_document_has_journald_fields(cluster: Cluster) -> None:
    doc = document(Line(at=START, text="x", level="error", node="gpu-a01", unit="kernel"), cluster.state)
    assert doc is not None
    assert doc["syslog"] == {"identifier": "kernel", "priority": 3}
    assert doc["systemd"] == {"transport": "kernel"}
    assert doc["log"] == {"level": "error"}
    assert doc["host"]["name"] == doc["kubernetes"]["node"]["name"] == "gpu-a01"


def test_a_server_without_power_ships_nothing(cluster: Cluster) -> None:
    cluster.faults.start("kubelet_silent", node="gpu-a01")
    assert document(Line(at=START, text="x", node="gpu-a01", unit="kernel"), cluster.state) is None


def test_background_lines_are_in_order_and_mostly_harmless(cluster: Cluster) -> None:
    lines = background.between(cluster.state, START, timedelta(minutes=30), Random(1))
    assert [line.at for line in lines] == sorted(line.at for line in lines)
    assert lines[0].at >= START
    assert lines[-1].at < START + timedelta(minutes=30)
    errors = sum(line.level == "error" for line in lines)
    assert 0 < errors < 0.1 * len(lines)
    assert not any(
        "{" in line.text and "}" in line.text.replace('{"', "") and "{n}" in line.text for line in lines
    )


def test_a_pods_log_is_limited_by_tail_and_since_and_split_by_restarts() -> None:
    journal, pod = Journal(), PodKey("a", "p")
    for second in range(5):
        journal.add(Line(at=START + timedelta(seconds=second), text=f"line {second}", pod=pod))
    assert journal.read(pod, tail=2) == "line 3\nline 4\n"
    assert journal.read(pod, since=START + timedelta(seconds=4)) == "line 4\n"
    assert journal.read(pod, tail=1, timestamps=True) == "2026-03-02T09:00:04.000Z line 4\n"
    journal.restarted(pod)
    assert journal.read(pod) == ""
    assert journal.read(pod, previous=True, tail=1) == "line 4\n"


async def test_rejected_documents_are_retried_and_shipped_once() -> None:
    seen: list[dict[str, Any]] = []
    refusals = [503, 503]

    async def bulk(request: web.Request) -> web.Response:
        if refusals:
            return web.Response(status=refusals.pop())
        lines = (await request.text()).splitlines()
        assert all("create" in json.loads(line) for line in lines[::2])
        seen.extend(json.loads(line) for line in lines[1::2])
        return web.json_response({"errors": False, "items": []})

    async def template(request: web.Request) -> web.Response:
        return web.json_response({"acknowledged": True})

    app = web.Application()
    app.add_routes([web.post("/_bulk", bulk), web.put("/_index_template/{name}", template)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    shipper = Shipper(f"http://127.0.0.1:{runner.addresses[0][1]}", every=timedelta(milliseconds=5))
    for number in range(5):
        shipper.add({"n": number})
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(shipper.run())
        while shipper.shipped < 5:  # noqa: ASYNC110  the shipper has no event to wait for
            await asyncio.sleep(0.005)
        running.cancel()
    await runner.cleanup()
    assert [document["n"] for document in seen] == [0, 1, 2, 3, 4]


def test_a_shipper_without_a_url_queues_nothing() -> None:
    shipper = Shipper("")
    shipper.add({"n": 1})
    assert (shipper.shipped, shipper.dropped) == (0, 0)


@pytest.mark.parametrize("text", ["Temporary failure in name resolution", "NVRM: Xid"])
def test_a_healthy_cluster_never_prints_what_alerts_match(cluster: Cluster, text: str) -> None:
    lines = background.between(cluster.state, START, timedelta(hours=1), Random(2))
    assert not any(text in line.text for line in lines)
