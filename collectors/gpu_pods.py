"""The pods on GPUs, as the series of the GPUs name them: the query, and what its samples say. Pure."""

import re
from collections.abc import Iterable, Mapping

from collectors.facts.label_mapping import DEFAULT, LabelMapping, subject_of
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Sample
from collectors.facts.topology import PodKey, Topology, gpu_keys

GpuKey = tuple[str, str]

# A GPU that fell off the bus no longer has samples; a pod that is gone by now is left out by the topology.
LOOK_BACK = "10m"
MOST_GPUS = 200  # per query
_METRICS = "DCGM_FI_DEV_GPU_TEMP|DCGM_FI_DEV_GPU_UTIL|DCGM_FI_PROF_GR_ENGINE_ACTIVE|dcgm_gpu_temp|dcgm_gpu_utilization"
_PCI = "pci_bus_id"
_PLAIN = re.compile(r"[A-Za-z0-9:-]+")  # a name that is the same in a regular expression


def pods_query(keys: Iterable[GpuKey], *, mapping: LabelMapping = DEFAULT) -> PromQLQuery | None:
    """Return the query for the series of these GPUs; None for no GPU. An index is asked for on every node."""
    chosen = [key for key in dict.fromkeys(keys) if _PLAIN.fullmatch(key[1])][:MOST_GPUS]
    uuids = sorted(name for node, name in chosen if not node)
    on_nodes = {name for node, name in chosen if node}
    indexes = sorted(name for name in on_nodes if name.isdigit())
    selectors = [f'{label}=~"{_any_of(uuids)}"' for label in mapping.uuids if uuids]
    selectors += [f'{label}=~"{_any_of(indexes)}"' for label in mapping.gpus[:3] if indexes]
    if addresses := sorted(on_nodes.difference(indexes)):
        selectors.append(f'{_PCI}=~"(?i)({"|".join(map(_written, addresses))})"')
    parts = [f'last_over_time({{__name__=~"{_METRICS}",{selector}}}[{LOOK_BACK}])' for selector in selectors]
    return PromQLQuery(expr=" or ".join(parts)) if parts else None


def pods_by_gpu(samples: Iterable[Sample], topology: Topology) -> Mapping[GpuKey, tuple[PodKey, ...]]:
    """Return the pods that the samples name, by each of the keys of their GPU."""
    found: dict[GpuKey, dict[PodKey, None]] = {}
    for sample in samples:
        labels: Labels = sample.labels
        subject = subject_of(labels)
        if not subject.pod or not subject.namespace:
            continue
        for key in gpu_keys(topology.complete(subject), labels.get(_PCI, "")):
            found.setdefault(key, {})[subject.namespace, subject.pod] = None
    return {key: tuple(pods) for key, pods in found.items()}


def _any_of(names: Iterable[str]) -> str:
    return "|".join(names)


def _written(address: str) -> str:
    """Return a pattern for an address on the bus, in the width that an exporter writes."""
    domain, bus, device = address.split(":")
    return f"0*{domain}:0*{bus}:0*{device}([.][0-7])?"
