"""Files of cases in promtool's format: run by promtool, after the rules that they name are loaded here too."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import yaml

from alerts.loading import load
from bot.evaluation.rulebook import symbols

LIMIT = 300  # seconds for all cases


class CasesError(Exception):
    """The cases cannot be run. The text says why, and what to do."""


def run_cases(files: Sequence[Path]) -> int:
    """Print what Yardmaster and promtool say of these cases, and return 1 if either objects. Raises CasesError."""
    promtool = shutil.which("promtool")
    if promtool is None:
        raise CasesError(
            "promtool is not installed: it comes with Prometheus (on Debian: apt-get install prometheus)"
        )
    errors = [error for file in files for error in _errors(file)]
    for error in errors:
        click.echo(error, err=True)
    if errors:
        return 1
    try:
        argv = (promtool, "test", "rules", *map(str, files))
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise CasesError(f"promtool did not end within {LIMIT} s") from None
    click.echo(done.stdout, nl=False)
    click.echo(done.stderr, nl=False, err=True)
    return 1 if done.returncode else 0


def _errors(file: Path) -> Iterator[str]:
    """Yield what Yardmaster finds wrong in the rule files that a file of cases names."""
    try:
        cases = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        yield f"{file}: cannot be read: {error.strerror}"
        return
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        yield f"{file}: not YAML: {str(error).splitlines()[0]}"
        return
    names = cases.get("rule_files") if isinstance(cases, dict) else None
    if not isinstance(names, list):
        yield f"{file}: this is not a file of test cases: it must have `rule_files` and `tests`"
        return
    for name in names:
        for path in sorted(file.parent.glob(str(name))) or [file.parent / str(name)]:
            try:
                text = path.read_bytes()
            except OSError as error:
                yield f"{path}: cannot be read: {error.strerror}"
                continue
            loaded = load(text, file=str(path), symbols=symbols(), own=False)
            yield from map(str, loaded.diagnostics)
