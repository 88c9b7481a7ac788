"""The labels of a result as the packs name them: nodes by their names, without what the rewriting added."""

import re
from collections.abc import Collection

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.promql_rewriting import AUXILIARY

_DEVICE = re.compile(r"nvidia(\d+)")  # where an exporter gives no index


class LabelRestorer:
    """Restores the labels of one result."""

    def __init__(self, node_labels: Collection[str], nodes: NodeNames | None) -> None:
        self._node_labels = node_labels
        self._nodes = nodes
        self._named: dict[str, str] = {}

    def __call__(self, labels: Labels) -> Labels:
        added = [name for name, _ in labels.pairs if name.startswith(AUXILIARY)]
        if added:
            labels = labels.without(*added)
        if device := _DEVICE.fullmatch(labels.get("gpu", "")):
            labels = labels.with_(gpu=device[1])
        for name in self._node_labels:
            value = labels.get(name, "")
            if value and self._nodes is not None:
                node = self._named.get(value)
                if node is None:
                    node = self._named[value] = self._nodes.of(value) or value
                if node != value:
                    labels = labels.with_(**{name: node})
        return labels
