"""This file looks at the lines that things leave behind and at the documents that are shipped."""

import asyncio
import json
import re
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from aiohttp import web

from demo.world.logs import background
from demo.world.logs.journal import Journal
from demo.world.logs.line import Line, document
from demo.world.logs.lines import WRITERS, lines_of
from demo.world.logs.shipper import Shipper
from demo.world.shared_services import PodKey, Volume
from demo.world.state import Happening
from tests.demo.world.clusters import DETR, START, Cluster

XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9A-Fa-f:.]+)(?: GPU-I:(?P<gi>[0-9]+))?\): (?P<xid>[0-9]+),"
)


def texts(cluster: Cluster, told: list[Happening]) -> list[str]:
    return [line.text for happened in told for line in lines_of(happened, cluster.state)]


def test_an_xid_is_printed_as_the_kernel_prints_it(cluster: Cluster) -> None:
    cluster.faults.start("xid", node="gpu-a01", gpu=3, xid=79)
    said = [line for h in cluster.run(1) for line in lines_of(h, cluster.state) if line.unit == "kernel"]
    found = [match for line in said if (match := XID.search(line.text))]
    assert [(match["pci"], match["xid"]) for match in found] == [("0000:5d:00", "79")]
    assert any("GPU has fallen off the bus" in line.text for line in said)
    assert {line.node for line in said} == {"gpu-a01"}


def test_the_ranks_of_a_hung_training_print_the_watchdogs_line(cluster: Cluster) -> None:
    cluster.faults.start("xid", node=cluster.nodes_of(DETR)[0], gpu=0)
    said = texts(cluster, cluster.run(70))
    assert sum("Watchdog caught collective operation timeout" in text for text in said) == 4


def test_lost_names_are_complained_about_by_jobs_and_by_the_name_server(cluster: Cluster) -> None:
    cluster.faults.start("dns_load", tasks=700)
    said = " ".join(texts(cluster, cluster.run(12)))
    assert "Temporary failure in name resolution" in said
    assert "CreateSession still waiting for response from worker" in said
    assert "[ERROR] plugin/errors: 2" in said


def test_a_burst_of_errors_has_the_rate_that_was_asked_for(cluster: Cluster) -> None:
    cluster.faults.start("error_burst", component="kubelet", node="gpu-a02", per_second=20)
    said = [line for h in cluster.run(10) for line in lines_of(h, cluster.state) if line.unit == "kubelet"]
    assert len(said) == 200
    assert all(line.text.startswith("E0302 ") and line.level == "error" for line in said)


def test_the_volume_incident_prints_its_warnings_before_it_formats(cluster: Cluster) -> None:
    claim = PodKey("vision-detr", "coco-images")
    cluster.state.ceph.volumes[claim] = Volume(
        claim=claim, image="csi-vol-coco-images", capacity=4e12, used=2e12
    )
    cluster.faults.start("volume_format", node="gpu-a01", pace=2)
    said = "\n".join(texts(cluster, cluster.run(15)))
    steps = [
        said.index("rbd: unmap failed: (16) Device or resource busy"),
        said.index("wrong fs type, bad option, bad superblock on /dev/rbd1"),
        said.index("appears to be unformatted, attempting to format as type"),
    ]
    assert steps == sorted(steps)


def test_every_happening_that_has_a_writer_prints_something(cluster: Cluster) -> None:
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
        happened = Happening(at=START, what=what, node=rank.node, pod=rank.key, gpu=0, facts=facts)
        assert lines_of(happened, cluster.state), what


def test_a_document_of_a_pod_has_filebeats_fields(cluster: Cluster) -> None:
    rank = cluster.state.ranks_of(DETR)[0]
    rank.labels["app.kubernetes.io/name"] = "detr"
    made = document(
        Line(at=START, text="step 1", pod=rank.key, shows_level=False, stderr=False), cluster.state
    )
    assert made is not None
    assert made["@timestamp"] == "2026-03-02T09:00:00.000Z"
    assert made["kubernetes"] == {
        "node": {"name": rank.node},
        "namespace": "vision-detr",
        "pod": {"name": rank.key.name, "uid": rank.uid},
        "container": {"name": "worker"},
        "labels": {"team": "vision", "owner": "ana", "training": "detr", "app_kubernetes_io/name": "detr"},
    }
    assert made["stream"] == "stdout"
    assert "level" not in made["log"]
    assert made["log"]["file"]["path"].startswith(f"/var/log/containers/{rank.key.name}_vision-detr_worker-")


def test_a_document_of_the_kernel_is_journalds(cluster: Cluster) -> None:
    made = document(Line(at=START, text="x", level="error", node="gpu-a01", unit="kernel"), cluster.state)
    assert made is not None
    assert made["syslog"] == {"identifier": "kernel", "priority": 3}
    assert made["systemd"] == {"transport": "kernel"}
    assert made["log"] == {"level": "error"}
    assert made["host"]["name"] == made["kubernetes"]["node"]["name"] == "gpu-a01"


def test_a_server_without_power_ships_nothing(cluster: Cluster) -> None:
    cluster.faults.start("kubelet_silent", node="gpu-a01")
    assert document(Line(at=START, text="x", node="gpu-a01", unit="kernel"), cluster.state) is None


def test_the_murmur_is_steady_and_mostly_harmless(cluster: Cluster) -> None:
    said = background.between(cluster.state, START, timedelta(minutes=30), Random(1))
    assert [line.at for line in said] == sorted(line.at for line in said)
    assert said[0].at >= START
    assert said[-1].at < START + timedelta(minutes=30)
    errors = sum(line.level == "error" for line in said)
    assert 0 < errors < 0.1 * len(said)
    assert not any(
        "{" in line.text and "}" in line.text.replace('{"', "") and "{n}" in line.text for line in said
    )


def test_a_pods_log_is_cut_by_tail_and_since_and_split_by_restarts() -> None:
    journal, pod = Journal(), PodKey("a", "p")
    for second in range(5):
        journal.add(Line(at=START + timedelta(seconds=second), text=f"line {second}", pod=pod))
    assert journal.read(pod, tail=2) == "line 3\nline 4\n"
    assert journal.read(pod, since=START + timedelta(seconds=4)) == "line 4\n"
    assert journal.read(pod, tail=1, timestamps=True) == "2026-03-02T09:00:04.000Z line 4\n"
    journal.restarted(pod)
    assert journal.read(pod) == ""
    assert journal.read(pod, previous=True, tail=1) == "line 4\n"


async def test_documents_that_elasticsearch_refused_at_first_are_shipped_later_once() -> None:
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
        while shipper.shipped < 5:  # noqa: ASYNC110  the shipper tells nobody
            await asyncio.sleep(0.005)
        running.cancel()
    await runner.cleanup()
    assert [document["n"] for document in seen] == [0, 1, 2, 3, 4]


def test_a_shipper_without_a_place_keeps_nothing() -> None:
    shipper = Shipper("")
    shipper.add({"n": 1})
    assert (shipper.shipped, shipper.dropped) == (0, 0)


@pytest.mark.parametrize("text", ["Temporary failure in name resolution", "NVRM: Xid"])
def test_a_healthy_cluster_never_prints_what_alerts_look_for(cluster: Cluster, text: str) -> None:
    said = background.between(cluster.state, START, timedelta(hours=1), Random(2))
    assert not any(text in line.text for line in said)
