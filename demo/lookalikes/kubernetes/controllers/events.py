"""Events: recorded, counted when they repeat, and removed after an hour."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.errors import RefusedError
from demo.lookalikes.kubernetes.objects import Json, metadata, moment_of, name_of, namespace_of, stamp, suffix
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_TTL = timedelta(hours=1)


class EventRecorder:
    """The event recorder of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._kind = cluster.kinds.named("events")
        self._known: dict[tuple[str, str, str], ObjectKey] = {}

    def record(
        self, about: Json, kind: str, reason: str, message: str, source: str, *, warning: bool = False
    ) -> None:
        """Create an event about an object, or raise the count of an earlier one."""
        namespace = namespace_of(about) or "default"
        now = stamp(self._cluster.clock())
        identity = (metadata(about)["uid"], reason, message)
        old = self._cluster.store.get(self._kind, *self._known.get(identity, ("", "")))
        if old is not None:
            self._cluster.update(
                old, {**old.tree, "count": old.tree.get("count", 1) + 1, "lastTimestamp": now}
            )
            return
        tree: Json = {
            "metadata": {"name": f"{name_of(about)}.{suffix(16)}", "namespace": namespace},
            "involvedObject": {
                "kind": kind,
                "namespace": namespace_of(about),
                "name": name_of(about),
                "uid": metadata(about)["uid"],
                "apiVersion": about.get("apiVersion", "v1"),
                "resourceVersion": metadata(about).get("resourceVersion", ""),
            },
            "reason": reason,
            "message": message,
            "source": {"component": source},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": "Warning" if warning else "Normal",
            "eventTime": None,
            "reportingComponent": source,
            "reportingInstance": "",
        }
        try:
            self._cluster.create(self._kind, namespace, tree)
        except RefusedError:
            return  # its namespace is being deleted, and the event would be too
        if len(self._known) > 20_000:
            self._known.clear()
        self._known[identity] = (namespace, tree["metadata"]["name"])


class EventExpiry:
    """The expiry of events that have not repeated for an hour."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._kind = cluster.kinds.named("events")

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        if change.kind.listing == "events" and change.type != "DELETED":
            yield (namespace_of(change.after.tree), name_of(change.after.tree))

    def reconcile(self, key: ObjectKey) -> datetime | None:
        found = self._cluster.store.get(self._kind, *key)
        if found is None:
            return None
        last = (
            found.tree.get("lastTimestamp")
            or found.tree.get("eventTime")
            or metadata(found.tree)["creationTimestamp"]
        )
        ends = (moment_of(last) or self._cluster.clock()) + _TTL
        if ends > self._cluster.clock():
            return ends
        self._cluster.store.remove(self._kind, *key)
        return None
