"""Lines of hosts: of their journals and files, and of the pods that DaemonSets run on them.

A kernel's line in the log of another pod is a quotation: of a chat, of a build, of a person who searches for it.
"""

from collections.abc import Callable
from dataclasses import replace

from collectors.facts.labels import Labels
from collectors.facts.topology import Topology
from collectors.facts.workload_keys import parse_workload
from collectors.logs.log_store import LineSearch, LogStore

_OF_POD = ("namespace", "pod")


def of_host(store: LogStore, search: LineSearch, topology: Callable[[], Topology] | None) -> LineSearch:
    """Return the search in which only lines of hosts count. Without the pods of the cluster all lines do."""
    if not store.has("pod") or topology is None or not (pods := topology().pods):
        return search
    further = tuple(name for name in _OF_POD if name not in search.by and store.has(name))

    def counted(labels: Labels) -> Labels | None:
        if labels.get("pod"):
            pod = pods.get((labels.get("namespace", ""), labels["pod"]))
            if pod is None or not _is_daemon(pod.workload):
                return None
        return labels.without(*further)

    return replace(search, by=(*search.by, *further), counted_as=counted)


def _is_daemon(workload: str) -> bool:
    """Whether a DaemonSet runs it, also one that others than Kubernetes define."""
    return bool(workload) and parse_workload(workload).kind.partition(".")[0] == "DaemonSet"
