"""Log lines of kubelets, DNS, storage and other components."""

from __future__ import annotations

from collections.abc import Mapping

from demo.world.logs.line import Line, klog
from demo.world.logs.writers import kernel, kubelet
from demo.world.state import State, WorldEvent


def dns_timeout(e: WorldEvent, state: State) -> list[Line]:
    source = 30000 + state.rng.randrange(30000)
    name = state.rng.choice(
        ("s3.dc1.example", "registry.dc1.example", "detr-worker-2.detr-worker.vision-detr.svc.cluster.local")
    )
    text = f"[ERROR] plugin/errors: 2 {name}. A: read udp 10.244.1.2:{source}->10.0.9.2:53: i/o timeout"
    return [Line(at=e.at, text=text, level="error", pod=e.pod, stderr=False)]


def started(e: WorldEvent, state: State) -> list[Line]:
    pod = f"{e.pod.namespace}/{e.pod.name}" if e.pod else ""
    uid = e.facts.get("uid", "")
    return [
        kubelet(
            e,
            "info",
            "kubelet.go:2519",
            f'"SyncLoop (PLEG): event for pod" pod="{pod}" event={{"ID":"{uid}","Type":"ContainerStarted"}}',
        )
    ]


def stopped(e: WorldEvent, state: State) -> list[Line]:
    pod = f"{e.pod.namespace}/{e.pod.name}" if e.pod else ""
    return [kubelet(e, "info", "kubelet.go:2535", f'"SyncLoop DELETE" source="api" pods=["{pod}"]')]


def condition(e: WorldEvent, state: State) -> list[Line]:
    level = (
        "warning"
        if "Insufficient" in e.facts["reason"] or e.facts["reason"] == "KubeletHasDiskPressure"
        else "info"
    )
    made = [
        kubelet(
            e,
            level,
            "kubelet_node_status.go:724",
            f'"Recording event message for node" node="{e.node}" event="{e.facts["reason"]}"',
        )
    ]
    if e.facts["reason"] == "KubeletHasDiskPressure":
        made.append(
            kubelet(
                e,
                "warning",
                "eviction_manager.go:376",
                '"Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"',
            )
        )
    return made


def kubelet_start(e: WorldEvent, state: State) -> list[Line]:
    return [kubelet(e, "info", "server.go:211", '"Kubelet version" kubeletVersion="v1.36.3"')]


COMPONENT_ERRORS: Mapping[str, tuple[str, str]] = {
    "kubelet": (
        "pod_workers.go:1324",
        '"Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"worker\\" with '
        'CrashLoopBackOff" pod="reco-embed/embed-worker-0"',
    ),
    "containerd": (
        "",
        'level=error msg="failed to handle container TaskExit event" error="failed to stop '
        'container: context deadline exceeded"',
    ),
    "calico-node": (
        "",
        "[ERROR][54] felix/int_dataplane.go 2031: Failed to apply ipset updates error=exit status 1",
    ),
    "kube-proxy": (
        "proxier.go:733",
        '"Failed to execute iptables-restore" err="exit status 4: another app is currently holding the xtables lock"',
    ),
}


def component_error(e: WorldEvent, state: State) -> list[Line]:
    component = e.facts["component"]
    source, text = COMPONENT_ERRORS.get(
        component, ("", f'level=error msg="{component}: request failed: connection refused"')
    )
    shown = klog(e.at, "error", source, text) if source else text
    return [Line(at=e.at, text=shown, level="error", node=e.node, unit=component)]


def component_log(e: WorldEvent, state: State) -> list[Line]:
    component, message = e.facts["component"], e.facts["text"]
    text = (
        klog(e.at, "error", "manager.go:1188", message)
        if component in ("kubelet", "kube-proxy")
        else f'level=error msg="{message}"'
    )
    return [Line(at=e.at, text=text, level="error", node=e.node, unit=component)]


def osd(e: WorldEvent, state: State) -> list[Line]:
    return [kernel(e, f"libceph: osd{e.facts['osd']} {e.facts['way']}", "info")]


def unmap_failed(e: WorldEvent, state: State) -> list[Line]:
    device, image = "/dev/rbd1", e.facts["image"]
    made = Line(
        at=e.at,
        level="error",
        node=e.node,
        unit="kubelet",
        text=klog(
            e.at,
            "error",
            "nestedpendingoperations.go:348",
            f'Operation for "{{volumeName:kubernetes.io/csi/rbd.csi.ceph.com^{image}}}" failed. '
            f"Error: UnmountDevice failed for volume "
            f'"{image}" : rpc error: code = Internal desc = rbd: unmap for spec ({device}) failed (exit status 16)\n'
            f"rbd: failed to unmap device {device}, error exit status 16\nrbd: unmap failed: (16) "
            f"Device or resource busy",
        ),
    )
    return [made]


def mount_failed(e: WorldEvent, state: State) -> list[Line]:
    claim = f"{e.facts['namespace']}/{e.facts['claim']}"
    return [
        kubelet(
            e,
            "error",
            "mount_linux.go:231",
            "Mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults "
            "/dev/rbd1 /var/lib/kubelet/plugins/kubernetes.io/csi/rbd.csi.ceph.com/globalmount\n"
            "Output: mount: wrong fs type, bad option, bad superblock on /dev/rbd1, missing codepage "
            "or helper program, or other error",
        ),
        kubelet(
            e,
            "error",
            "csi_attacher.go:366",
            f'MountVolume.MountDevice failed for volume "{e.facts["image"]}" (claim {claim})',
        ),
    ]


def format(e: WorldEvent, state: State) -> list[Line]:
    return [
        kubelet(
            e,
            "info",
            "mount_linux.go:515",
            'Disk "/dev/rbd1" appears to be unformatted, attempting to format as type: "ext4" with '
            "options: [-F -m0 /dev/rbd1]",
        ),
        kubelet(
            e,
            "info",
            "mount_linux.go:525",
            "Disk successfully formatted (mkfs): ext4 - /dev/rbd1 "
            "/var/lib/kubelet/plugins/kubernetes.io/csi/rbd.csi.ceph.com/globalmount",
        ),
    ]
