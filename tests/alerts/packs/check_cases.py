"""Cases of check rules, which are data: what a check sees, and what must fire.

In `check-cases/*.yaml`: objects as the API shows them, and what else the check is given; WrittenCase has the fields.
`<-15m>` is the moment a quarter of an hour before the check looks. An entry with `numbers: 1-5` stands for five of
them, each with its number in the place of `<n>`, or of `<nn>` where it has two digits.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from collectors.check import SourceState
from collectors.cluster.base import KubernetesObject
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.clock import ClockStep, duration
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.results import Blind, Sample
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Training
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import WrittenAlert
from tests.support.objects import NOW, inventory, read
from tests.support.quick_yaml import from_yaml

CASES_FOLDER = Path(__file__).with_name("check-cases")
_MOMENT = re.compile(r"<([+-])(\d\w*)>")
_NUMBER = re.compile(r"<(n+)>")
_TYPES: dict[str, type[KubernetesObject]] = {kind.type.__name__: kind.type for kind in DEFAULT_KINDS}


class WrittenSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sample of a query or a log search that the check needs."""

    value: float
    labels: dict[str, str] = {}

    def read(self) -> Sample:
        return Sample(labels=Labels(self.labels), value=self.value)


class WrittenCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case. The fields up to `standing` are a CheckInput's; without `trainings` they are read from the objects."""

    rule: str
    case: str
    objects: tuple[dict[str, Any], ...] = ()
    trainings: tuple[Training, ...] | None = None
    configs: dict[str, dict[str, str]] = {}  # by namespace/name of a ConfigMap
    sources: tuple[SourceState, ...] = ()
    clock_set_by: timedelta | None = None  # just now
    metrics: tuple[WrittenSample, ...] = ()
    logs: tuple[tuple[WrittenSample, ...], ...] = ()  # for each search of logs that the check makes
    missing: tuple[MissingMetrics, ...] = ()
    standing: tuple[dict[str, str], ...] = ()  # labels of the rule's own alerts, which fire
    blind: dict[str, str] = {}  # which of them cannot be seen, and why
    fires: tuple[WrittenAlert, ...] = ()

    def read(self) -> CheckCase:
        """Return the case with what the cluster cache reads of its objects."""
        found = inventory(*(read(_TYPES[tree["kind"]], tree) for tree in self.objects))
        inputs: dict[str, Any] = {
            "trainings": read_trainings(found) if self.trainings is None else self.trainings,
            "metrics": tuple(one.read() for one in self.metrics),
            "logs": tuple(tuple(one.read() for one in search) for search in self.logs),
            **{need: Blind(source="test", at=NOW, reason=reason) for need, reason in self.blind.items()},
        }
        return CheckCase(
            rule=self.rule,
            description=self.case,
            inputs=check_input(
                found,
                configs=self.configs,
                sources=self.sources,
                clock_step=ClockStep(by=self.clock_set_by, at=NOW) if self.clock_set_by else None,
                missing=self.missing,
                standing=[Labels(one) for one in self.standing],
                **inputs,
            ),
            fired=tuple(one.read() for one in self.fires),
        )


class _CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of cases. `shared`: objects that cases name by their anchors."""

    cases: tuple[WrittenCase, ...]
    shared: Any = None


def cases_of(text: str) -> Iterator[CheckCase]:
    """Return the cases that a file has."""
    tree = _numbered(from_yaml(_MOMENT.sub(_stamp, text)))
    return (one.read() for one in msgspec.convert(tree, _CaseFile).cases)


def _stamp(found: re.Match[str]) -> str:
    ago = duration(found[2])
    return f'"{NOW + ago if found[1] == "+" else NOW - ago:%Y-%m-%dT%H:%M:%SZ}"'


def _numbered(tree: Any) -> Any:
    """Return the tree with as many of each numbered entry as it stands for."""
    if isinstance(tree, dict):
        return {key: _numbered(value) for key, value in tree.items()}
    if not isinstance(tree, list):
        return tree
    return [each for one in tree for each in _each(one)]


def _each(entry: Any) -> Iterator[Any]:
    if not isinstance(entry, dict) or "numbers" not in entry:
        yield _numbered(entry)
        return
    first, _, last = entry["numbers"].partition("-")
    text = json.dumps({key: value for key, value in entry.items() if key != "numbers"})
    for number in range(int(first), int(last) + 1):
        yield json.loads(_NUMBER.sub(lambda found, number=number: f"{number:0{len(found[1])}}", text))  # type: ignore[misc]


CHECK_CASES: Sequence[CheckCase] = tuple(
    case
    for path in sorted(CASES_FOLDER.glob("*.yaml"))
    for case in cases_of(path.read_text(encoding="utf-8"))
)
