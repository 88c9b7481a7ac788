"""YAML as frozen nodes with their locations, read as Prometheus' YAML library does (true and null as in YAML 1.2), with
limits on size, depth and expanded aliases."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

LARGEST = 4 * 1024 * 1024  # characters
DEEPEST = 60
MOST_NODES = 500_000  # with every alias expanded

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # Prometheus' library is a port of libyaml
_NULL = ("", "~", "null", "Null", "NULL")
_BOOL = ("true", "True", "TRUE", "false", "False", "FALSE")
_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)", re.ASCII)
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    re.ASCII,
)
_SURROGATE = re.compile("[\ud800-\udfff]")  # left by bytes that are not UTF-8
_STANDARD = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    line: int  # from 1, as the column
    column: int
    size: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarNode(_Node):
    """A text with its kind: str, null, bool, int, float, merge, or a tag as written."""

    text: str
    kind: str
    style: str = ""  # "", ', ", | or >


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNode(_Node):
    items: "tuple[YamlNode, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode(_Node):
    """Keys and values in file order, including repeated keys."""

    pairs: "tuple[tuple[YamlNode, YamlNode], ...]" = ()


YamlNode = ScalarNode | ListNode | MapNode


class YamlError(Exception):
    """A text that is not YAML or exceeds a limit."""

    def __init__(self, what: str, *, line: int, column: int) -> None:
        super().__init__(what)
        self.line = line
        self.column = column


def documents(text: str) -> list[YamlNode]:
    """Return the documents of a text, none if it is empty. Raise YamlError."""
    if len(text) > LARGEST:
        raise YamlError(f"larger than {LARGEST // (1024 * 1024)} MiB: split it", line=1, column=1)
    if found := _SURROGATE.search(text):
        location = found.start()
        line = text.count("\n", 0, location) + 1
        raise YamlError("not valid UTF-8", line=line, column=location - text.rfind("\n", 0, location))
    try:
        return _Composer(yaml.parse(text, Loader=_Loader)).run()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise YamlError(
            f"not YAML: {what}", line=mark.line + 1 if mark else 1, column=mark.column + 1 if mark else 1
        ) from None
    except yaml.YAMLError as error:
        location = getattr(error, "position", 0) or 0
        line = text.count("\n", 0, location) + 1
        raise YamlError(f"not YAML: {_first_line(error)}", line=line, column=1) from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["unreadable"])[0]


class _Composer:
    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self.events = events
        self.anchors: dict[str, YamlNode | None] = {}  # None while the node is being read
        self.nodes = 0

    def run(self) -> list[YamlNode]:
        found: list[YamlNode] = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors = {}
                found.append(self.node(next(self.events), 1))
        return found

    def node(self, event: yaml.Event, depth: int) -> YamlNode:
        mark = event.start_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        self.nodes += 1
        if depth > DEEPEST:
            raise YamlError(f"nested deeper than {DEEPEST}", line=line, column=column)
        if self.nodes > MOST_NODES:
            raise YamlError(f"more than {MOST_NODES} values", line=line, column=column)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event.anchor or "", line, column)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self.anchors[anchor] = None
        node: YamlNode
        if isinstance(event, yaml.ScalarEvent):
            kind = _kind(event)
            node = ScalarNode(
                line=line, column=column, text=event.value, kind=kind, style=(event.style or "").strip()
            )
        elif isinstance(event, yaml.SequenceStartEvent):
            items = tuple(self.inside(yaml.SequenceEndEvent, depth))
            node = ListNode(line=line, column=column, items=items, size=1 + sum(item.size for item in items))
        else:
            flat = tuple(self.inside(yaml.MappingEndEvent, depth))
            pairs = tuple(zip(flat[::2], flat[1::2], strict=True))
            node = MapNode(line=line, column=column, pairs=pairs, size=1 + sum(part.size for part in flat))
        if node.size > MOST_NODES:
            raise YamlError(f"aliases expand to more than {MOST_NODES} values", line=line, column=column)
        if anchor:
            self.anchors[anchor] = node
        return node

    def inside(self, end: type, depth: int) -> Iterator[YamlNode]:
        for event in self.events:
            if isinstance(event, end):
                return
            yield self.node(event, depth + 1)

    def alias(self, anchor: str, line: int, column: int) -> YamlNode:
        if anchor not in self.anchors:
            raise YamlError(f"unknown anchor '{anchor}'", line=line, column=column)
        if (node := self.anchors[anchor]) is None:
            raise YamlError(f"anchor '{anchor}' contains itself", line=line, column=column)
        return node


def _kind(event: yaml.ScalarEvent) -> str:
    if event.tag:
        tag = str(event.tag)
        return tag.removeprefix(_STANDARD) if tag != "!" else "str"
    if event.style:
        return "str"
    text = str(event.value)
    if text in _NULL:
        return "null"
    if text in _BOOL:
        return "bool"
    if text == "<<":
        return "merge"
    if _INTEGER.fullmatch(text):
        return "int"
    return "float" if _FLOAT.fullmatch(text) else "str"
