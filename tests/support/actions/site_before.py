"""The objects that stand on a site before an action, and its kubelet."""

from contextlib import suppress
from typing import Any

from collectors.facts.results import SourceError
from tests.support.actions.action_row import Site
from tests.support.actions.site_checks import APPS, pod_is_gone
from tests.support.actions.site_others import cordon
from tests.support.claimed_gpus import CLAIMS, DRIVER, RULES, a_device
from tests.support.drained import until


async def add_pod(site: Site, **parts: Any) -> None:
    await site.kubelets.add_pod(site.node, site.node, owned=True, **parts)


async def add_running_pod(site: Site) -> None:
    """A pod whose container says that it runs, as a program in it needs."""
    await add_pod(site)
    main = {"name": "main", "ready": True, "restartCount": 0, "image": "i", "imageID": "i"}
    started = {"startedAt": "2026-11-21T09:00:00Z"}
    await site.kubelets.started(site.node, containerStatuses=[{**main, "state": {"running": started}}])


async def boots(site: Site, id: str) -> None:
    path = f"/api/v1/nodes/{site.node}/status"
    await site.kubelets.call("PATCH", path, {"status": {"nodeInfo": {"bootID": id}}})


async def add_gpu_pod(site: Site) -> None:
    await add_pod(site, container={"resources": {"limits": {"nvidia.com/gpu": "1"}}})


async def cordoned_and_booted(site: Site) -> None:
    await cordon(site)
    await boots(site, "one")


async def reboot(site: Site) -> None:
    await boots(site, "two")


async def add_agent(site: Site) -> None:
    await site.kubelets.add_daemonset(site.node, site.node)
    await site.kubelets.until_running(site.node, 1)


async def agent_by_hand(site: Site) -> None:
    """Somebody else deletes the pod: another one has its place."""
    (pod,) = await site.kubelets.pods(site.node)
    await site.kubelets.call("DELETE", site.kubelets.path("pods", pod["metadata"]["name"]))

    async def replaced() -> bool:
        now = await site.kubelets.pods(site.node)
        return [one["metadata"]["uid"] for one in now] not in ([], [pod["metadata"]["uid"]])

    await until(replaced)
    await site.kubelets.until_running(site.node, 1)


async def end_job(site: Site) -> None:
    """End the pod of the Job that runs there."""

    async def runs() -> bool:
        pods = await site.kubelets.pods(site.node)
        return bool(pods) and pods[0]["status"].get("phase") == "Running"

    await until(runs)
    (pod,) = await site.kubelets.pods(site.node)
    await site.kubelets.end(pod["metadata"]["name"], 0)


async def add_ended_pod(site: Site) -> None:
    await site.kubelets.add_pod(site.node, site.node)
    await site.kubelets.end(site.node, 1)


async def add_exporter(site: Site) -> None:
    """A DaemonSet that mounts the host's root, on this node."""
    labels = {"app": site.node}
    mount = {"name": "root", "mountPath": "/host", "readOnly": True}
    pod = {
        "nodeSelector": {"kubernetes.io/hostname": site.node},
        "tolerations": [site.kubelets.toleration],
        "containers": [{"name": "main", "image": "registry.example/agent:1", "volumeMounts": [mount]}],
        "volumes": [{"name": "root", "hostPath": {"path": "/"}}],
    }
    body = {
        "metadata": {"name": site.node},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    await site.kubelets.call("POST", site.kubelets.path("daemonsets", api=APPS), body)
    await site.kubelets.until_running(site.node, 1)


async def helm_takes_it(site: Site) -> None:
    await mark_exporter(site, "mon")


async def helm_leaves_it(site: Site) -> None:
    await mark_exporter(site, None)


async def mark_exporter(site: Site, release: str | None) -> None:
    path = site.kubelets.path("daemonsets", site.node, api=APPS)
    marks = {"meta.helm.sh/release-name": release}
    await site.kubelets.call("PATCH", path, {"metadata": {"annotations": marks}})


async def add_devices(site: Site) -> None:
    """GPUs as NVIDIA's driver for dynamic resource allocation lists them."""
    pool = {"name": site.node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": site.node, "pool": pool, "devices": [*map(a_device, range(2))]}
    await site.kubelets.call(
        "POST", f"{CLAIMS}/resourceslices", {"metadata": {"name": site.node}, "spec": spec}
    )
    with suppress(SourceError):  # another test made it
        await site.kubelets.call(
            "POST", f"{CLAIMS}/deviceclasses", {"metadata": {"name": DRIVER}, "spec": {}}
        )


async def rule_of_others(site: Site) -> None:
    spec = {
        "deviceSelector": {"driver": DRIVER, "pool": site.node, "device": "gpu-1"},
        "taint": {"key": "example.com/bad", "effect": "NoSchedule"},
    }
    await site.kubelets.call("POST", RULES, {"metadata": {"name": f"theirs-{site.node}"}, "spec": spec})


async def no_rule_of_others(site: Site) -> None:
    await site.kubelets.call("DELETE", f"{RULES}/theirs-{site.node}")


async def add_volume(site: Site) -> None:
    """An RBD image with a Deployment on the node that writes to it."""
    name, size = site.node, {"storage": "1Gi"}
    csi = {
        "driver": "rook-ceph.rbd.csi.ceph.com",
        "volumeHandle": name,
        "volumeAttributes": {"clusterID": "rook", "pool": "kube", "imageName": name},
    }
    spec: Any = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    volume = {**spec, "capacity": size, "csi": csi, "claimRef": {"namespace": site.space, "name": name}}
    await site.kubelets.call(
        "POST", "/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": volume}
    )
    claim = {**spec, "resources": {"requests": size}, "volumeName": name}
    await site.kubelets.call(
        "POST",
        site.kubelets.path("persistentvolumeclaims"),
        {"metadata": {"name": name}, "spec": claim},
    )
    container = {"name": "main", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    await site.kubelets.add_deployment(
        name,
        1,
        nodeSelector={"kubernetes.io/hostname": name},
        containers=[container],
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}],
    )
    await site.kubelets.until_running(name, 1)


async def writer_by_hand(site: Site) -> None:
    path = site.kubelets.path("deployments", f"{site.node}/scale", api=APPS)
    await site.kubelets.call("PATCH", path, {"spec": {"replicas": 2}})


async def writer_back(site: Site) -> None:
    path = site.kubelets.path("deployments", f"{site.node}/scale", api=APPS)
    await site.kubelets.call("PATCH", path, {"spec": {"replicas": 1}})
    await site.kubelets.until_running(site.node, 1)


async def remove_pod(site: Site) -> None:
    """Somebody else deletes the pod, and it is gone."""
    path = site.kubelets.path("pods", site.node)
    await site.kubelets.call("DELETE", path, {"gracePeriodSeconds": 0})

    async def gone() -> bool:
        return await pod_is_gone(site)

    await until(gone)


async def another_pod(site: Site) -> None:
    """The pod is replaced under its name."""
    await remove_pod(site)
    await add_running_pod(site)
