"""Rights in Kubernetes: what a step or a command needs."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """A Kubernetes permission that a command needs: for the chart's RBAC and for `doctor`."""

    group: str  # "" for the core group
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    namespace: str = ""  # the only namespace that needs it; "" for the whole cluster
    names: tuple[str, ...] = ()  # the only objects that need it; empty for all


class RightsOfKinds(Collection[Right]):
    """Rights that follow from a catalogue of kinds, which is asked each time."""

    def __init__(self, ask: Callable[[], Collection[Right]]) -> None:
        self._ask = ask

    def __iter__(self) -> Iterator[Right]:
        return iter(self._ask())

    def __len__(self) -> int:
        return len(self._ask())

    def __contains__(self, right: object) -> bool:
        return right in self._ask()
