"""Each row of the table has its tests, and each test has its row."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.quick_yaml import from_yaml

FOLDER = Path(__file__).parent


def defined() -> Iterator[str]:
    """Yield the tests beside this one, as `module.function`."""
    for file in FOLDER.glob("test_*.py"):
        for part in ast.parse(file.read_text("utf-8")).body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name.startswith("test_"):
                yield f"{file.stem}.{part.name}"


def test_the_rows_name_each_test() -> None:
    rows = from_yaml((FOLDER / "rows.yaml").read_text("utf-8"))
    named = {test for row in rows for test in row["tests"]}
    assert named == {test for test in defined() if not test.startswith("test_rows.")}
