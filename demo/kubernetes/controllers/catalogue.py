"""This file lists the controllers."""

from __future__ import annotations

from collections.abc import Sequence

from demo.kubernetes.cluster import Cluster
from demo.kubernetes.controllers.daemonsets import DaemonSets
from demo.kubernetes.controllers.deployments import Deployments
from demo.kubernetes.controllers.disruption import Disruption
from demo.kubernetes.controllers.endpoints import Endpoints
from demo.kubernetes.controllers.events import EventExpiry, Events
from demo.kubernetes.controllers.garbage import Garbage, LostPods
from demo.kubernetes.controllers.indexes import Indexes
from demo.kubernetes.controllers.jobs import Jobs
from demo.kubernetes.controllers.namespaces import Namespaces
from demo.kubernetes.controllers.nodelife import NodeLife
from demo.kubernetes.controllers.podmaking import Tools
from demo.kubernetes.controllers.replicasets import ReplicaSets
from demo.kubernetes.controllers.running import Controller, Settings
from demo.kubernetes.controllers.scheduling import Scheduler
from demo.kubernetes.controllers.statefulsets import StatefulSets


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
