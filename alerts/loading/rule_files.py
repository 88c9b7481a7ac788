"""Loading and validation of rule files: Prometheus' own, PrometheusRule objects, lists of them, and `*.yard.yaml`."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import PurePath

from alerts.loading.annotations import GroupContext, check_template, label_set
from alerts.loading.entries import read_entry
from alerts.loading.node_reader import NodeReader, is_null
from alerts.loading.yaml_nodes import MapNode, ScalarNode, YamlError, YamlNode, documents
from alerts.rules import Diagnostic, FileLocation, RecordingRule, Rule, RuleGroup, Symbols

STANDARD_INTERVAL = timedelta(seconds=15)
_GROUP = ("name", "interval", "query_offset", "limit", "labels", "rules")
_OBJECT_GROUP = (*_GROUP, "partial_response_strategy")  # Thanos' field, allowed in the operator's objects
_OBJECT = ("apiVersion", "kind", "metadata", "spec", "status")
NO_RULES = "0 rules found, so there is nothing to evaluate"
_ENDINGS = (".yard.yaml", ".yard.yml", ".rules.yaml", ".rules.yml", ".yaml", ".yml", ".json", ".rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The content of a rule file: its groups without invalid rules, and every diagnostic.

    `warnings`: what is valid, and probably not what was meant.
    """

    groups: tuple[RuleGroup, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it has no rules, and nothing that would be one."""
        return not self.diagnostics and not any(one.rules or one.recording_rules for one in self.groups)


def load(
    text: str | bytes, *, file: str, symbols: Symbols, own: bool, interval: timedelta = STANDARD_INTERVAL
) -> Loaded:
    """Load a rule file of any kind, validated as by `promtool check rules`. Never raise because of its content.

    A file named `*.yard.yaml` has `logs` or `check` instead of `expr`. `own`: the annotations actions, presence
    and resolve_when have a meaning. `interval` is for groups without their own.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            return _refused(
                file, "not valid UTF-8", line, error.start - error.object.rfind(b"\n", 0, error.start)
            )
    text = text.removeprefix("\ufeff")
    try:
        found = documents(text)
    except YamlError as error:
        return _refused(file, str(error), error.line, error.column)
    reader = NodeReader(file=file, text=text)
    file_reader = _File(reader, pack=pack_of(file), symbols=symbols, own=own, interval=interval)
    groups = file_reader.roots(found)
    return Loaded(groups=with_distinct_ids(groups), diagnostics=reader.diagnostics, warnings=reader.warnings)


def merge(loaded: Iterable[Loaded]) -> Loaded:
    """Combine files: their groups and diagnostics, with distinct rule ids."""
    files = tuple(loaded)
    return Loaded(
        groups=with_distinct_ids([group for file in files for group in file.groups]),
        diagnostics=tuple(diagnostic for file in files for diagnostic in file.diagnostics),
        warnings=tuple(warning for file in files for warning in file.warnings),
    )


def with_distinct_ids(groups: Iterable[RuleGroup]) -> tuple[RuleGroup, ...]:
    """Return the groups with `#2`, `#3`, … appended to repeated ids, in order."""
    taken: set[str] = set()
    counts: Counter[str] = Counter()

    def numbered(group: RuleGroup, rule: Rule) -> Rule:
        plain = name = f"{pack_of(group.file)}/{group.name}/{rule.name}"
        while name in taken:
            counts[plain] += 1
            name = f"{plain}#{counts[plain] + 1}"
        taken.add(name)
        return replace(rule, id=name)

    return tuple(
        replace(group, rules=tuple(numbered(group, rule) for rule in group.rules)) for group in groups
    )


def pack_of(file: str) -> str:
    """Return the file's name without folder and extension: the pack of `packs/gpu.yard.yaml` is `gpu`."""
    name = PurePath(file).name
    return next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end) and name != end), name)


def is_yard(file: str) -> bool:
    return file.endswith((".yard.yaml", ".yard.yml"))


def _refused(file: str, what: str, line: int, column: int) -> Loaded:
    return Loaded(
        diagnostics=(Diagnostic(location=FileLocation(file=file, line=line, column=column), message=what),)
    )


