"""The base of the controllers of workloads, whose objects control objects of one other kind."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from demo.lookalikes.kubernetes.controllers.indexes import controller_key, own_key
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.objects import Json
from demo.lookalikes.kubernetes.store import Change, ObjectKey


class WorkloadController(ABC):
    """A controller of the objects of one kind, each reconciled after a change of it or of what it controls."""

    plural: ClassVar[str]
    controls: ClassVar[str] = "pods"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kind = tools.cluster.kinds.named(self.plural)
        self._controlled = tools.cluster.kinds.named(self.controls)

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        yield from own_key(change, self._kind.listing)
        if change.kind.listing == self._controlled.listing:
            yield from controller_key(change, self._kind.kind)

    def reconcile(self, key: ObjectKey) -> datetime | None:
        tree = self._tools.find(self._kind, key)
        if tree is not None:
            self._bring_about(tree)
        return None

    @abstractmethod
    def _bring_about(self, tree: Json) -> None:
        """Bring the cluster nearer to what the object says. It is not being deleted."""
