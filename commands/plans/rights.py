"""Rights in Kubernetes: what a step or a command needs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """A Kubernetes permission that a command needs: for the chart's RBAC and for `doctor`."""

    group: str  # "" for the core group
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    namespace: str = ""  # the only namespace that needs it; "" for the whole cluster
    names: tuple[str, ...] = ()  # the only objects that need it; empty for all
