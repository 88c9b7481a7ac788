"""Recorder of more pages in `tests/recordings/`: `python3 tests/real/exporters/record_control_plane.py`. Not run in CI.

Those of a real control plane, and of the kubelet: upstream's, built from its Go module over an empty runtime, as
kubemark runs it. It keeps the families that rules use, and of each a few series. Its page of cAdvisor is empty.
"""

import re
import ssl
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from demo.parts.processes import free_port
from tests.real.exporters.record import NODE, RECORDINGS, go, page_of, started, trimmed
from tests.real.parts.layout import cache
from tests.real.servers.control_plane import ADMIN_TOKEN
from tests.real.servers.kubernetes import KubernetesCluster

KUBERNETES = "1.36.3"
MODULE = Path(__file__).parent / "kubelet"
_READY_WITHIN = timedelta(minutes=1)
_RUNS_FOR = 20.0  # seconds: some families come with the first pods and relists
_SERIES = 3  # of each family


def main() -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folder = Path(name)
        cluster = running.enter_context(KubernetesCluster(folder))
        port = _kubelet(cluster, running, folder)
        _run_pods(cluster)
        time.sleep(_RUNS_FOR)
        ports = cluster.ports
        pages = {
            "kubelet": page_of(port),
            "kube-apiserver": _secure(ports.apiserver),
            "kube-scheduler": _secure(ports.scheduler),
            "kube-controller-manager": _secure(ports.controllers),
            "etcd": page_of(ports.etcd),
        }
    for name, page in pages.items():
        text = (
            f"# {name}, of Kubernetes {KUBERNETES}, recorded by tests/real/exporters/record_control_plane.py; only "
            "families that rules use, and a few series of each.\n"
        )
        file = RECORDINGS / f"{name}.prom"
        file.write_text(text + "\n".join(_few(page)) + "\n", encoding="utf-8")
        print(f"{file}: {file.stat().st_size} bytes")


def _kubelet(cluster: KubernetesCluster, running: ExitStack, folder: Path) -> int:
    program = cache() / f"kubelet-{KUBERNETES}" / "kubelet"
    if not program.is_file():
        go(("build", "-trimpath", "-ldflags", "-s -w", "-o", str(program), "."), cwd=MODULE)
    port = free_port()
    argv = (str(program), f"-kubeconfig={cluster.kubeconfig}", f"-name={NODE}", f"-port={port}")
    child = started("kubelet", argv, running, folder)
    child.wait_until_ready(lambda: "kubelet_running_pods" in page_of(port), limit=_READY_WITHIN)
    return port


def _run_pods(cluster: KubernetesCluster) -> None:
    """Let two pods run on the node, and two wait for GPUs that it does not have."""
    for number in range(4):
        limits = {"nvidia.com/gpu": "1" if number < 2 else "64"}
        container = {"name": "main", "image": "example.com/train", "resources": {"limits": limits}}
        spec = {"containers": [container], "volumes": [{"name": "scratch", "emptyDir": {}}]}
        pod = {"metadata": {"name": f"recorded-{number}"}, "spec": spec}
        cluster.call("POST", "/api/v1/namespaces/default/pods", pod)


def _secure(port: int) -> str:
    """Return the page of a program that has a certificate of its own."""
    trusting = ssl._create_unverified_context()
    handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting))
    request = urllib.request.Request(
        f"https://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}
    )
    with urllib.request.build_opener(*handlers).open(request, timeout=10) as reply:
        return str(reply.read().decode())


def _few(page: str) -> Iterator[str]:
    """Yield the types and the first series of each family that rules use. A histogram's buckets are one series."""
    seen: dict[str, Counter[str]] = {}
    for line in trimmed(page):
        if not line.startswith("#"):
            name = re.split(r"[{ ]", line, maxsplit=1)[0]
            labels = re.sub(r',?le="[^"]*"', "", line.rpartition(" ")[0].removeprefix(name))
            series = seen.setdefault(name, Counter())
            series[labels] += 1
            if len(series) > _SERIES and series[labels] == 1:
                del series[labels]
                continue
        yield line


if __name__ == "__main__":
    main()
