"""Labels of no list that split the same series: of the environments in one store, or of copies. Pure.

Where a store holds several environments, a node has the same series several times, and a label such as `env` tells them
apart. It stands on the series of every target, unlike what an exporter gives its own.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from collectors.facts.label_mapping import NAMING_LABELS
from collectors.facts.results import Sample
from collectors.sources.prometheus.dialects.scoping import CLUSTERS, COPIES

SAMPLED = 8  # nodes
_METRICS = "kube_node_info|node_uname_info|DCGM_FI_DEV_GPU_TEMP"
_NODES = ("node", "exported_node", "nodename", "Hostname")
_SAME = (
    "__name__",
    "job",
    "gpu",
    *_NODES,
    *CLUSTERS,
    *COPIES,
)  # two series that differ in one are not the same
_MOST = 8  # labels


def sampled_query(nodes: Sequence[str]) -> str:
    """Return the query for series of these nodes, by the labels that name them."""
    names = json.dumps("|".join(map(re.escape, nodes)))
    return " or ".join(f'{{__name__=~"{_METRICS}", {label}=~{names}}}' for label in _NODES)


def splitting(found: Iterable[Sample]) -> tuple[str, ...]:
    """Return the labels by which nodes have the same series several times. Not all of them are of every target."""
    same: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for sample in found:
        same[tuple(sample.labels.get(name, "") for name in _SAME)].append(sample)
    left_out = {*NAMING_LABELS, *_SAME}
    split = {
        label
        for samples in same.values()
        for label in {name for sample in samples for name in sample.labels} - left_out
        if len({sample.labels.get(label, "") for sample in samples}) > 1
    }
    return tuple(sorted(split))[:_MOST]


def targets_query(labels: Sequence[str]) -> str:
    """Return the query for the targets of each job, by these labels."""
    return f"count by (job, {', '.join(labels)}) (up)"


def of_every_target(labels: Sequence[str], found: Sequence[Sample]) -> tuple[str, ...]:
    """Return those labels of which several values stand on targets of several jobs each: so no exporter gives them.

    Where there is one job at all, it is enough.
    """
    jobs = len({sample.labels.get("job", "") for sample in found})
    several = []
    for label in labels:
        of: dict[str, set[str]] = defaultdict(set)
        for sample in found:
            of[sample.labels.get(label, "")].add(sample.labels.get("job", ""))
        if sum(len(some) >= min(2, jobs) for some in of.values()) > 1:
            several.append(label)
    return tuple(several)
