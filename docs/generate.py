"""This file makes the parts of the docs that the program knows better. Run it as `python -m docs.generate`.

A part stands between `<!-- made: NAME -->` and `<!-- /made -->`. With `--check` nothing is written, and it ends 1
when a page is stale.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from docs.catalogue_tables import checks_part, commands_part, metrics_part, rules_part
from docs.settings_table import settings_table

DOCS = Path(__file__).parent
PARTS: Mapping[str, Callable[[], str]] = {
    "settings": settings_table,
    "commands": commands_part,
    "rules": rules_part,
    "checks": checks_part,
    "metrics": metrics_part,
}
_PART = re.compile(r"(<!-- made: (?P<name>\w+) -->\n).*?(<!-- /made -->)", re.DOTALL)


def fresh(text: str) -> str:
    """The page's text with its made parts as they should be. Raises KeyError for a part that nobody makes."""
    return _PART.sub(lambda found: f"{found[1]}\n{PARTS[found['name']]()}\n\n{found[3]}", text)


def pages(folder: Path = DOCS) -> dict[Path, str]:
    """Every page that has a made part, and how its text should be."""
    found = {}
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if _PART.search(text):
            found[page] = fresh(text)
    return found


def stale(folder: Path = DOCS) -> list[Path]:
    """The pages that are not as they should be."""
    return [page for page, text in pages(folder).items() if page.read_text(encoding="utf-8") != text]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate", description="Make the docs' generated parts."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; end 1 when a page is stale")
    is_check = parser.parse_args(arguments).check
    behind = stale()
    wanted = pages()
    for page in behind:
        if not is_check:
            page.write_text(wanted[page], encoding="utf-8")
        sys.stdout.write(f"{'stale' if is_check else 'made'}: docs/{page.name}\n")
    return 1 if is_check and behind else 0


if __name__ == "__main__":
    sys.exit(main())
