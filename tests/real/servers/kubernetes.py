"""This file runs a real Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler.

There is no kubelet: nodes and pods have the status that a test gives them, and no node goes dark by itself.
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

_READY_WITHIN = timedelta(minutes=2)  # 3 s alone on two cores, much more beside a build
_CALL_WITHIN = timedelta(seconds=30)
_AT_ONCE = timedelta()  # no grace: the API server takes a minute to end on SIGTERM


class KubernetesCluster:
    """A control plane with its files in `folder`, for the length of a `with` block.

    Two identities come from a token file: `admin_token` may do everything, `bot_token` is the service account
    `bot_name` and may do nothing until a test binds a role to it.
    """

    admin_token = ADMIN_TOKEN
    bot_token = BOT_TOKEN
    bot_name = BOT_NAME

    def __init__(self, folder: Path) -> None:
        programs = [kube_program(name) for name in KUBE_COMMANDS]
        if absent := [str(program) for program in programs if not program.is_file()]:
            raise MissingPartError(f"no {', '.join(absent)}; {HOW_TO_GET.format(part='kube')}")
        ports = Ports(
            etcd=free_port(),
            etcd_peers=free_port(),
            apiserver=free_port(),
            controllers=free_port(),
            scheduler=free_port(),
        )
        self._plane = ControlPlane(folder=folder, ports=ports)
        self._children = {name: _child(name, flags, folder) for name, flags in self._plane.flags().items()}

    @property
    def url(self) -> str:
        """Of the API server."""
        return self._plane.url

    @property
    def ca_file(self) -> Path:
        """The certificate to trust."""
        return self._plane.ca_file

    @property
    def kubeconfig(self) -> Path:
        """For the administrator."""
        return self._plane.kubeconfig

    @property
    def bot_kubeconfig(self) -> Path:
        """For the service account of the bot."""
        return self._plane.bot_kubeconfig

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
            # The first thing that the controller manager does for every namespace; so it is at work.
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            self.wait_for("a default service account", lambda: self.exists(account))
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        for child in reversed(self._children.values()):
            child.stop(grace=_AT_ONCE)

    def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, as_bot: bool = False
    ) -> dict[str, Any]:
        """Send one request to the API server and return the object it answers with.

        A PATCH is a strategic merge patch. Raises urllib.error.HTTPError for a refusal.
        """
        kind = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {BOT_TOKEN if as_bot else ADMIN_TOKEN}", "Content-Type": kind}
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
        """Whether there is an object at this path now."""
        try:
            self.call("GET", path)
        except urllib.error.HTTPError as refusal:
            with refusal:
                if refusal.code == 404:
                    return False
            raise
        return True

    def wait_for(self, what: str, holds: Callable[[], bool], *, limit: timedelta = _READY_WITHIN) -> None:
        """Return when `holds()` does. Raises PartError, naming `what`, at the limit."""
        end = time.monotonic() + limit.total_seconds()
        while not holds():
            if time.monotonic() > end:
                logs = "\n".join(child.last_log_lines(5) for child in self._children.values())
                raise PartError(f"waited {limit.total_seconds():.0f} s for {what}. From the logs:\n{logs}")
            time.sleep(0.05)

    def kubectl(self, *arguments: str, stdin: str = "", as_bot: bool = False) -> str:
        """Run kubectl and return what it printed. Raises PartError with its complaint."""
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
    ) -> None:
        """Make a node whose kubelet would say Ready, and return when pods may be bound to it.

        `resources` are added to its 64 CPUs, 512 GiB of memory and room for 110 pods: {"nvidia.com/gpu": "8"}.
        """
        path = f"/api/v1/nodes/{name}"
        metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
        self.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": metadata})
        amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", **(resources or {})}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "made by a test"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        self.call("PATCH", f"{path}/status", {"status": status})
        # A new node is tainted until the controller manager sees that it is ready.
        self.wait_for(f"node {name} without taints", lambda: not self.call("GET", path)["spec"].get("taints"))

    def stop_apiserver(self) -> None:
        """Let the API server vanish, as when its machine dies: its address refuses connections."""
        self._children["kube-apiserver"].stop(grace=_AT_ONCE)

    def start_apiserver(self) -> None:
        """Bring it (back) to its address, with all that was stored, and return when it is ready."""
        child = Child(self._children["kube-apiserver"].program)
        self._children["kube-apiserver"] = child
        child.start()
        ready = f"{self.url}/readyz"
        child.wait_until_ready(lambda: answers(ready, ca_file=self.ca_file), limit=_READY_WITHIN)

    @contextlib.contextmanager
    def without_apiserver(self) -> Iterator[None]:
        """The API server is away inside of this block, and back after it."""
        self.stop_apiserver()
        try:
            yield
        finally:
            self.start_apiserver()

    def forget_history(self) -> None:
        """Make every resourceVersion and continue token handed out so far too old: they get 410 Expired.

        Compaction alone is not enough, for the API server's own cache still has the past; so it restarts too.
        """
        path = "/api/v1/namespaces/default/configmaps"
        later = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-later-moment"}}
        self.call("POST", path, later)
        self.call("DELETE", f"{path}/a-later-moment")
        revision = self._ask_etcd("/v3/maintenance/status", {})["header"]["revision"]
        self._ask_etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        with self.without_apiserver():
            pass

    def _ask_etcd(self, path: str, query: Mapping[str, Any]) -> dict[str, Any]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = self._plane.etcd_url + path
        with opener.open(url, json.dumps(query).encode(), _CALL_WITHIN.total_seconds()) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer


def _child(name: str, flags: tuple[str, ...], folder: Path) -> Child:
    argv = (str(kube_program(name)), *flags)
    return Child(Program(name=name, argv=argv, log=folder / f"{name}.log"))
