"""Fields of labels that no list of names has, found in documents themselves. Pure.

What a field holds decides where that can be known: a node's field holds names of the cluster's nodes, the text of a
line is its longest one. The other labels go by the end of a field's name, however it is written: `nodeName`,
`labels.node_name` and `Resource.k8s.node.name` end alike. What is not clear is not used.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from collectors.sources.elasticsearch.wire import Scalar

# The ends of names, the surest first.
_ENDS: Mapping[str, tuple[str, ...]] = {
    "time": ("timestamp", "time", "isodate", "timereported", "datetime", "ts", "date"),
    "node": ("node_name", "nodename", "node", "host_name", "hostname", "logsource", "host"),
    "namespace": ("namespace_name", "pod_namespace", "namespace"),
    "pod": ("pod_name", "pod"),
    "container": ("container_name", "container"),
    "component": (
        "service_name",
        "systemd_unit",
        "syslog_identifier",
        "unit",
        "identifier",
        "ident",
        "program_name",
        "programname",
        "program",
        "syslog_program",
        "app_name",
        "appname",
        "process_name",
        "container_name",
        "container",
    ),
}
_OF_PODS = ("namespace", "pod", "container")
_NEVER = ("data_stream_", "agent_", "ecs_", "input_", "event_")  # what shippers say of themselves
_NEARLY_ALL = 0.9
_LONGER = 1.5  # than any other text
_WORDS = 2
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_LETTER = re.compile(r"[^a-z0-9]+")

Values = Mapping[str, tuple[Scalar, ...]]  # of one document, by field


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledDocument:
    """A recent document of an index: the values of its fields."""

    index: str
    values: Values


def flat(source: object, above: str = "") -> Iterator[tuple[str, Scalar]]:
    """Yield the fields of a document and their values, as field_caps names them."""
    if isinstance(source, Mapping):
        for name, inside in source.items():
            yield from flat(inside, f"{above}.{name}" if above else str(name))
    elif isinstance(source, list):
        for inside in source:
            yield from flat(inside, above)
    elif isinstance(source, str | int | float) and not isinstance(source, bool):
        yield above, source


def looked_up(
    documents: Sequence[SampledDocument],
    names: Mapping[str, Sequence[str]],
    node_of: Callable[[str], str] | None,
) -> Mapping[str, tuple[str, ...]]:
    """Return further fields of these labels, from the documents in which none of `names` says it.

    `node_of`: the node of the cluster that a value names, empty for none; None while its nodes are not known.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)
    by_index: dict[str, list[Values]] = defaultdict(list)
    for document in documents:
        by_index[document.index].append(document.values)
    for of_index in by_index.values():
        for label, known in names.items():
            lacking = [one for one in of_index if not _says(label, one, known, node_of)]
            if not lacking:
                continue
            if label == "message":
                name = _longest_text(lacking)
            elif label == "node" and node_of is not None:
                name = _naming_nodes(lacking, node_of)
            elif label in _ENDS and label != "time":
                name = _ending(lacking, label)
            else:
                continue
            if name:
                found[label][name] = None
    return {label: tuple(names) for label, names in found.items()}


def time_among(dates: Sequence[str]) -> str:
    """Return which of these fields of dates is the time of a line; empty when that is not clear."""
    if len(dates) == 1:
        return dates[0]
    for end in _ENDS["time"]:
        ending = [name for name in dates if _plain(name) == end]
        if ending:
            return ending[0] if len(ending) == 1 else ""
    return ""


def _says(label: str, values: Values, known: Sequence[str], node_of: Callable[[str], str] | None) -> bool:
    said = [str(values[name][0]) for name in known if values.get(name)]
    if label == "node" and node_of is not None:
        return any(map(node_of, said))
    return any(said)


def _longest_text(documents: Sequence[Values]) -> str:
    lengths: Counter[str] = Counter()
    for values in documents:
        for name, of_it in values.items():
            text = of_it[0]
            if isinstance(text, str) and len(text.split()) >= _WORDS:
                lengths[name] += len(text)
    ranked = lengths.most_common(2)
    if not ranked or not _is_in_nearly_all(ranked[0][0], documents):
        return ""
    is_clear = len(ranked) == 1 or ranked[0][1] >= _LONGER * ranked[1][1]
    return ranked[0][0] if is_clear else ""


def _naming_nodes(documents: Sequence[Values], node_of: Callable[[str], str]) -> str:
    """Return the field whose values are all nodes; none when several name different ones."""
    names = {name for values in documents for name in values}
    found = [
        name
        for name in sorted(names, key=lambda name: (len(name), name))
        if _is_in_nearly_all(name, documents)
        and all(
            len(of_it := values.get(name, ())) <= 1 and all(map(node_of, map(str, of_it)))
            for values in documents
        )
    ]
    said = {tuple(node_of(str(values.get(name, ("",))[0])) for values in documents) for name in found}
    return found[0] if len(said) == 1 else ""


def _ending(documents: Sequence[Values], label: str) -> str:
    names = {name for values in documents for name in values if not _plain(name).startswith(_NEVER)}
    if label in _OF_PODS and not all(_with_end(names, _ENDS[one]) for one in ("namespace", "pod")):
        return ""  # a namespace alone may be anything's
    return _with_end({name for name in names if _is_in_nearly_all(name, documents)}, _ENDS[label])


def _with_end(names: set[str], ends: Sequence[str]) -> str:
    for end in ends:
        ending = [name for name in names if (plain := _plain(name)) == end or plain.endswith(f"_{end}")]
        if ending:
            return min(ending, key=lambda name: (len(name), name))
    return ""


def _is_in_nearly_all(name: str, documents: Sequence[Values]) -> bool:
    return sum(name in values for values in documents) >= _NEARLY_ALL * len(documents)


def _plain(name: str) -> str:
    return _NO_LETTER.sub("_", _CAMEL.sub("_", name).lower()).strip("_")
