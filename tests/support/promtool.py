"""Cases in promtool's own format, run by promtool."""

import subprocess
from pathlib import Path


def run_cases(
    promtool: Path, *files: str, folder: Path, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run the files of cases in this folder. The output has the word FAILED below the name of the file."""
    return subprocess.run(
        [promtool, "test", "rules", *files],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
