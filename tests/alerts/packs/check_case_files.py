"""Cases of check rules that are data: objects as the API shows them, lines that arrived, and what must fire.

In `check-cases/*.yaml`; `<-15m>` is the time a quarter of an hour before the check looks. A case with what the API does
not show (a blind source, a step of the clock) is Python, in `check_cases.py`.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import yaml

from collectors.cluster.base import KubernetesObject
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.trainings.catalogue import read_trainings
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, inventory, read

_FOLDER = Path(__file__).with_name("check-cases")
_MOMENT = re.compile(r"<([+-]\d+)m>")
_TYPES: dict[str, type[KubernetesObject]] = {kind.type.__name__: kind.type for kind in DEFAULT_KINDS}


class WrittenAlert(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An alert that must fire: exactly these labels besides alertname, and this summary."""

    labels: dict[str, str]
    summary: str
    texts: tuple[str, ...] | None = None


class WrittenCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case. `lines`: for each search of logs that the check makes, the lines that it counts of each node."""

    rule: str
    case: str
    objects: tuple[dict[str, Any], ...] = ()
    configs: dict[str, dict[str, str]] = {}  # by namespace/name of a ConfigMap
    lines: tuple[dict[str, int], ...] = ()
    fires: tuple[WrittenAlert, ...] = ()

    def read(self) -> CheckCase:
        """Return the case with what the cluster cache reads of its objects."""
        found = inventory(*(read(_TYPES[tree["kind"]], tree) for tree in self.objects))
        logs = [
            tuple(Sample(labels=Labels({"node": node}), value=count) for node, count in counts.items())
            for counts in self.lines
        ]
        return CheckCase(
            rule=self.rule,
            description=self.case,
            inputs=check_input(
                found, trainings=read_trainings(found), configs=self.configs, logs=tuple(logs)
            ),
            fired=tuple(Fired(labels=one.labels, summary=one.summary, texts=one.texts) for one in self.fires),
        )


class _CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of cases. `shared`: objects that cases name by their anchors."""

    cases: tuple[WrittenCase, ...]
    shared: Any = None


def written_cases() -> Sequence[CheckCase]:
    """Return the cases of every file."""
    return tuple(_cases())


def _cases() -> Iterator[CheckCase]:
    for path in sorted(_FOLDER.glob("*.yaml")):
        tree = yaml.safe_load(_MOMENT.sub(_stamp, path.read_text(encoding="utf-8")))
        yield from (one.read() for one in msgspec.convert(tree, _CaseFile).cases)


def _stamp(found: re.Match[str]) -> str:
    return f'"{NOW + timedelta(minutes=int(found[1])):%Y-%m-%dT%H:%M:%SZ}"'
