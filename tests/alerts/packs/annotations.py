"""The annotations that the packs' cases expect: rewritten as promtool renders them, after a change of wording.

`python -m tests.alerts.packs.annotations` changes annotations only, and only of alerts whose labels are as expected:
promtool still fails a case whose rule fires for something else, or not at all. Look at what `git diff` says then.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from demo.parts.prometheus import find_promtool
from tests.alerts.packs.shipped import prometheus_files
from tests.alerts.packs.summaries import write_summaries
from tests.support.promtool import run_cases
from tests.support.quick_yaml import LOADER, from_yaml

_CASE = re.compile(r"^    name: (.*),$")
_ALERT = re.compile(r"^ +alertname: (.*), time: (.*), $")
_LABELS = re.compile(r"^ +Labels:\{(.*)\}$")
_ANNOTATIONS = re.compile(r"^ +Annotations:\{(.*)\},?$")
_PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*")(?:, |$)')
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1, "ms": 0.001}
_PLAIN = re.compile(r"[A-Za-z(][^:#\n]*[^:#\s]")


@dataclass(frozen=True, slots=True)
class Expected:
    """An alert that a case expects: the case, the rule, when, and its labels."""

    case: str
    alertname: str
    seconds: float
    labels: frozenset[tuple[str, str]]


def main() -> None:
    """Rewrite the cases of every pack, and print which have changed."""
    for pack in prometheus_files():
        cases = pack.with_name(pack.name.removesuffix(".yaml") + ".test.yaml")
        if reword(cases):
            print(cases.name)
    for name in write_summaries():
        print(name)


def reword(cases: Path) -> bool:
    """Rewrite a file of cases, beside its rules. Return whether it has changed."""
    text = cases.read_text(encoding="utf-8")
    rewritten = _reworded(text, _rendered(cases))
    cases.write_text(rewritten, encoding="utf-8")
    return rewritten != text


def _rendered(cases: Path) -> Mapping[Expected, Mapping[str, str]]:
    """Return the annotations of the alerts that differ from what a file of cases expects."""
    done = run_cases(find_promtool(), cases.name, folder=cases.parent, timeout=300)
    return dict(_read(done.stdout))


def _read(output: str) -> Iterator[tuple[Expected, Mapping[str, str]]]:
    case = alertname = moment = ""
    is_got = False
    labels: frozenset[tuple[str, str]] = frozenset()
    for line in output.splitlines():
        if found := _CASE.match(line):
            case = found[1]
        elif found := _ALERT.match(line):
            alertname, moment = found.groups()
        elif line.lstrip().startswith(("exp:", "got:")):
            is_got = line.lstrip().startswith("got:")
        elif found := _LABELS.match(line):
            labels = frozenset(_pairs(found[1]).items() - {("alertname", alertname)})
        elif is_got and (found := _ANNOTATIONS.match(line)):
            yield Expected(case, alertname, _seconds(moment), labels), _pairs(found[1])


def _pairs(written: str) -> dict[str, str]:
    """Return labels or annotations as Go writes them: its strings are YAML's in double quotes."""
    return {name: str(from_yaml(value)) for name, value in _PAIR.findall(written)}


def _reworded(text: str, rendered: Mapping[Expected, Mapping[str, str]]) -> str:
    """Return the text of a file of cases with these annotations; all else stays as it is written."""
    tree, lines = from_yaml(text), text.splitlines(keepends=True)
    composed = yaml.compose(text, Loader=LOADER)
    assert composed is not None
    root = _fields(composed)
    changes: dict[
        int, tuple[int, list[str]]
    ] = {}  # by first line: the line after the last, and what comes there
    for case, case_node in zip(tree["tests"], root["tests"].value, strict=True):
        for asked, asked_node in _both(case, case_node, "alert_rule_test"):
            for alert, alert_node in _both(asked, asked_node, "exp_alerts"):
                labels = frozenset((name, str(value)) for name, value in alert.get("exp_labels", {}).items())
                key = Expected(case["name"], asked["alertname"], _seconds(str(asked["eval_time"])), labels)
                node = _fields(alert_node).get("exp_annotations")
                if key in rendered and isinstance(node, yaml.MappingNode):
                    changes |= _changes(node, alert["exp_annotations"], rendered[key])
    for first, (last, block) in sorted(changes.items(), reverse=True):
        lines[first:last] = block
    return "".join(lines)


def _changes(
    node: yaml.MappingNode, before: Mapping[str, str], now: Mapping[str, str]
) -> dict[int, tuple[int, list[str]]]:
    """Return the lines to replace in one alert's annotations. What is merged from another stands there."""
    indent, found, end = " " * node.start_mark.column, {}, 0
    for key, value in node.value:
        end = value.end_mark.line + (value.style != "|")
        if key.value != "<<" and now.get(key.value) != before[key.value]:
            block = list(_line(key.value, now[key.value], indent)) if key.value in now else []
            found[key.start_mark.line] = (end, block)
    new = [line for name in now if name not in before for line in _line(name, now[name], indent)]
    return {**found, end: (end, new)} if new else found


def _both(tree: Mapping[str, list[dict[str, object]]], node: yaml.Node, name: str) -> Iterator[tuple]:  # type: ignore[type-arg]
    nodes = _fields(node)
    return zip(tree[name], nodes[name].value, strict=True) if name in nodes else iter(())


def _fields(node: yaml.Node) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value}


def _line(name: str, value: str, indent: str) -> Iterator[str]:
    if value.endswith("\n"):
        yield f"{indent}{name}: |\n"
        yield from (f"{indent}  {line}\n" for line in value.splitlines())
    elif name not in ("summary", "headline", "resolved_headline", "description") and _PLAIN.fullmatch(value):
        yield f"{indent}{name}: {value}\n"
    else:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        yield f'{indent}{name}: "{escaped}"\n'


def _seconds(duration: str) -> float:
    """Return how long that is: promtool writes `90m` as `1h30m`."""
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)(ms|[dhms])", duration))


if __name__ == "__main__":
    main()
