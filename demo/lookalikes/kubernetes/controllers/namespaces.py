"""Namespaces: default objects in new ones, and removal of the contents of deleted ones."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.objects import Json, deleting, dig, metadata, name_of, namespace_of
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_RETRY = timedelta(milliseconds=500)


class Namespaces:
    """The namespace and service account controllers. Keys are namespaces: ("", name)."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kind = tools.cluster.kinds.named("namespaces")
        self._accounts = tools.cluster.kinds.named("serviceaccounts")
        self._maps = tools.cluster.kinds.named("configmaps")
        self._terminating: set[str] = set()

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        tree = change.after.tree
        if change.kind.listing == "namespaces":
            if deleting(tree) and change.type != "DELETED":
                self._terminating.add(name_of(tree))
            yield ("", name_of(tree))
        elif change.type == "DELETED" and (
            namespace_of(tree) in self._terminating or change.kind.plural in ("serviceaccounts", "configmaps")
        ):
            yield ("", namespace_of(tree))

    def reconcile(self, key: ObjectKey) -> datetime | None:
        stored = self._tools.cluster.store.get(self._kind, *key)
        if stored is None:
            self._terminating.discard(key[1])
            return None
        if deleting(stored.tree):
            return self._delete_contents(stored.tree)
        self._add_defaults(key[1])
        return None

    def _add_defaults(self, name: str) -> None:
        store, create = self._tools.cluster.store, self._tools.cluster.create
        if store.get(self._accounts, name, "default") is None:
            create(self._accounts, name, {"metadata": {"name": "default"}})
        if store.get(self._maps, name, "kube-root-ca.crt") is None:
            create(self._maps, name, {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": ""}})

    def _delete_contents(self, tree: Json) -> datetime | None:
        name, cluster = name_of(tree), self._tools.cluster
        remaining = 0
        for kind in cluster.kinds:
            if not kind.namespaced:
                continue
            for stored in cluster.store.all(kind, name):
                if not deleting(stored.tree):
                    cluster.delete(kind, name, name_of(stored.tree))
            remaining += len(cluster.store.all(kind, name))
        if remaining:
            return cluster.clock() + _RETRY
        stored_now = cluster.get(self._kind, "", name)
        meta = metadata(stored_now.tree)
        if not meta.get("finalizers"):
            spec = {
                key: value
                for key, value in (dig(stored_now.tree, "spec") or {}).items()
                if key != "finalizers"
            }
            cluster.store.remove(self._kind, "", name, last={**stored_now.tree, "spec": spec})
        return None
