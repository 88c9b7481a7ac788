"""cluster-proportional-autoscaler: which Deployment it scales, by which ConfigMap, and which nodes it counts."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEPLOYMENTS, DNS_AUTOSCALERS
from collectors.cluster.objects import Deployment, Node
from collectors.cluster.resources import parse_quantity
from collectors.facts.proportional import Linear

_OPTION = r"--{}[= ](?P<value>\S+)"
_TARGET = re.compile(_OPTION.format("target"), re.IGNORECASE)
_CONFIGMAP = re.compile(_OPTION.format("configmap"), re.IGNORECASE)
_NODE_LABELS = re.compile(_OPTION.format("nodelabels"), re.IGNORECASE)
_TAG = re.compile(r":v?(?P<major>\d+)\.(?P<minor>\d+)\.(?P<patch>\d+)")
_COUNTS_READY = (1, 10, 1)  # the first version that counts Ready nodes only
_NANO = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoscaler:
    """One that runs. `config` is its ConfigMap, `namespace/name`. The defaults are those of the newest version."""

    config: str = ""
    creates_config: bool = False  # from `--default-params`, when there is none
    counts_unready: bool = False
    node_labels: str = ""  # a selector: only these nodes count

    def counts(self, node: Node, linear: Linear) -> bool:
        """Whether it counts this node."""
        if not _selects(self.node_labels, node.metadata.labels or {}):
            return False
        if linear.counts_unschedulable:
            return True
        return not node.spec.unschedulable and (self.counts_unready or _is_ready(node))

    def count(self, nodes: Iterable[Node], linear: Linear) -> tuple[int, int]:
        """Return how many of these nodes it counts, and their cores: what is allocatable, rounded up as a whole."""
        return _size([node for node in nodes if self.counts(node, linear)])

    def count_all(self, nodes: Iterable[Node]) -> tuple[int, int]:
        """Return the same with nodes that are cordoned or not Ready."""
        return _size([node for node in nodes if _selects(self.node_labels, node.metadata.labels or {})])

    def replicas(self, nodes: Iterable[Node], linear: Linear) -> int:
        """Return the replicas that it sets with these nodes."""
        counted, cores = self.count(nodes, linear)
        return linear.replicas(nodes=counted, cores=cores)


def autoscaler_of(inventory: Inventory, target: Deployment) -> Autoscaler | None:
    """Return the autoscaler that runs for this Deployment, found by its `--target`."""
    wanted = f"deployment/{target.metadata.name}".lower()
    for deployment in inventory.all(DEPLOYMENTS).values():
        if deployment.metadata.namespace != target.metadata.namespace or deployment.spec.replicas == 0:
            continue
        for container in deployment.spec.template.spec.containers or ():
            line = " ".join((*(container.command or ()), *(container.args or ())))
            targets, config = _value(_TARGET, line), _value(_CONFIGMAP, line)
            if config and wanted in (one.strip().lower() for one in targets.split(",")):
                return Autoscaler(
                    config=f"{target.metadata.namespace}/{config}",
                    creates_config="--default-params" in line,
                    counts_unready=_version(container.image) < _COUNTS_READY,
                    node_labels=_value(_NODE_LABELS, line),
                )
    return None


def cached_configs(inventory: Inventory) -> dict[str, Mapping[str, str]]:
    """Return the `data` of the autoscalers' ConfigMaps that are watched, by `namespace/name`."""
    return {key: config.data or {} for kind in DNS_AUTOSCALERS for key, config in inventory.all(kind).items()}


def _version(image: str) -> tuple[int, ...]:
    """Return the version in an image's tag; one that is not known is taken as new."""
    found = _TAG.search(image)
    return tuple(int(number) for number in found.groups()) if found else _COUNTS_READY


def _value(option: re.Pattern[str], line: str) -> str:
    found = option.search(line)
    return found["value"].strip("'\"") if found else ""


def _selects(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether a selector of equalities, `key=value,key!=value,key,!key`, selects these labels."""
    return all(_matches(term.strip(), labels) for term in selector.split(",") if term.strip())


def _matches(term: str, labels: Mapping[str, str]) -> bool:
    key, equals, value = term.partition("=")
    if not equals:
        return term[1:] not in labels if term.startswith("!") else term in labels
    if key.endswith("!"):
        return labels.get(key[:-1].strip()) != value.strip()
    return labels.get(key.strip()) == value.removeprefix("=").strip()


def _is_ready(node: Node) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in node.status.conditions or ())


def _size(nodes: list[Node]) -> tuple[int, int]:
    each = (parse_quantity((node.status.allocatable or {}).get("cpu", "0")) for node in nodes)
    nanos = sum(
        round(cores * _NANO) for cores in each
    )  # whole numbers: a sum of fractions would not be exact
    return len(nodes), -(-nanos // _NANO)
