"""A controller beside a control plane, with the definitions of its kinds and its webhooks; it leaves nothing behind."""

import base64
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from demo.parts.processes import Child, MissingPartError, Program, answers, find_program
from tests.real.parts.layout import HOW_TO_GET
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.quick_yaml import from_yaml

READY_WITHIN = timedelta(minutes=2)
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"  # as clients of today ask


def check_present(files: Sequence[Path], part: str) -> None:
    """Raise MissingPartError unless all files of a part are there."""
    if missing := [str(file) for file in files if not file.is_file()]:
        raise MissingPartError(f"no {', '.join(missing)}; {HOW_TO_GET.format(part=part)}")


@contextmanager
def definition(cluster: KubernetesCluster, tree: dict[str, Any]) -> Iterator[None]:
    """Have the cluster serve a kind, and no more at the end."""
    spec = tree["spec"]
    (version,) = [one["name"] for one in spec["versions"] if one["storage"]]
    tree = {**tree, "spec": {key: one for key, one in spec.items() if key != "conversion"}}
    plural = spec["names"]["plural"]
    objects = f"/apis/{spec['group']}/{version}/{plural}"
    with created(cluster, DEFINITIONS, tree):
        cluster.wait_for(f"{plural} to be served", lambda: is_served(cluster, objects))
        cluster.wait_for(f"{plural} to be discovered", lambda: is_discovered(cluster, spec["group"], plural))
        yield
    cluster.wait_for(f"{spec['names']['kind']}s to be gone", lambda: not is_served(cluster, objects))


@contextmanager
def created(cluster: KubernetesCluster, path: str, tree: Mapping[str, Any]) -> Iterator[None]:
    """Create an object that is not in a namespace, and delete it at the end."""
    try:
        cluster.call("POST", path, dict(tree))
        yield
    finally:
        try:
            cluster.call("DELETE", f"{path}/{tree['metadata']['name']}")
        except HTTPError as refusal:
            refusal.close()


def is_served(cluster: KubernetesCluster, path: str) -> bool:
    try:
        cluster.call("GET", path)
    except HTTPError as refusal:  # 404, and then 429 while the storage is set up
        with refusal:
            return False
    return True


def is_discovered(cluster: KubernetesCluster, group: str, plural: str) -> bool:
    """Whether a client that looks for the kind finds it: some look once, when they start."""
    groups = cluster.call("GET", "/apis", accept=_DISCOVERY)["items"]
    return any(
        plural == one["resource"]
        for found in groups
        if found["metadata"]["name"] == group
        for version in found["versions"]
        for one in version.get("resources") or ()
    )


@contextmanager
def running(name: str, argv: Sequence[str], log: Path, ready: str, **environment: str) -> Iterator[Child]:
    """Run the controller, which answers at `ready` once it acts."""
    child = Child(Program(name=name, argv=tuple(argv), log=log, environment=environment))
    with child:
        child.wait_until_ready(lambda: answers(ready), limit=READY_WITHIN)
        yield child


@dataclass(kw_only=True)
class Stoppable:
    """A controller that runs within a `with` block, and can be stopped for a while in it.

    A subclass begins both stacks in `__enter__`, and serves in `_process`. `definitions` are by the plural of the kind.
    """

    cluster: KubernetesCluster
    folder: Path
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    _undo: ExitStack = field(init=False, repr=False)
    _process: ExitStack = field(init=False, repr=False)

    def _define(self, files: Sequence[Path]) -> None:
        """Read the definitions of its kinds."""
        for file in files:
            self.definitions[file.stem] = from_yaml(file.read_text("utf-8"))

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop it for a while, with its webhooks: without it they would refuse what they judge."""
        self._process.close()
        yield
        self._serve(self._process)

    def _serve(self, stack: ExitStack) -> None:
        """Run it, and register its webhooks, until the stack is closed."""
        raise NotImplementedError


def manager_config(api: str, *, port: int, health: int, **more: Any) -> dict[str, Any]:
    """Return the configuration of a manager that has no other beside it, with its webhooks at this port."""
    return {
        "apiVersion": f"config.{api}",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 500, "burst": 1000},
        **more,
    }


def write_certificate(folder: Path) -> str:
    """Write `tls.crt` and `tls.key` for the loopback address. Return the certificate as an object of the API has it."""
    openssl = find_program("openssl", get_it=HOW_TO_GET.format(part="debian"))
    argv = [str(openssl), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    argv += ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    argv += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    return base64.b64encode((folder / "tls.crt").read_bytes()).decode()


def reached(webhook: Mapping[str, Any], port: int, certificate: str) -> dict[str, Any]:
    """Return a webhook with the address of a process on this machine, which is behind no Service."""
    path = webhook["clientConfig"]["service"]["path"]
    client = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": certificate}
    return {**webhook, "clientConfig": client}


@contextmanager
def webhooks(
    cluster: KubernetesCluster,
    documents: Sequence[Mapping[str, Any]],
    *,
    name: str,
    port: int,
    certificate: str,
) -> Iterator[None]:
    """Register webhooks as they stand in a project's manifests."""
    with ExitStack() as stack:
        for document in documents:
            if hooks := [reached(one, port, certificate) for one in document["webhooks"]]:
                plural = f"{document['kind'].lower()}s"
                tree = {**document, "metadata": {"name": f"{name}-{plural}"}, "webhooks": hooks}
                stack.enter_context(created(cluster, f"{WEBHOOKS}/{plural}", tree))
        yield
