"""A real Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler.

There is no kubelet: nodes and pods have the status that a test sets, and no node becomes NotReady by itself.
"""

import contextlib
import json
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from demo.parts.processes import Child, MissingPartError, PartError, Program, answers, free_port
from tests.real.parts.layout import HOW_TO_GET, KUBE_COMMANDS, kube_program
from tests.real.servers.control_plane import ADMIN_TOKEN, BOT_NAME, BOT_TOKEN, ControlPlane, Ports

_READY_WITHIN = timedelta(minutes=2)  # 3 s on two idle cores, much more during a build
_CALL_WITHIN = timedelta(seconds=30)
RESERVED = "yardmaster.test/reserved-for"  # the taint of a node that is only for some pods
_AT_ONCE = timedelta()  # no grace period: the API server takes a minute to stop on SIGTERM


class KubernetesCluster:
    """A control plane with its files in `folder`; it runs within a `with` block.

    Two identities come from a token file: `admin_token` may do everything, `bot_token` is the service account
    `bot_name` and may do nothing until a test binds a role to it.
    """

    admin_token = ADMIN_TOKEN
    bot_token = BOT_TOKEN
    bot_name = BOT_NAME

    def __init__(self, folder: Path) -> None:
        programs = [kube_program(name) for name in KUBE_COMMANDS]
        if missing := [str(program) for program in programs if not program.is_file()]:
            raise MissingPartError(f"no {', '.join(missing)}; {HOW_TO_GET.format(part='kube')}")
        ports = Ports(
            etcd=free_port(),
            etcd_peers=free_port(),
            apiserver=free_port(),
            controllers=free_port(),
            scheduler=free_port(),
        )
        self._plane = plane = ControlPlane(folder=folder, ports=ports)
        self.url, self.ca_file = plane.url, plane.ca_file  # of the API server
        self.ports = ports
        self.kubeconfig, self.bot_kubeconfig = plane.kubeconfig, plane.bot_kubeconfig
        self._children = {name: _child(name, flags, folder) for name, flags in plane.flags().items()}

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as undo:
            undo.callback(self.__exit__)
            self._plane.write_files()
            etcd = self._children["etcd"]
            etcd.start()
            etcd.wait_until_ready(lambda: answers(f"{self._plane.etcd_url}/health"), limit=_READY_WITHIN)
            self.start_apiserver()
            for name in ("kube-controller-manager", "kube-scheduler"):
                self._children[name].start()
            # The controller manager creates it first in every namespace, so its existence shows that it runs.
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            self.wait_for("a default service account", lambda: self.exists(account))
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        for child in reversed(self._children.values()):
            child.stop(grace=_AT_ONCE)

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        as_bot: bool = False,
        accept: str = "application/json",
        patch: str = "strategic-merge-patch",
    ) -> dict[str, Any]:
        """Send one request to the API server and return the object in its response.

        `patch`: the kind of a PATCH. Raise urllib.error.HTTPError if the server refuses.
        """
        kind = f"application/{patch}+json" if method == "PATCH" else "application/json"
        token = BOT_TOKEN if as_bot else ADMIN_TOKEN
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind, "Accept": accept}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=content, headers=headers, method=method)
        trusted = ssl.create_default_context(cafile=str(self.ca_file))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted)
        )
        with opener.open(request, timeout=_CALL_WITHIN.total_seconds()) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer

    def exists(self, path: str) -> bool:
        """Whether an object exists at this path."""
        try:
            self.call("GET", path)
        except urllib.error.HTTPError as refusal:
            with refusal:
                if refusal.code == 404:
                    return False
            raise
        return True

    def wait_for(self, what: str, holds: Callable[[], bool], *, limit: timedelta = _READY_WITHIN) -> None:
        """Wait until `holds()`. Raise PartError, naming `what`, at the limit."""
        end = time.monotonic() + limit.total_seconds()
        while not holds():
            if time.monotonic() > end:
                logs = "\n".join(child.last_log_lines(5) for child in self._children.values())
                raise PartError(f"waited {limit.total_seconds():.0f} s for {what}. From the logs:\n{logs}")
            time.sleep(0.05)

    def kubectl(self, *arguments: str, stdin: str = "", as_bot: bool = False) -> str:
        """Run kubectl and return its output. Raise PartError with its error."""
        config = self.bot_kubeconfig if as_bot else self.kubeconfig
        cache = self._plane.folder / "kubectl-cache"
        done = subprocess.run(
            (kube_program("kubectl"), f"--kubeconfig={config}", f"--cache-dir={cache}", *arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_CALL_WITHIN.total_seconds(),
            check=False,
        )
        if done.returncode != 0:
            raise PartError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def create_ready_node(
        self,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        resources: Mapping[str, str] | None = None,
        reserved_for: str = "",
    ) -> None:
        """Create a node that is Ready, and return when pods can be bound to it.

        `resources` are added to its 64 CPUs, 512 GiB of memory and 110 pods: {"nvidia.com/gpu": "8"}. With
        `reserved_for`, only pods that tolerate the taint RESERVED of this value are bound to it: without it, it may
        get any pod that other tests left pending.
        """
        path = f"/api/v1/nodes/{name}"
        metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
        own = [{"key": RESERVED, "value": reserved_for, "effect": "NoSchedule"}] if reserved_for else []
        body = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": own}}
        self.call("POST", "/api/v1/nodes", body)
        amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", **(resources or {})}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "made by a test"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        self.call("PATCH", f"{path}/status", {"status": status})
        # A new node is tainted until the controller manager sees that it is ready.
        self.wait_for(
            f"node {name} without other taints",
            lambda: self.call("GET", path)["spec"].get("taints", []) == own,
        )

    def stop_apiserver(self) -> None:
        """Kill the API server, as when its machine fails: its address refuses connections."""
        self._children["kube-apiserver"].stop(grace=_AT_ONCE)

    def start_apiserver(self) -> None:
        """Start the API server at its address with everything stored, and return when it is ready."""
        child = Child(self._children["kube-apiserver"].program)
        self._children["kube-apiserver"] = child
        child.start()
        ready = f"{self.url}/readyz"
        child.wait_until_ready(lambda: answers(ready, ca_file=self.ca_file), limit=_READY_WITHIN)

    @contextlib.contextmanager
    def without_apiserver(self) -> Iterator[None]:
        """Stop the API server within the block, and start it again afterwards."""
        self.stop_apiserver()
        try:
            yield
        finally:
            self.start_apiserver()

    def forget_history(self) -> None:
        """Expire every resourceVersion and continue token so far: they get 410 Expired.

        Compaction alone is not enough, because the API server caches past versions; so restart it too.
        """
        path = "/api/v1/namespaces/default/configmaps"
        later = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-later-moment"}}
        self.call("POST", path, later)
        self.call("DELETE", f"{path}/a-later-moment")
        revision = self._call_etcd("/v3/maintenance/status", {})["header"]["revision"]
        self._call_etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        with self.without_apiserver():
            pass

    def _call_etcd(self, path: str, query: Mapping[str, Any]) -> dict[str, Any]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = self._plane.etcd_url + path
        with opener.open(url, json.dumps(query).encode(), _CALL_WITHIN.total_seconds()) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer


def _child(name: str, flags: tuple[str, ...], folder: Path) -> Child:
    argv = (str(kube_program(name)), *flags)
    return Child(Program(name=name, argv=argv, log=folder / f"{name}.log"))
