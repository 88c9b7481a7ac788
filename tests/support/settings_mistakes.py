"""Settings with a mistake each, as the cases of a test."""

from pathlib import Path

import pytest
import yaml


def each_mistake(file: Path) -> pytest.MarkDecorator:
    """Return the parametrization of a test by the mistakes of a file: `text`, `line` and `expected`."""
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    cases = [pytest.param(one["settings"], one["line"], one["says"], id=id) for id, one in found.items()]
    return pytest.mark.parametrize(("text", "line", "expected"), cases)
