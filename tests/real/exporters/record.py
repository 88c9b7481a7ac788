"""Recorder of the pages in `tests/recordings/`: `python3 tests/real/exporters/record.py`. Not run in CI.

It builds kube-state-metrics and CoreDNS from their Go modules, runs them and Debian's node_exporter against the real
control plane, and keeps of each page the families that rules use. The first run takes about ten minutes.
"""

import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from demo.parts.processes import Child, PartError, Program, answers, find_program, free_port
from tests.real.parts.layout import cache
from tests.real.servers.kubernetes import KubernetesCluster

KUBE_STATE_METRICS = "2.18.0"
COREDNS = "1.13.1"
MODULE = Path(__file__).parent
RECORDINGS = Path(__file__).resolve().parents[2] / "recordings"

NODE = "recorded-node"
SPACE, POD, CLAIM = "recorded", "recorded-pod", "recorded-claim"
_RULES = Path(__file__).resolve().parents[3] / "alerts" / "packs"
_READY_WITHIN = timedelta(minutes=1)
_COREFILE = """\
.:{port} {{
    bind 127.0.0.1
    errors
    ready 127.0.0.1:{ready}
    kubernetes cluster.local {{
        kubeconfig {kubeconfig}
    }}
    template IN A known.example {{
        answer "{{{{ .Name }}}} 60 IN A 192.0.2.1"
    }}
    forward . 127.0.0.1:{dead} {{
        max_fails 1
    }}
    prometheus 127.0.0.1:{metrics}
    cache 5
    reload
}}
"""


def main() -> None:
    RECORDINGS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folder = Path(name)
        cluster = running.enter_context(KubernetesCluster(folder))
        _fill(cluster)
        pages = {
            "kube-state-metrics": _kube_state_metrics(cluster, running, folder),
            "coredns": _coredns(cluster, running, folder),
            "node_exporter": _node_exporter(running, folder),
        }
    for name, (version, page) in pages.items():
        text = (
            f"# {name} {version}, recorded by tests/real/exporters/record.py; only families that rules use.\n"
        )
        file = RECORDINGS / f"{name}.prom"
        file.write_text(text + "\n".join(trimmed(page)) + "\n", encoding="utf-8")
        print(f"{file}: {file.stat().st_size} bytes")


