"""The list of controllers."""

from collections.abc import Sequence

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.controllers.controller import Controller, Settings
from demo.lookalikes.kubernetes.controllers.daemonsets import DaemonSets
from demo.lookalikes.kubernetes.controllers.deployments import Deployments
from demo.lookalikes.kubernetes.controllers.disruption import Disruption
from demo.lookalikes.kubernetes.controllers.endpoints import Endpoints
from demo.lookalikes.kubernetes.controllers.events import EventExpiry, EventRecorder
from demo.lookalikes.kubernetes.controllers.garbage import GarbageCollector, LostPods
from demo.lookalikes.kubernetes.controllers.indexes import Indexes
from demo.lookalikes.kubernetes.controllers.jobs import Jobs
from demo.lookalikes.kubernetes.controllers.namespaces import Namespaces
from demo.lookalikes.kubernetes.controllers.node_lifecycle import NodeLifecycle
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.controllers.replicasets import ReplicaSets
from demo.lookalikes.kubernetes.controllers.scheduling import Scheduler
from demo.lookalikes.kubernetes.controllers.statefulsets import StatefulSets


def all_controllers(cluster: Cluster, indexes: Indexes, settings: Settings) -> Sequence[Controller]:
    """Return one of each, in the order in which they handle a round of changes."""
    tools = Tools(cluster, indexes, EventRecorder(cluster))
    return (
        Namespaces(tools),
        NodeLifecycle(tools, settings),
        Deployments(tools),
        ReplicaSets(tools),
        StatefulSets(tools),
        DaemonSets(tools),
        Jobs(tools),
        *((Scheduler(tools),) if settings.schedule else ()),
        Endpoints(tools),
        Disruption(tools),
        GarbageCollector(tools),
        LostPods(tools, settings),
        EventExpiry(cluster),
    )
