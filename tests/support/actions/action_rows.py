"""The table of actions: one row for each command that changes something on a node, a GPU, a pod or a volume."""

from typing import Any

from commands.core.cordoned_nodes import BY
from commands.core.nodes_out import OUR_TAINTS
from tests.support.actions.action_row import ActionRow, Site
from tests.support.drained import until

ASKED = {"reboot.example/now": "yes"}
CLAIMS = "/apis/resource.k8s.io/v1"
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"
APPS, BATCH = "/apis/apps/v1", "/apis/batch/v1"


# What the cluster shows.


async def _is_cordoned(site: Site) -> bool:
    return bool((await site.node_now())["spec"].get("unschedulable"))


async def _is_open(site: Site) -> bool:
    return not await _is_cordoned(site)


async def _is_drained(site: Site) -> bool:
    return await _is_cordoned(site) and not await site.kubelets.pods(site.node)


async def _is_tainted(site: Site) -> bool:
    return any(one["key"] == "gpu" for one in (await site.node_now())["spec"].get("taints") or ())


async def _is_not_tainted(site: Site) -> bool:
    return not await _is_tainted(site)


async def _no_job(site: Site) -> bool:
    jobs = (await site.kubelets.call("GET", site.kubelets.path("jobs", api=BATCH)))["items"]
    return not [one for one in jobs if one["spec"]["template"]["spec"].get("nodeName") == site.node]


async def _is_rebooted(site: Site) -> bool:
    node = await site.node_now()
    asked = set(ASKED) & set(node["metadata"].get("annotations") or {})
    return node["status"]["nodeInfo"]["bootID"] == "two" and not asked


async def _pod_is_gone(site: Site) -> bool:
    return not await site.pods_of_node()


async def _is_fixed(site: Site) -> bool:
    found = await site.get("daemonsets", site.node, api=APPS)
    (mount,) = found["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    return bool(mount.get("mountPropagation") == "HostToContainer")


async def _has_rule(site: Site) -> bool:
    found = (await site.kubelets.call("GET", RULES))["items"]
    return any(one["spec"]["deviceSelector"].get("pool") == site.node for one in found)


async def _has_no_rule(site: Site) -> bool:
    return not await _has_rule(site)


async def _writer_is_stopped(site: Site) -> bool:
    return not (await site.get("deployments", site.node, api=APPS))["spec"]["replicas"]


async def _writer_runs(site: Site) -> bool:
    return not await _writer_is_stopped(site)


async def _nothing(_: Site) -> bool:
    return True


# What others do.


async def cordon(site: Site) -> None:
    await site.patch_node(spec={"unschedulable": True})


async def uncordon(site: Site) -> None:
    await site.patch_node(spec={"unschedulable": None})


async def _cordon_like_ours(site: Site) -> None:
    """As after `node cordon`."""
    await cordon(site)
    await _know_our_cordon(site)


async def _know_our_cordon(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {BY: "dana"}})


async def _lose_our_cordon(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {BY: None}})


async def _make_control_plane(site: Site) -> None:
    await site.patch_node(metadata={"labels": {"node-role.kubernetes.io/control-plane": ""}})


async def _make_worker(site: Site) -> None:
    await site.patch_node(metadata={"labels": {"node-role.kubernetes.io/control-plane": None}})


async def _taint_by_hand(site: Site) -> None:
    before = (await site.node_now())["spec"].get("taints") or []
    await site.patch_node(spec={"taints": [*before, {"key": "theirs", "effect": "NoSchedule"}]})


async def _taint_off(site: Site) -> None:
    before = (await site.node_now())["spec"].get("taints") or []
    await site.patch_node(spec={"taints": [one for one in before if one["key"] != "theirs"]})


async def _taint_like_ours(site: Site) -> None:
    """As after `node taint`."""
    before = (await site.node_now())["spec"].get("taints") or []
    taint = {"key": "gpu", "value": "broken", "effect": "NoSchedule"}
    await site.patch_node(
        spec={"taints": [*before, taint]}, metadata={"annotations": {OUR_TAINTS: "gpu:NoSchedule"}}
    )


