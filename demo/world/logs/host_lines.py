"""This file is what kubelets, name servers, storage and other components print."""

from __future__ import annotations

from collections.abc import Mapping

from demo.world.logs.line import Line, klog
from demo.world.logs.writing import kernel, kubelet
from demo.world.state import Happening, State


def dns_timeout(h: Happening, state: State) -> list[Line]:
    source = 30000 + state.rng.randrange(30000)
    name = state.rng.choice(
        ("s3.dc1.example", "registry.dc1.example", "detr-worker-2.detr-worker.vision-detr.svc.cluster.local")
    )
    text = f"[ERROR] plugin/errors: 2 {name}. A: read udp 10.244.1.2:{source}->10.0.9.2:53: i/o timeout"
    return [Line(at=h.at, text=text, level="error", pod=h.pod, stderr=False)]


def started(h: Happening, state: State) -> list[Line]:
    pod = f"{h.pod.namespace}/{h.pod.name}" if h.pod else ""
    uid = h.facts.get("uid", "")
    return [
        kubelet(
            h,
            "info",
            "kubelet.go:2519",
            f'"SyncLoop (PLEG): event for pod" pod="{pod}" event={{"ID":"{uid}","Type":"ContainerStarted"}}',
        )
    ]


def stopped(h: Happening, state: State) -> list[Line]:
    pod = f"{h.pod.namespace}/{h.pod.name}" if h.pod else ""
    return [kubelet(h, "info", "kubelet.go:2535", f'"SyncLoop DELETE" source="api" pods=["{pod}"]')]


def condition(h: Happening, state: State) -> list[Line]:
    level = (
        "warning"
        if "Insufficient" in h.facts["reason"] or h.facts["reason"] == "KubeletHasDiskPressure"
        else "info"
    )
    made = [
        kubelet(
            h,
            level,
            "kubelet_node_status.go:724",
            f'"Recording event message for node" node="{h.node}" event="{h.facts["reason"]}"',
        )
    ]
    if h.facts["reason"] == "KubeletHasDiskPressure":
        made.append(
            kubelet(
                h,
                "warning",
                "eviction_manager.go:376",
                '"Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"',
            )
        )
    return made


def kubelet_start(h: Happening, state: State) -> list[Line]:
    return [kubelet(h, "info", "server.go:211", '"Kubelet version" kubeletVersion="v1.36.3"')]


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


def component_error(h: Happening, state: State) -> list[Line]:
    component = h.facts["component"]
    source, text = COMPONENT_ERRORS.get(
        component, ("", f'level=error msg="{component}: request failed: connection refused"')
    )
    shown = klog(h.at, "error", source, text) if source else text
    return [Line(at=h.at, text=shown, level="error", node=h.node, unit=component)]


def component_says(h: Happening, state: State) -> list[Line]:
    component, said = h.facts["component"], h.facts["text"]
    text = (
        klog(h.at, "error", "manager.go:1188", said)
        if component in ("kubelet", "kube-proxy")
        else f'level=error msg="{said}"'
    )
    return [Line(at=h.at, text=text, level="error", node=h.node, unit=component)]


def osd(h: Happening, state: State) -> list[Line]:
    return [kernel(h, f"libceph: osd{h.facts['osd']} {h.facts['way']}", "info")]


def unmap_failed(h: Happening, state: State) -> list[Line]:
    device, image = "/dev/rbd1", h.facts["image"]
    made = Line(
        at=h.at,
        level="error",
        node=h.node,
        unit="kubelet",
        text=klog(
            h.at,
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


def mount_failed(h: Happening, state: State) -> list[Line]:
    claim = f"{h.facts['namespace']}/{h.facts['claim']}"
    return [
        kubelet(
            h,
            "error",
            "mount_linux.go:231",
            "Mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults "
            "/dev/rbd1 /var/lib/kubelet/plugins/kubernetes.io/csi/rbd.csi.ceph.com/globalmount\n"
            "Output: mount: wrong fs type, bad option, bad superblock on /dev/rbd1, missing codepage "
            "or helper program, or other error",
        ),
        kubelet(
            h,
            "error",
            "csi_attacher.go:366",
            f'MountVolume.MountDevice failed for volume "{h.facts["image"]}" (claim {claim})',
        ),
    ]


def format(h: Happening, state: State) -> list[Line]:
    return [
        kubelet(
            h,
            "info",
            "mount_linux.go:515",
            'Disk "/dev/rbd1" appears to be unformatted, attempting to format as type: "ext4" with '
            "options: [-F -m0 /dev/rbd1]",
        ),
        kubelet(
            h,
            "info",
            "mount_linux.go:525",
            "Disk successfully formatted (mkfs): ext4 - /dev/rbd1 "
            "/var/lib/kubelet/plugins/kubernetes.io/csi/rbd.csi.ceph.com/globalmount",
        ),
    ]