def _fill(cluster: KubernetesCluster) -> None:
    """Create one node with GPUs, a namespace, a running pod that holds GPUs, a claim, and a service."""
    cluster.create_ready_node(NODE, resources={"nvidia.com/gpu": "2"})
    cluster.call("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    container = {"name": "main", "image": "example.com/train", "resources": limits}
    spec = {"nodeName": NODE, "containers": [container]}
    pods = f"/api/v1/namespaces/{SPACE}/pods"
    cluster.call("POST", pods, {"metadata": {"name": POD}, "spec": spec})
    cluster.call("PATCH", f"{pods}/{POD}/status", {"status": {"phase": "Running", "podIP": "10.244.0.9"}})
    claim = {
        "metadata": {"name": CLAIM},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    cluster.call("POST", f"/api/v1/namespaces/{SPACE}/persistentvolumeclaims", claim)


def _kube_state_metrics(cluster: KubernetesCluster, running: ExitStack, folder: Path) -> tuple[str, str]:
    program = cache() / f"kube-state-metrics-{KUBE_STATE_METRICS}" / "kube-state-metrics"
    if not program.is_file():
        package = "k8s.io/kube-state-metrics/v2"
        stamp = f"-s -w -X github.com/prometheus/common/version.Version={KUBE_STATE_METRICS}"
        go(("build", "-trimpath", "-ldflags", stamp, "-o", str(program), package), cwd=MODULE)
    port, own = free_port(), free_port()
    argv = (
        str(program),
        f"--kubeconfig={cluster.kubeconfig}",
        "--host=127.0.0.1",
        f"--port={port}",
        "--telemetry-host=127.0.0.1",
        f"--telemetry-port={own}",
    )
    child = started("kube-state-metrics", argv, running, folder)
    child.wait_until_ready(lambda: f'pod="{POD}"' in page_of(port), limit=_READY_WITHIN)
    return KUBE_STATE_METRICS, f"{page_of(port)}\n{page_of(own)}"


def _coredns(cluster: KubernetesCluster, running: ExitStack, folder: Path) -> tuple[str, str]:
    program = cache() / f"coredns-{COREDNS}" / "coredns"
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        go(("install", "-trimpath", f"github.com/coredns/coredns@v{COREDNS}"), gobin=program.parent)
    port, metrics, dead, ready = (free_port() for _ in range(4))
    corefile = folder / "Corefile"
    corefile.write_text(
        _COREFILE.format(port=port, metrics=metrics, dead=dead, ready=ready, kubeconfig=cluster.kubeconfig)
    )
    child = started("coredns", (str(program), "-conf", str(corefile)), running, folder)
    child.wait_until_ready(lambda: answers(f"http://127.0.0.1:{ready}/ready"), limit=_READY_WITHIN)
    for name in ("kubernetes.default.svc.cluster.local", "none.default.svc.cluster.local"):
        _asked(name, port)
    for name in ("known.example", "unreachable.example"):  # the latter becomes SERVFAIL
        _asked(name, port)
    child.wait_until_ready(lambda: 'rcode="SERVFAIL"' in page_of(metrics), limit=_READY_WITHIN)
    upstream = page_of(metrics).replace(f"127.0.0.1:{dead}", "10.0.0.2:53")
    return COREDNS, upstream.replace(f"dns://127.0.0.1:{port}", "dns://:53")  # as it is without `bind`


def _node_exporter(running: ExitStack, folder: Path) -> tuple[str, str]:
    program = str(find_program("prometheus-node-exporter", "node_exporter", get_it="install it"))
    port = free_port()
    argv = (program, f"--web.listen-address=127.0.0.1:{port}")
    child = started("node_exporter", argv, running, folder)
    child.wait_until_ready(lambda: "node_load1" in page_of(port), limit=_READY_WITHIN)
    page = page_of(port)
    found = re.search(r'node_exporter_build_info{.*version="([^"]*)"', page)
    page = re.sub(r'(release|version)="[^"]*"', r'\1=""', page)
    return found[1] if found else "?", page.replace(f'"{socket.gethostname()}"', f'"{NODE}"')


def started(name: str, argv: tuple[str, ...], running: ExitStack, folder: Path) -> Child:
    child = Child(Program(name=name, argv=argv, log=folder / f"{name}.log"))
    running.enter_context(child)
    return child


def _asked(name: str, port: int) -> None:
    """Send a DNS query for an address until it is answered: the server may not listen yet."""
    words = b"".join(bytes([len(word)]) + word.encode() for word in name.split("."))
    query = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + words + b"\0" + struct.pack(">HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(8)
        for _ in range(5):
            udp.sendto(query, ("127.0.0.1", port))
            with suppress(TimeoutError):
                udp.recv(4096)
                return
    raise PartError(f"CoreDNS does not answer for {name}")


def page_of(port: int) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
            return str(reply.read().decode())
    except OSError:
        return ""


def trimmed(page: str) -> Iterator[str]:
    """Yield the types and samples of the families that rules use, of few devices and of what was created."""
    used = set(re.findall(r"[a-z]\w+", " ".join(one.read_text() for one in _rule_files())))
    for line in page.splitlines():
        name = line.split()[2] if line.startswith("# TYPE") else re.split(r"[{ ]", line, maxsplit=1)[0]
        family = re.sub(r"_(bucket|sum|count)$", "", name)
        if line.startswith("# HELP") or used.isdisjoint(
            {name, family, f"{family}_bucket", f"{family}_count"}
        ):
            continue
        if not line.startswith("#") and _is_of_this_host(line):
            continue
        yield line


def _is_of_this_host(line: str) -> bool:
    """Whether a sample says something of the recording host that others need not know, or repeats another."""
    odd = [
        not re.search(r'mountpoint="/"', line) and "mountpoint=" in line,
        re.search(r'cpu="(?![01]")', line),
        re.search(r'\bdevice="(?!eth0|lo|/dev|overlay|[sv]da|none)', line),
        line.startswith("kube_") and re.search(r'(namespace|node)="(?!recorded)', line),
    ]
    return any(odd)


def _rule_files() -> Iterable[Path]:
    return (one for one in _RULES.glob("*.yaml") if not one.name.endswith((".test.yaml", ".yard.yaml")))


def go(arguments: tuple[str, ...], *, cwd: Path | None = None, gobin: Path | None = None) -> None:
    place = {"CGO_ENABLED": "0", **({"GOBIN": str(gobin)} if gobin else {})}
    print("go", *arguments, flush=True)
    subprocess.run(("go", *arguments), cwd=cwd, env={**os.environ, **place}, check=True)


if __name__ == "__main__":
    main()