async def _forget_our_taint(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {OUR_TAINTS: None}})


async def _know_our_taint(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {OUR_TAINTS: "gpu:NoSchedule"}})


async def _remove_pod(site: Site) -> None:
    """Somebody else deletes the pod, and it is gone."""
    path = site.kubelets.path("pods", site.node)
    await site.kubelets.call("DELETE", path, {"gracePeriodSeconds": 0})

    async def gone() -> bool:
        return await _pod_is_gone(site)

    await until(gone)


async def _another_pod(site: Site) -> None:
    """The pod is replaced under its name."""
    await _remove_pod(site)
    await _add_running_pod(site)


# What stands before.


async def add_pod(site: Site, **parts: Any) -> None:
    await site.kubelets.add_pod(site.node, site.node, owned=True, **parts)


async def _add_running_pod(site: Site) -> None:
    """A pod whose container says that it runs, as a program in it needs."""
    await add_pod(site)
    main = {"name": "main", "ready": True, "restartCount": 0, "image": "i", "imageID": "i"}
    started = {"startedAt": "2026-11-21T09:00:00Z"}
    await site.kubelets.started(site.node, containerStatuses=[{**main, "state": {"running": started}}])


async def _boots(site: Site, id: str) -> None:
    path = f"/api/v1/nodes/{site.node}/status"
    await site.kubelets.call("PATCH", path, {"status": {"nodeInfo": {"bootID": id}}})


async def _cordoned_and_booted(site: Site) -> None:
    await cordon(site)
    await _boots(site, "one")


async def _reboot(site: Site) -> None:
    await _boots(site, "two")


async def _add_agent(site: Site) -> None:
    await site.kubelets.add_daemonset(site.node, site.node)
    await site.kubelets.until_running(site.node, 1)


async def _agent_by_hand(site: Site) -> None:
    """Somebody else deletes the pod: another one has its place."""
    (pod,) = await site.kubelets.pods(site.node)
    await site.kubelets.call("DELETE", site.kubelets.path("pods", pod["metadata"]["name"]))

    async def replaced() -> bool:
        now = await site.kubelets.pods(site.node)
        return [one["metadata"]["uid"] for one in now] not in ([], [pod["metadata"]["uid"]])

    await until(replaced)
    await site.kubelets.until_running(site.node, 1)


async def _end_job(site: Site) -> None:
    """End the pod of the Job that runs there."""

    async def runs() -> bool:
        pods = await site.kubelets.pods(site.node)
        return bool(pods) and pods[0]["status"].get("phase") == "Running"

    await until(runs)
    (pod,) = await site.kubelets.pods(site.node)
    await site.kubelets.end(pod["metadata"]["name"], 0)


async def _add_ended_pod(site: Site) -> None:
    await site.kubelets.add_pod(site.node, site.node)
    await site.kubelets.end(site.node, 1)


async def _add_exporter(site: Site) -> None:
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


async def _helm_takes_it(site: Site) -> None:
    await _mark_exporter(site, "mon")


async def _helm_leaves_it(site: Site) -> None:
    await _mark_exporter(site, None)


async def _mark_exporter(site: Site, release: str | None) -> None:
    path = site.kubelets.path("daemonsets", site.node, api=APPS)
    marks = {"meta.helm.sh/release-name": release}
    await site.kubelets.call("PATCH", path, {"metadata": {"annotations": marks}})


