"""Generation of the docs' tables from the program: `python -m docs.generate`.

A generated part is between `<!-- generated: NAME -->` and `<!-- /generated -->`. With `--check` nothing is written,
and it exits 1 when a page is stale.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from docs.actions_table import actions_part
from docs.catalogue_tables import (
    checks_part,
    commands_part,
    metrics_part,
    remediations_part,
    rules_part,
    trainings_part,
)
from docs.controllers_table import controllers_part
from docs.coverage_table import coverage_part
from docs.measured_table import measured_part
from docs.neighbours import twice_part, without_logs_part
from docs.promises_table import promises_part
from docs.settings_table import settings_table
from docs.sizing_table import sizing_part
from docs.stale_files import generate

DOCS = Path(__file__).parent
PARTS: Mapping[str, Callable[[], str]] = {
    "settings": settings_table,
    "commands": commands_part,
    "rules": rules_part,
    "remediations": remediations_part,
    "actions": actions_part,
    "coverage": coverage_part,
    "checks": checks_part,
    "metrics": metrics_part,
    "trainings": trainings_part,
    "controllers": controllers_part,
    "twice": twice_part,
    "without_logs": without_logs_part,
    "promises": promises_part,
    "measured": measured_part,
    "sizing": sizing_part,
}
_PART = re.compile(r"(<!-- generated: (?P<name>\w+) -->\n).*?(<!-- /generated -->)", re.DOTALL)


@cache
def part(name: str) -> str:
    """Return a generated part: the program does not change while it runs. Raises KeyError for an unknown part."""
    return PARTS[name]()


def fresh(text: str) -> str:
    """The page's text with its parts generated again. Raises KeyError for an unknown part."""
    return _PART.sub(lambda match: f"{match[1]}\n{part(match['name'])}\n\n{match[3]}", text)


def pages(folder: Path = DOCS) -> dict[Path, str]:
    """Every page with a generated part, the README too, and its text as it should be."""
    found = {}
    for page in (*sorted(folder.glob("*.md")), *folder.parent.glob("README.md")):
        text = page.read_text(encoding="utf-8")
        if _PART.search(text):
            found[page] = fresh(text)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    return generate(pages, arguments, program="docs.generate", of="the tables of the docs", what="page")


if __name__ == "__main__":
    sys.exit(main())
