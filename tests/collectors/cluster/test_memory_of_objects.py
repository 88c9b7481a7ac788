"""Memory of the objects of a large cluster: what recurs is kept once, and what nobody reads is not kept."""

import json
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.large_cluster_objects import lists
from collectors.cluster.decoder import KindDecoder
from collectors.cluster.host_mounts import by_kept_mount
from collectors.cluster.kinds import DEPLOYMENTS, PODS
from collectors.cluster.object_store import ObjectStore
from collectors.cluster.objects import Pod
from collectors.facts.sentences import Sentence
from tests.support.held_memory import held_bytes

NODES = 100  # with ten pods each, of 9 KB
BYTES = 3_000  # of a pod: it was 8,400


def pod(name: str, **changes: Any) -> dict[str, Any]:
    amounts = {"requests": {"cpu": "8"}, "limits": {"nvidia.com/gpu": "8"}}
    container: dict[str, Any] = {"name": "main", "image": "example.org/detr:1", "resources": amounts}
    container["volumeMounts"] = [{"name": "data"}, {"name": "root"}, {"name": "token"}]
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "d"}},
        {"name": "root", "hostPath": {"path": "/"}},
        {"name": "token", "projected": {"sources": []}},
    ]
    condition = {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "a\nb"}
    status = {
        "phase": "Running",
        "conditions": [condition],
        "containerStatuses": [{"name": "main", "lastState": {}, "resources": amounts}],
    }
    meta = {"name": name, "namespace": "vision", "labels": {"app.kubernetes.io/a-long-name": "detr"}}
    spec = {"nodeName": "gpu-a01", "containers": [container], "volumes": volumes}
    return {"metadata": {**meta, "resourceVersion": "1"}, "spec": spec, "status": status, **changes}


def decoded(*objects: dict[str, Any]) -> list[Pod]:
    page = json.dumps({"metadata": {"resourceVersion": "1"}, "items": list(objects)}).encode()
    return list(KindDecoder(PODS).page(page).objects)


def test_a_pod_of_nine_kilobytes_takes_three() -> None:
    bodies = lists("pod", NODES).values()
    decoder = KindDecoder(PODS)
    kept = [one for body in bodies for one in decoder.page(body).objects]
    assert held_bytes(kept) / len(kept) < BYTES


def test_what_recurs_is_kept_once() -> None:
    one, other = decoded(pod("a"), pod("b"))
    assert one.spec.containers is not None
    assert other.spec.containers is not None
    mine, yours = one.spec.containers[0], other.spec.containers[0]
    assert mine.resources is yours.resources
    assert (mine.resources.requests, mine.resources.limits) == ({"cpu": "8"}, {"nvidia.com/gpu": "8"})
    assert mine.image is yours.image
    assert one.metadata.labels is not None
    assert other.metadata.labels is not None
    assert [*map(id, one.metadata.labels.values())] == [*map(id, other.metadata.labels.values())]
    assert one.metadata.labels == {"app.kubernetes.io/a-long-name": "detr"}
    assert one.spec.node_name is other.spec.node_name


def test_a_condition_is_still_one_line() -> None:
    (found,) = decoded(pod("a"))
    assert found.status.conditions is not None
    assert found.status.conditions[0].message == "a b"


def test_volumes_are_kept_that_somebody_reads() -> None:
    (found,) = decoded(pod("a"))
    assert [one.name for one in found.spec.volumes or ()] == ["data", "root"]
    assert found.spec.containers is not None
    assert [one.name for one in found.spec.containers[0].volume_mounts or ()] == ["root"]
    assert by_kept_mount(found) == ("/",)


def test_the_whole_object_in_an_annotation_is_not_kept() -> None:
    whole = {"kubectl.kubernetes.io/last-applied-configuration": "{}" * 1000, "yardmaster.io/owner": "ana"}
    item = {"metadata": {"name": "web", "annotations": whole}}
    page = json.dumps({"metadata": {"resourceVersion": "1"}, "items": [item]}).encode()
    (found,) = KindDecoder(DEPLOYMENTS).page(page).objects
    assert found.metadata.annotations == {"yardmaster.io/owner": "ana"}


@pytest.mark.parametrize("phase", [Sentence("Running"), "Running"], ids=["a sentence", "a text"])
def test_a_pod_that_is_made_elsewhere_is_as_one_that_was_decoded(phase: str) -> None:
    (found,) = decoded(pod("a"))
    assert found.status.__replace__(phase=phase) == found.status


def test_an_index_of_single_objects_takes_little_memory() -> None:
    pods = decoded(
        *(
            pod(f"detr-{number}", metadata={"name": f"detr-{number}", "uid": f"u{number}"})
            for number in range(2_000)
        )
    )
    by_uid = replace(PODS, indexes=(lambda one: (one.metadata.uid,),))
    store = ObjectStore(by_uid)
    for one in pods:
        store.put(one.metadata.name, one)
    store.settle()
    assert held_bytes(store, apart_from=pods) / len(pods) < 200  # it was 300