async def _add_devices(site: Site) -> None:
    """GPUs as NVIDIA's driver for dynamic resource allocation lists them."""
    devices = [
        {"name": f"gpu-{number}", "attributes": {"type": {"string": "gpu"}, "index": {"int": number}}}
        for number in range(2)
    ]
    pool = {"name": site.node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": site.node, "pool": pool, "devices": devices}
    await site.kubelets.call(
        "POST", f"{CLAIMS}/resourceslices", {"metadata": {"name": site.node}, "spec": spec}
    )


async def _rule_of_others(site: Site) -> None:
    spec = {
        "deviceSelector": {"driver": "gpu.nvidia.com", "pool": site.node, "device": "gpu-1"},
        "taint": {"key": "example.com/bad", "effect": "NoSchedule"},
    }
    await site.kubelets.call("POST", RULES, {"metadata": {"name": f"theirs-{site.node}"}, "spec": spec})


async def _no_rule_of_others(site: Site) -> None:
    await site.kubelets.call("DELETE", f"{RULES}/theirs-{site.node}")


async def _add_volume(site: Site) -> None:
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


async def _writer_by_hand(site: Site) -> None:
    path = site.kubelets.path("deployments", f"{site.node}/scale", api=APPS)
    await site.kubelets.call("PATCH", path, {"spec": {"replicas": 2}})


async def _writer_back(site: Site) -> None:
    path = site.kubelets.path("deployments", f"{site.node}/scale", api=APPS)
    await site.kubelets.call("PATCH", path, {"spec": {"replicas": 1}})
    await site.kubelets.until_running(site.node, 1)


_ON_GPU = {"node": "{node}", "gpu": "1"}
_OF_POD = {"namespace": "{space}", "pod": "{node}"}
_CHANGED = "The cluster changed"
_NO_CONTROL_PLANE = "control plane"

ROWS = (
    ActionRow(
        command="node cordon",
        line="node cordon {node}",
        rule="NodeFilesystemAlmostOutOfSpace",
        button="Cordon {node}",
        is_done=_is_cordoned,
        refusing=cordon,
        refused="already cordoned by someone else",
        allowing=uncordon,
        others=cordon,
        surprised="already cordoned by someone else",
        back=uncordon,
        listed="by dana",
    ),
    ActionRow(
        command="node uncordon",
        line="node uncordon {node}",
        answer="node show {node}",
        button="Uncordon",
        arrange=_cordon_like_ours,
        is_done=_is_open,
        refusing=_lose_our_cordon,
        refused="",
        allowing=_know_our_cordon,
        others=_lose_our_cordon,
        surprised="was not cordoned by Yardmaster",
        back=_know_our_cordon,
    ),
    ActionRow(
        command="node drain",
        line="node drain {node}",
        rule="GPUFellOffBusLogged",
        button="Drain {node}",
        arrange=add_pod,
        is_done=_is_drained,
        undone="no pod comes back",
        others=cordon,
        surprised=_CHANGED,
        back=uncordon,
        listed="by dana",
    ),
    ActionRow(
        command="node repair",
        line="node repair {node} --with nvidia-uvm",
        rule="NVIDIAUVMMissing",
        button="Repair {node}",
        is_done=_no_job,
        release=_end_job,
        undone="did nothing that can be undone",
        refusing=_make_control_plane,
        refused=_NO_CONTROL_PLANE,
        allowing=_make_worker,
        others=_make_control_plane,
        surprised=_NO_CONTROL_PLANE,
        back=_make_worker,
    ),
    ActionRow(
        command="node reboot",
        line="node reboot {node}",
        rule="GPUFellOffBusLogged",
        button="Reboot {node}",
        arrange=_cordoned_and_booted,
        is_done=_is_rebooted,
        release=_reboot,
        undone="did nothing that can be undone",
        refusing=uncordon,
        refused="is not drained: it is not cordoned",
        allowing=cordon,
        others=uncordon,
        surprised="is not drained: it is not cordoned",
        back=cordon,
    ),
    ActionRow(
        command="node restart-agent",
        line="node restart-agent {node} {node}",
        rule="NetworkAgentDown",
        labels={"node": "{node}", "component": "{node}"},
        button="Restart an agent of {node}",
        arrange=_add_agent,
        is_done=_nothing,
        undone="did nothing that can be undone",
        others=_agent_by_hand,
        surprised=_CHANGED,
    ),
    ActionRow(
        command="node taint",
        line="node taint {node} gpu=broken:NoSchedule",
        answer="node show {node}",
        button="Taint…",
        form={"taint": "gpu=broken:NoSchedule"},
        is_done=_is_tainted,
        others=_taint_by_hand,
        surprised=_CHANGED,
        back=_taint_off,
        listed="gpu:NoSchedule",
    ),
    ActionRow(
        command="node untaint",
        line="node untaint {node} gpu:NoSchedule",
        answer="node show {node}",
        button="Untaint gpu:NoSchedule",
        arrange=_taint_like_ours,
        is_done=_is_not_tainted,
        others=_forget_our_taint,
        surprised="was not set by Yardmaster",
        back=_know_our_taint,
    ),
    ActionRow(
        command="gpu cordon",
        line="gpu cordon {node} 1",
        rule="GPUECCUncorrectableErrors",
        labels=_ON_GPU,
        button="Cordon GPU 1 of {node}",
        arrange=_add_devices,
        is_done=_has_rule,
        refusing=_rule_of_others,
        refused="already cordoned",
        allowing=_no_rule_of_others,
        others=_rule_of_others,
        surprised="already cordoned",
        back=_no_rule_of_others,
        listed="GPU 1 cordoned by dana",
    ),
    ActionRow(
        command="pod delete",
        line="pod delete {space}/{node}",
        rule="CoreDNSReplicaSlow",
        labels=_OF_POD,
        button="Delete {space}/{node}",
        arrange=add_pod,
        is_done=_pod_is_gone,
        undone="did nothing that can be undone",
        others=_another_pod,
        surprised=_CHANGED,
    ),
    ActionRow(
        command="pod clean",
        line="pod clean --node {node}",
        rule="NodeFilesystemFullSoon",
        labels={"node": "{node}", "instance": "{node}", "mountpoint": "/var/lib/kubelet"},
        button="Clean pods",
        arrange=_add_ended_pod,
        is_done=_pod_is_gone,
        undone="did nothing that can be undone",
        others=_remove_pod,
        surprised="No pod has finished",
        back=_add_ended_pod,
    ),
    ActionRow(
        command="pod stacks",
        line="pod stacks {space}/{node}",
        answer="pod show {space}/{node}",
        button="Stacks",
        arrange=_add_running_pod,
        is_done=_nothing,
        undone="did nothing that can be undone",
        others=_another_pod,
        surprised=_CHANGED,
    ),
    ActionRow(
        command="volume freeze",
        line="volume freeze {space}/{node}",
        rule="VolumeUsedTwice",
        labels={"namespace": "{space}", "persistentvolumeclaim": "{node}"},
        button="Freeze {space}/{node}",
        arrange=_add_volume,
        is_done=_writer_is_stopped,
        others=_writer_by_hand,
        surprised=_CHANGED,
        back=_writer_back,
        second=True,
        listed="by dana",
    ),
    ActionRow(
        command="volume fix-mounts",
        line="volume fix-mounts {space}/{node}",
        rule="HostRootMountPrivate",
        labels={"namespace": "{space}", "daemonset": "{node}"},
        button="Fix the mounts of {space}/DaemonSet/{node}",
        arrange=_add_exporter,
        is_done=_is_fixed,
        refusing=_helm_takes_it,
        refused="Helm (release mon) manages",
        allowing=_helm_leaves_it,
        others=_helm_takes_it,
        surprised="Helm (release mon) manages",
        back=_helm_leaves_it,
    ),
)

# Actions whose stories are elsewhere: they are about something else, or have a stage of their own.
ELSEWHERE = {
    "node accept": "tests/commands/node/test_accept.py",
    "node extend": "tests/stories/test_cordon.py",
    "node hand-over": "tests/commands/node/test_hand_over.py",
    "gpu uncordon": "tests/commands/gpu/test_cordoning_one.py",
    "gpu free": "tests/demo/test_scenarios.py",
    "gpu release": "tests/commands/gpu/test_release.py",
    "gpu settle": "tests/commands/gpu/test_settling.py",
    "volume thaw": "tests/commands/volume/test_thawing.py",
    "dns scale": "tests/stories/test_dns.py",
}
