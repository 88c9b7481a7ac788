"""Every table of the store has a time after which its rows are deleted, or a reason why they stay."""

import bot.wiring  # noqa: F401 - imports every module that declares a table
from alerts.store import TABLES

STAYS = {
    "audit": "who did what is kept as long as the store is",
    "people": "one row for each person who ever did something; rows name them",
    "inbox_marks": "one row for each cluster",
    "progress": "one row for each cluster",
    "agenda": "a row is deleted once its line was tried",
    "gpu_leases": "a row is deleted when its cordon ends; it only reminds before",
    "leases": "a row is deleted when its cordon ends; it only reminds before",
    "interactions": "a row is deleted once it was answered, and is answered once it is too old to run",
}


def test_each_table_has_a_retention_or_a_reason() -> None:
    without = {name for name, table in TABLES.items() if table.over is None and table.goes_with is None}
    assert without == set(STAYS)


def test_what_goes_with_another_row_goes_with_one_that_is_deleted() -> None:
    hosts = {name: table.goes_with[1] for name, table in TABLES.items() if table.goes_with is not None}
    assert {name: host for name, host in hosts.items() if TABLES[host].over is None} == {}
