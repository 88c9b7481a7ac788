"""Expressions that people wrote: those of the packs, and of the shared data sets where they are beside the checkout."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import alerts.packs
from tests.support.quick_yaml import all_from_yaml

_PACKS = Path(alerts.packs.__file__).parent
SHARED = Path(__file__).parents[4].parent / "shared" / "data"
_EVALUATED = re.compile(r"\s*eval\w*\s+(?:instant at \S+|range from \S+ to \S+ step \S+)\s+(.+)")


def of_packs() -> set[str]:
    return {
        expr
        for path in _PACKS.glob("*.yaml")
        if not path.name.endswith("test.yaml")
        for expr in _of_rules(path)
    }


def of_rules() -> set[str]:
    return {expr for path in SHARED.glob("rules/**/*.y*ml") for expr in _of_rules(path)}


def of_promqltest() -> set[str]:
    texts = (gzip.decompress(path.read_bytes()).decode() for path in SHARED.glob("promqltest/*.gz"))
    return {match[1] for text in texts for line in text.splitlines() if (match := _EVALUATED.match(line))}


def _of_rules(path: Path) -> Iterator[str]:
    try:
        yield from _expressions(list(all_from_yaml(path.read_bytes())))
    except yaml.YAMLError:  # some of the files are broken on purpose
        return


def _expressions(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for one in part:
            yield from _expressions(one)
    elif isinstance(part, dict):
        for name, one in part.items():
            if name in ("expr", "proof_expr", "presence"):
                yield str(one)
            else:
                yield from _expressions(one)
