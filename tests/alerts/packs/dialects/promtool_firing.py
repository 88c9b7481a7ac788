"""Alerts that rules fire on series, according to promtool: all rules in one run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from collectors.facts.labels import Labels
from tests.support.foreign_series import InputSeries
from tests.support.promtool import run_cases

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # several times faster
_MARK = "yardmaster_query"
_FIRING = 'ALERTS{alertname="Fires", alertstate="firing"}'
_DIFFERENCE = re.compile(
    rf'^ +expr: "[^\n]*{_MARK}[^\n\d]{{1,10}}(\d+)[^\n]*", time: ([^\n]*),\n +exp:[^\n]*\n +got:([^\n]*)\n',
    re.M,
)
_USUAL = re.compile(r" *(Unit Testing: .*|FAILED:|SUCCESS|)")
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_SAMPLE = re.compile(r"\{([^{}]*)\} [-+\d.eEInfNa]+")
_LABEL = re.compile(r'(\w+)=\\?"((?:[^"\\]|\\.)*?)\\?"(?:, |$)')


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringQuery:
    """A rule on series. `waits` are its fields `for` and `keep_firing_for`, `moments` are when it is asked for."""

    expr: str
    waits: Mapping[str, str]
    series: Sequence[InputSeries]
    interval: str
    evaluation_interval: str
    moments: Sequence[str]


Fired = Mapping[str, tuple[Labels, ...]]  # the alerts by moment


def fired(promtool: Path, folder: Path, queries: Sequence[FiringQuery]) -> list[Fired]:
    """Return what each of the rules fires for. Raises RuntimeError if promtool cannot read one."""
    if not queries:
        return []
    files = []
    for number, query in enumerate(queries):
        rule = {**query.waits, "alert": "Fires", "expr": query.expr}
        groups = {"groups": [{"name": "one", "rules": [rule]}]}
        files.append(f"{number}.test.yaml")
        (folder / f"{number}.yaml").write_text(yaml.dump(groups, Dumper=_DUMPER))
        (folder / files[-1]).write_text(yaml.dump(_test_of(number, query), Dumper=_DUMPER))
    done = run_cases(promtool, *files, folder=folder, timeout=1200)
    found = {(int(mark), _seconds(at)): _read(got) for mark, at, got in _DIFFERENCE.findall(done.stdout)}
    rest = [line for line in _DIFFERENCE.sub("", done.stdout).splitlines() if not _USUAL.fullmatch(line)]
    if rest or done.stdout.count("Unit Testing: ") != len(queries):
        raise RuntimeError("promtool: " + "\n".join(rest[:20]))
    return [
        {at: found.get((number, _seconds(at)), ()) for at in query.moments}
        for number, query in enumerate(queries)
    ]


def _test_of(number: int, query: FiringQuery) -> dict[str, Any]:
    """Return a test that expects nothing, so that promtool prints what it finds."""
    firing = f'label_replace({_FIRING}, "{_MARK}", "{number}", "", "")'
    return {
        "rule_files": [f"{number}.yaml"],
        "evaluation_interval": query.evaluation_interval,
        "tests": [
            {
                "interval": query.interval,
                "input_series": [{"series": str(one), "values": one.values} for one in query.series],
                "promql_expr_test": [{"expr": firing, "eval_time": moment} for moment in query.moments],
            }
        ],
    }


def _read(got: str) -> tuple[Labels, ...]:
    samples = []
    for labels in _SAMPLE.findall(got):
        found = dict(_LABEL.findall(labels))
        for name in (_MARK, "alertname", "alertstate", "__name__"):
            found.pop(name, None)
        samples.append(Labels(found))
    return tuple(samples)


def _seconds(duration: str) -> int:
    """Return how long that is: promtool writes `90m` as `1h30m`."""
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", duration))
