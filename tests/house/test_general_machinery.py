"""The general machinery of commands, core and execution, which knows neither the rows nor the tables of a noun."""

import ast
from collections.abc import Iterator

import commands.models
from alerts.store import TABLES
from tests.house.conftest import ROOT, tracked

MACHINERY = ("commands/core/*.py", "commands/execution/*.py")
ITS_OWN = {"AuditEntry", "HandledRequest", "Person"}  # rows of the machinery in commands/models/


def tables_of_nouns() -> set[str]:
    rows = {
        one.row.__name__: name
        for name, one in TABLES.items()
        if one.row.__module__.startswith(f"{commands.models.__name__}.")
    }
    return {table for row, table in rows.items() if row not in ITS_OWN}


def nouns_known(text: str) -> Iterator[str]:
    """Return the rows and tables of nouns that a module names."""
    tables = tables_of_nouns()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{commands.models.__name__}."):
            yield from ({one.name for one in node.names} - ITS_OWN)
        elif isinstance(node, ast.Constant) and node.value in tables:
            yield str(node.value)


def test_it_knows_no_rows_and_no_tables_of_nouns() -> None:
    assert {"reclaim_requests", "leases", "launches"} <= tables_of_nouns()
    found = {str(path): list(nouns_known((ROOT / path).read_text())) for path in tracked(*MACHINERY)}
    assert {path: nouns for path, nouns in found.items() if nouns} == {}


def test_a_noun_in_it_is_found() -> None:
    assert list(nouns_known("from commands.models import ReclaimRequest")) == ["ReclaimRequest"]
    assert list(nouns_known('if step.table == "reclaim_requests": pass')) == ["reclaim_requests"]
