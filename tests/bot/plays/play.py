"""A play: something that people reported, as sources show it minute by minute, and what must come of it."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from tests.support.quick_yaml import LOADER

START = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
_PLAYS = Path(__file__).parent / "plays"
_MOMENT = re.compile(r"<([+-]\d+)m>")  # so many minutes after the start


class SeenSeries(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sample that a rule's PromQL gives from minute `after` on. Its cases in promtool prove that series give it."""

    rule: str
    labels: dict[str, str] = {}
    value: float = 1.0
    after: int = 0


class LoggedLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of a node's unit, or of a pod, so many times, a second apart, from the minute on."""

    text: str
    node: str = "gpu-a01"
    unit: str = "kernel"
    pod: str = ""  # namespace/name
    container: str = "main"
    level: str = "info"
    minute: int = 0
    times: int = 1


class OverTime(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object of the Kubernetes API from a minute on."""

    after: int
    object: dict[str, Any]


class ExpectedCard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The one card: words of it, and the first of the suggested command lines. `about`: words of its subject.

    `says` quotes a whole sentence of a rule as `<RuleName>`, its summary, or `<RuleName.description>`: how a rule is
    worded is in its pack, and in its own cases.
    """

    about: dict[str, str]
    says: tuple[str, ...]
    offers: tuple[str, ...] = ()


class Play(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`report` is that of docs/coverage.yaml. `fires`: every rule that fires at the end, and with which severity."""

    report: str
    play: str
    minutes: int
    every: int = 1  # minutes between two evaluations
    seen: tuple[SeenSeries, ...] = ()
    lines: tuple[LoggedLine, ...] = ()
    objects: tuple[dict[str, Any], ...] = ()
    over_time: tuple[OverTime, ...] = ()
    without: tuple[str, ...] = ()  # objects of the cluster that do not exist: Kind/name
    unmeasured: tuple[str, ...] = ()  # nodes whose GPUs nobody measures
    idle: dict[str, int] = {}  # by namespace/pod, its GPUs that have not worked
    lost: dict[str, tuple[str, ...]] = {}  # by exporter, the metrics that it gave and gives no more
    fires: dict[str, str]
    card: ExpectedCard


def read_trees(path: Path) -> Any:
    """Return the file's content, with moments in it as the API writes them."""

    def stamp(found: re.Match[str]) -> str:
        return f"{START + timedelta(minutes=int(found[1])):%Y-%m-%dT%H:%M:%SZ}"

    return yaml.load(_MOMENT.sub(stamp, path.read_text(encoding="utf-8")), Loader=_Texts)


class _Texts(LOADER):  # type: ignore[misc]
    """Leaves moments as the texts that they are."""


_Texts.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for letter, found in LOADER.yaml_implicit_resolvers.items()
}


def read_plays(folder: Path = _PLAYS) -> Sequence[Play]:
    """Return the plays of all files. Raises msgspec.ValidationError, which says where one is wrong."""
    files = sorted(folder.glob("*.yaml"))
    return tuple(play for file in files for play in msgspec.convert(read_trees(file), tuple[Play, ...]))


@cache
def read_cluster() -> Sequence[Mapping[str, Any]]:
    """Return the objects of the cluster on which everything is played."""
    found: Sequence[Mapping[str, Any]] = read_trees(Path(__file__).parent / "cluster.yaml")
    return found
