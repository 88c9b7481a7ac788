"""The Kubernetes look-alike as tests and the demo use it: start, stop, objects and faults."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import web

from demo.lookalikes.kubernetes.authorization import MASTERS, User
from demo.lookalikes.kubernetes.bootstrap import create_first_objects
from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.controllers import Settings, run_controllers
from demo.lookalikes.kubernetes.deletion import DeleteOptions
from demo.lookalikes.kubernetes.execution import Execs
from demo.lookalikes.kubernetes.faults import Faults, Matcher, RecordedRequest
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.logs import Logs
from demo.lookalikes.kubernetes.objects import Clock, Json, copy_of, encode, namespace_of
from demo.lookalikes.kubernetes.patches import merge_patch, strategic_merge_patch
from demo.lookalikes.kubernetes.selectors import selection
from demo.lookalikes.kubernetes.server import TOKEN_PREFIX, ApiServer
from demo.lookalikes.kubernetes.store import Store

ADMIN_TOKEN = "admin-token"


def wall_clock() -> datetime:
    """Return the machine's time, the default clock of the server."""
    return datetime.now(UTC)  # noqa: TID251 - the only place here that reads the machine's clock


class KubernetesLookalike:
    """A running look-alike. Objects from `get` and `list` are shared: do not change them."""

    def __init__(self, cluster: Cluster, server: ApiServer, faults: Faults, url: str) -> None:
        self.cluster = cluster
        self.url = url
        self.admin_token = ADMIN_TOKEN
        self._server = server
        self._faults = faults

    @classmethod
    @asynccontextmanager
    async def running(
        cls,
        *,
        port: int = 0,
        tokens: Mapping[str, User] | None = None,
        logs: Logs | None = None,
        clock: Clock = wall_clock,
        controllers: bool = True,
        settings: Settings | None = None,
        history: int = 20_000,
    ) -> AsyncIterator["KubernetesLookalike"]:
        """Serve on 127.0.0.1 until the block ends. `tokens` are added to the admin's own.

        A controller that crashes is logged and continues; the block then ends with an ExceptionGroup of all crashes.
        """
        cluster = Cluster(clock, history=history)
        create_first_objects(cluster)
        faults = Faults()
        known = {ADMIN_TOKEN: User("admin", (MASTERS,)), **(tokens or {})}
        server = ApiServer(cluster, known, logs, faults, clock)
        runner = web.AppRunner(
            server.application(), access_log=None, shutdown_timeout=0.5, handler_cancellation=True
        )
        await runner.setup()
        crashes: list[Exception] = []
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            host, bound = runner.addresses[0][:2]
            async with asyncio.TaskGroup() as group:
                if controllers:
                    task = group.create_task(run_controllers(cluster, settings or Settings(), crashes))
                try:
                    yield cls(cluster, server, faults, f"http://{host}:{bound}")
                finally:
                    faults.resume()
                    faults.drop(abruptly=False)
                    if controllers:
                        task.cancel()
        finally:
            await runner.cleanup()
        if crashes:
            raise ExceptionGroup("controllers of the look-alike crashed", crashes)

    # The verbs of kubectl, without HTTP. Kinds are named `pods`, `Pod`, `po` or `jobs.batch`.

    def create(self, tree: Json, *, namespace: str = "", keep_status: bool = False) -> Json:
        """Create an object, with its status if `keep_status`. Raises RefusedError as the API would answer."""
        kind = self._kind_of(tree)
        target = (namespace or namespace_of(tree) or "default") if kind.namespaced else ""
        return self.cluster.create(kind, target, copy_of(tree), keep_status=keep_status).tree

    def get(self, kind: str, namespace: str, name: str) -> Json | None:
        """Return the object, or None."""
        found = self.cluster.store.get(self.cluster.kinds.named(kind), namespace, name)
        return found.tree if found else None

    def list(self, kind: str, namespace: str = "", *, labels: str = "", fields: str = "") -> Sequence[Json]:
        """Return the objects of a namespace ("" for all) that match the selectors, in key order."""
        row = self.cluster.kinds.named(kind)
        test = selection(row, labels, fields) or (lambda tree: True)
        return [s.tree for s in self.cluster.store.all(row, namespace) if test(s.tree)]

    def patch(self, kind: str, namespace: str, name: str, patch: Json, *, status: bool = False) -> Json:
        """Patch the object or its status by strategic merge, or by merge patch for custom kinds."""
        row = self.cluster.kinds.named(kind)
        apply = merge_patch if row.custom else strategic_merge_patch
        part = "status" if status else ""
        copy = copy_of(patch)
        return self.cluster.patch(row, namespace, name, lambda old: apply(old, copy), part=part).tree

    def delete(
        self,
        kind: str,
        namespace: str,
        name: str,
        *,
        grace: int | None = None,
        propagation: str | None = None,
    ) -> bool:
        """Delete the object, and return whether it is already gone."""
        options = DeleteOptions(grace=grace, propagation=propagation)
        return self.cluster.delete(self.cluster.kinds.named(kind), namespace, name, options)[1]

    def _kind_of(self, tree: Json) -> Kind:
        kind = self.cluster.kinds.of(str(tree.get("apiVersion")), str(tree.get("kind")))
        if kind is None:
            raise KeyError(
                f"nothing serves {tree.get('apiVersion')}/{tree.get('kind')}; create its definition first"
            )
        return kind

    @property
    def store(self) -> Store:
        """The objects and their history; `store.listen` reports each change as it happens."""
        return self.cluster.store

    def kubeconfig(self, path: Path, *, token: str = ADMIN_TOKEN, context: str = "lookalike") -> Path:
        """Write a kubeconfig with one context for this server and return its path.

        The token is also in the address: kubectl and client-go do not send tokens over plain HTTP.
        """
        name = {"name": context}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{**name, "cluster": {"server": f"{self.url}{TOKEN_PREFIX}{token}"}}],
            "users": [{**name, "user": {"token": token}}],
            "contexts": [{**name, "context": {"cluster": context, "user": context}}],
            "current-context": context,
        }
        path.write_bytes(encode(config))  # JSON is YAML
        return path

    # Fault injection, and the requests that arrived.

    @property
    def execs(self) -> Execs | None:
        """What programs in containers print: of a namespace, a pod, a container and a command."""
        return self._server.execs

    @execs.setter
    def execs(self, execs: Execs | None) -> None:
        self._server.execs = execs

    @property
    def logs(self) -> Logs | None:
        """What containers have written: of a namespace, a pod and a container, from where."""
        return self._server.logs

    @logs.setter
    def logs(self, logs: Logs | None) -> None:
        self._server.logs = logs

    @property
    def requests(self) -> Sequence[RecordedRequest]:
        """The last requests, oldest first (10,000 at most)."""
        return list(self._server.requests)

    def fail(self, matcher: Matcher, status: int, times: int = 1, *, retry_after: int | None = None) -> None:
        """Answer the next `times` requests that match with this HTTP status."""
        self._faults.fail(matcher, status, times, retry_after)

    def recover(self) -> None:
        """Forget the failures that were planned."""
        self._faults.recover()

    def pause(self) -> None:
        """Answer nothing, watches included, until `resume`."""
        self._faults.pause()

    def resume(self) -> None:
        """Answer again."""
        self._faults.resume()

    def drop_watches(self, *, abruptly: bool = True) -> None:
        """End all running watches, by breaking the connection or cleanly."""
        self._faults.drop(abruptly=abruptly)

    def stall_watches(self) -> None:
        """Let the running watches send nothing more and stay open, as after a lost connection. New ones work."""
        self._faults.stall()

    def hang_up_watches(self, is_on: bool) -> None:
        """End each new watch at once, cleanly and with nothing sent, as some proxies do; until it is off again."""
        self._faults.ends_watches = is_on

    def send_bookmarks(self) -> None:
        """Send a bookmark in the running watches."""
        self._faults.bookmark()

    def compact(self) -> None:
        """Drop the history: watches and pages at older versions get 410."""
        self.cluster.store.forget()

    @property
    def latency(self) -> timedelta:
        """The delay of every answer."""
        return self._faults.latency

    @latency.setter
    def latency(self, wait: timedelta) -> None:
        self._faults.latency = wait


__all__ = ["ADMIN_TOKEN", "KubernetesLookalike", "wall_clock"]
