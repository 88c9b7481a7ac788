"""Files that programs generate: written where they are stale, or only named with `--check`."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TREE = Path(__file__).parents[1]


def stale(made: Mapping[Path, str]) -> list[Path]:
    """The files whose text differs from what would be generated."""
    return [file for file, text in made.items() if not file.exists() or file.read_text("utf-8") != text]


def generate(
    made: Callable[[], Mapping[Path, str]],
    arguments: Sequence[str] | None,
    *,
    program: str,
    of: str,
    what: str,
) -> int:
    """Write what is stale of `made`, and return 0; with `--check` write nothing, and return 1 if any of it is stale."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=f"Generate {of}.")
    parser.add_argument("--check", action="store_true", help=f"write nothing; exit 1 when a {what} is stale")
    is_check = parser.parse_args(arguments).check
    texts = made()
    stale_files = stale(texts)
    for file in stale_files:
        if not is_check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(texts[file], encoding="utf-8")
        sys.stdout.write(f"{'stale' if is_check else 'generated'}: {file.relative_to(TREE)}\n")
    return 1 if is_check and stale_files else 0
