"""Values of YAML nodes, with a diagnostic for each error that Prometheus' loader would report."""

import binascii
import re
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta
from difflib import get_close_matches

from alerts.loading.yaml_nodes import ListNode, MapNode, ScalarNode, YamlNode
from alerts.rules import Diagnostic, FileLocation
from collectors.facts.clock import duration
from collectors.facts.sentences import counted

MAX_DIAGNOSTICS = 500  # per file; the rest are only counted
_LONGEST_SPAN = timedelta(microseconds=(2**63 - 1) // 1000)  # the longest duration in Prometheus
_DURATION = re.compile(r"(?:[0-9]{1,18}(?:ms|[ywdhms]))+", re.ASCII)


class NodeReader:
    """A file being read: its name, its lines and the diagnostics so far."""

    def __init__(self, *, file: str, text: str) -> None:
        self.file = file
        self.lines = text.split("\n")
        self.found: list[Diagnostic] = []
        self.doubtful: list[Diagnostic] = []
        self.more = 0

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics in file order."""
        found = _in_order(self.found)
        if self.more:
            found.append(
                Diagnostic(
                    location=FileLocation(file=self.file),
                    message=counted(
                        "and {count} more diagnostic", "and {count} more diagnostics", count=self.more
                    ),
                )
            )
        return tuple(found)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is valid, and probably not what was meant, in file order."""
        return tuple(_in_order(self.doubtful))

    def location(self, node: YamlNode) -> FileLocation:
        return FileLocation(file=self.file, line=node.line, column=node.column)

    def error(self, node: YamlNode, what: str) -> None:
        self.error_at(self.location(node), what)

    def error_at(self, location: FileLocation, what: str) -> None:
        if len(self.found) >= MAX_DIAGNOSTICS:
            self.more += 1
            return
        diagnostic = Diagnostic(location=location, message=what)
        if diagnostic not in self.found[-5:]:  # an aliased node is read once per use
            self.found.append(diagnostic)

    def warn(self, node: YamlNode, what: str) -> None:
        """Note what the rules can be used with all the same, as in promtool."""
        warning = Diagnostic(location=self.location(node), message=what)
        if len(self.doubtful) < MAX_DIAGNOSTICS and warning not in self.doubtful[-5:]:
            self.doubtful.append(warning)

    def pairs(self, node: YamlNode, what: str) -> list[tuple[str, YamlNode, YamlNode]]:
        """Return name, key and value of each entry of a mapping, with merges expanded; nothing for null."""
        if is_null(node):
            return []
        if not isinstance(node, MapNode):
            self.error(node, f"{what} must be a mapping, not {described(node)}")
            return []
        found: dict[str, tuple[str, YamlNode, YamlNode]] = {}
        merged: list[tuple[str, YamlNode, YamlNode]] = []
        for key, value in node.pairs:
            if isinstance(key, ScalarNode) and key.kind == "merge":
                merged += self.merged(value, what)
                continue
            name = self.text(key, "a key")
            if name is None:
                continue
            if name in found:
                self.error(key, f'mapping key "{name}" already defined at line {found[name][1].line}')
            else:
                found[name] = (name, key, value)
        for entry in merged:
            found.setdefault(entry[0], entry)
        return list(found.values())

    def merged(self, node: YamlNode, what: str) -> Iterator[tuple[str, YamlNode, YamlNode]]:
        sources = node.items if isinstance(node, ListNode) else (node,)
        for source in sources:
            if isinstance(source, MapNode):
                yield from self.pairs(source, what)
            else:
                self.error(node, "map merge requires map or sequence of maps as the value")

    def fields(self, node: YamlNode, known: Collection[str], what: str) -> dict[str, YamlNode]:
        """Return the fields of a mapping; a field that is not in `known` is an error."""
        found: dict[str, YamlNode] = {}
        for name, key, value in self.pairs(node, what):
            if name in known:
                found[name] = value
            else:
                self.error(key, f"unknown field `{name}` in {what}{did_you_mean(name, known)}")
        return found

    def items(self, node: YamlNode | None, what: str) -> tuple[YamlNode, ...]:
        """Return the items of a list without its nulls, as in Prometheus."""
        if node is None or is_null(node):
            return ()
        if isinstance(node, ListNode):
            return tuple(item for item in node.items if not is_null(item))
        self.error(node, f"{what} must be a list, not {described(node)}")
        return ()

    def text(self, node: YamlNode | None, what: str) -> str | None:
        """Return a scalar's text as written; empty for null, None and a diagnostic for a list or a mapping."""
        if node is None:
            return None
        if not isinstance(node, ScalarNode):
            self.error(node, f"{what} must be text, not {described(node)}")
            return None
        if node.kind == "binary":
            try:
                return b64decode(node.text, validate=False).decode("utf-8")
            except (binascii.Error, ValueError):
                self.error(node, f"{what} is not valid base64 of UTF-8 text")
                return None
        return "" if node.kind == "null" else node.text

    def texts(self, node: YamlNode | None, what: str) -> dict[str, tuple[str, YamlNode]]:
        """Return texts by name, with their nodes."""
        found: dict[str, tuple[str, YamlNode]] = {}
        for name, _key, value in self.pairs(node, what) if node is not None else ():
            text = self.text(value, f"{what}: `{name}`")
            if text is not None:
                found[name] = (text, value)
        return found

    def span(self, node: YamlNode | None, what: str) -> timedelta | None:
        """Return a duration in Prometheus' format; None if it is missing, null or invalid."""
        if node is None or is_null(node):
            return None
        text = self.text(node, what)
        if text is None:
            return None
        try:
            return parse_span(text)
        except ValueError as error:
            self.error(node, f"{what}: {error}")
            return None

    def whole(self, node: YamlNode | None, what: str) -> int:
        if node is None or is_null(node):
            return 0
        if isinstance(node, ScalarNode) and node.kind in ("int", "float"):
            try:
                digits = node.text.replace("_", "")
                return _integer(digits) if node.kind == "int" else int(float(digits))
            except (ValueError, OverflowError):
                pass
        self.error(node, f"{what} must be a whole number, not {described(node)}")
        return 0

    def number(self, node: YamlNode | None, what: str, *, otherwise: float) -> float:
        if node is None:
            return otherwise
        if isinstance(node, ScalarNode) and node.kind in ("int", "float"):
            try:
                digits = node.text.replace("_", "")
                value = float(_integer(digits)) if node.kind == "int" else float(digits)
                if abs(value) < float("inf"):
                    return value
            except (ValueError, OverflowError):
                pass
        self.error(node, f"{what} must be a number, not {described(node)}")
        return otherwise

    def value(self, node: YamlNode, what: str) -> object:
        """Return a node as a plain value: a text, number, bool, None, or a tuple or dict of these."""
        match node:
            case ListNode():
                return tuple(self.value(item, what) for item in node.items)
            case MapNode():
                return {name: self.value(value, what) for name, _key, value in self.pairs(node, what)}
            case ScalarNode():
                if node.kind == "null":
                    return None
                if node.kind == "bool":
                    return node.text.lower() == "true"
                if node.kind == "int":
                    return self.whole(node, what)
                if node.kind == "float":
                    return float(node.text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
                return node.text


def _integer(digits: str) -> int:
    if len(digits) > 30:
        raise ValueError(digits)
    plain = digits.lstrip("+-")
    sign = -1 if digits.startswith("-") else 1
    if len(plain) > 1 and plain[0] == "0" and plain.isdecimal():
        return sign * int(plain, 8)
    return sign * int(plain, 0)


def parse_span(text: str) -> timedelta:
    """Parse a duration of a rule file. Raise ValueError with a text for people."""
    if not text:
        raise ValueError("empty duration: write it like 30s, 5m, 1h30m or 7d")
    if text != "0" and not _DURATION.fullmatch(text):
        raise ValueError(f"`{text[:60]}` is not a duration: write it like 30s, 5m, 1h30m or 7d")
    try:
        span = duration(text)
    except OverflowError:
        span = timedelta.max
    if span > _LONGEST_SPAN:
        raise ValueError(f"the duration `{text[:60]}` is out of range")
    return span


def is_null(node: YamlNode) -> bool:
    return isinstance(node, ScalarNode) and node.kind == "null"


def described(node: YamlNode) -> str:
    match node:
        case MapNode():
            return "a mapping"
        case ListNode():
            return "a list"
        case ScalarNode():
            return "nothing" if node.kind == "null" else f"`{node.text[:40]}`"


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Return `; did you mean …?`, or the known words if none is close; empty if there are none or too many."""
    if near := get_close_matches(word, known, n=1):
        return f"; did you mean `{near[0]}`?"
    return f"; must be one of {', '.join(sorted(known))}" if known and len(known) <= 12 else ""


def _in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda diagnostic: (diagnostic.location.line, diagnostic.location.column))
