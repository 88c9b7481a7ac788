"""This file lists the controllers."""

from __future__ import annotations

from collections.abc import Sequence

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.controllers.controller import Controller, Settings
from demo.lookalikes.kubernetes.controllers.daemonsets import DaemonSets
from demo.lookalikes.kubernetes.controllers.deployments import Deployments
from demo.lookalikes.kubernetes.controllers.disruption import Disruption
from demo.lookalikes.kubernetes.controllers.endpoints import Endpoints
from demo.lookalikes.kubernetes.controllers.events import EventExpiry, Events
from demo.lookalikes.kubernetes.controllers.garbage import Garbage, LostPods
from demo.lookalikes.kubernetes.controllers.indexes import Indexes
from demo.lookalikes.kubernetes.controllers.jobs import Jobs
from demo.lookalikes.kubernetes.controllers.namespaces import Namespaces
from demo.lookalikes.kubernetes.controllers.nodelife import NodeLife
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.controllers.replicasets import ReplicaSets
from demo.lookalikes.kubernetes.controllers.scheduling import Scheduler
from demo.lookalikes.kubernetes.controllers.statefulsets import StatefulSets


def all_controllers(cluster: Cluster, indexes: Indexes, settings: Settings) -> Sequence[Controller]:
    """Return one of each, in the order in which they act on one round of changes."""
    tools = Tools(cluster, indexes, Events(cluster))
    return (
        Namespaces(tools),
        NodeLife(tools, settings),
        Deployments(tools),
        ReplicaSets(tools),
        StatefulSets(tools),
        DaemonSets(tools),
        Jobs(tools),
        *((Scheduler(tools),) if settings.schedule else ()),
        Endpoints(tools),
        Disruption(tools),
        Garbage(tools),
        LostPods(tools, settings),
        EventExpiry(cluster),
    )