class _File:
    def __init__(
        self, reader: NodeReader, *, pack: str, symbols: Symbols, own: bool, interval: timedelta
    ) -> None:
        self.reader = reader
        self.pack = pack
        self.symbols = symbols
        self.own = own
        self.interval = interval

    def roots(self, found: list[YamlNode]) -> list[RuleGroup]:
        groups: list[RuleGroup] = []
        filled = [node for node in found if not is_null(node)]
        for number, node in enumerate(filled):
            kind = _kind(node)
            if kind is not None:
                groups += self.object(node, kind)
            elif not isinstance(node, MapNode):  # without its text: it may be any file
                self.reader.error(node, "this is not a rule file: it must be a mapping with `groups`")
            elif number == 0:
                groups += self.groups(self.reader.fields(node, ("groups",), "a rule file").get("groups"))
            else:
                self.reader.error(
                    node,
                    "Prometheus reads only the first document of a file: put these rules in a separate file",
                )
        return groups

    def object(self, node: YamlNode, kind: str) -> list[RuleGroup]:
        if kind in ("List", "PrometheusRuleList"):
            items = self.reader.fields(node, (*_OBJECT, "items"), f"a {kind}").get("items")
            groups: list[RuleGroup] = []
            for item in self.reader.items(items, "items"):
                inner = _kind(item)
                if inner is None or inner.endswith("List"):
                    self.reader.error(item, "an item of the list is not a PrometheusRule")
                else:
                    groups += self.object(item, inner)
            return groups
        if kind != "PrometheusRule":
            self.reader.error(
                node, f"a {kind} contains no rules: use a PrometheusRule or a Prometheus rule file"
            )
            return []
        spec = self.reader.fields(node, _OBJECT, "a PrometheusRule").get("spec")
        if spec is None:
            self.reader.error(node, "a PrometheusRule needs `spec`")
            return []
        fields = self.reader.fields(spec, ("groups",), "the spec of a PrometheusRule")
        return self.groups(fields.get("groups"), in_object=True)

    def groups(self, node: YamlNode | None, *, in_object: bool = False) -> list[RuleGroup]:
        groups: list[RuleGroup] = []
        names: set[str] = set()
        for item in self.reader.items(node, "`groups`"):
            fields = self.reader.fields(item, _OBJECT_GROUP if in_object else _GROUP, "a group")
            name = self.reader.text(fields.get("name"), "the name of a group") or ""
            if not name:
                self.reader.error(item, "Groupname must not be empty")
            elif name in names:
                self.reader.error(fields["name"], f'groupname: "{name}" is repeated in the same file')
            names.add(name)
            groups.append(self.group(name, fields))
        return groups

    def group(self, name: str, fields: dict[str, YamlNode]) -> RuleGroup:
        what = f'group "{name}"'
        interval = self.reader.span(fields.get("interval"), f"{what}: interval")
        self.reader.span(fields.get("query_offset"), f"{what}: query_offset")
        labels = label_set(self.reader, fields.get("labels"), before=f"{what}: ")
        for label, (text, node) in labels.items():
            check_template(self.reader, node, text, f'{what}: label "{label}"')
        context = GroupContext(
            group=name,
            pack=self.pack,
            interval=interval or self.interval,
            limit=max(0, self.reader.whole(fields.get("limit"), f"{what}: limit")),
            labels={label: text for label, (text, _node) in labels.items()},
            symbols=self.symbols,
            own=self.own,
            is_yard=is_yard(self.reader.file),
        )
        entries = [
            read_entry(self.reader, item, number, context)
            for number, item in enumerate(self.reader.items(fields.get("rules"), f"{what}: rules"), start=1)
        ]
        return RuleGroup(
            name=name,
            file=self.reader.file,
            interval=interval or None,
            rules=tuple(entry for entry in entries if isinstance(entry, Rule)),
            recording_rules=tuple(entry for entry in entries if isinstance(entry, RecordingRule)),
        )


def _kind(node: YamlNode) -> str | None:
    """Return the `kind` of a Kubernetes object, or None if the node is not one."""
    if isinstance(node, MapNode):
        for key, value in node.pairs:
            if isinstance(key, ScalarNode) and key.text == "kind" and isinstance(value, ScalarNode):
                return value.text
    return None
