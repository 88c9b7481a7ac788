"""What the tests of the house look at: the files that belong to the project."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def tracked(*patterns: str) -> tuple[Path, ...]:
    """The project's files that match, relative to its root: what git knows, and what is new and not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(Path(name) for name in listed if (ROOT / name).is_file())
