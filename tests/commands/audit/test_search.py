"""The search in the audit, by node, training, team, person, time and kind, and its export."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from click.testing import CliRunner

from bot.cli.program import main
from bot.store.sql_store import SqlStore
from commands.audit.search import AuditFilter, concerns, found
from commands.execution.audited import concerned_by
from commands.models import AuditEntry
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, an_audit_entry
from tests.support.yard import BO, DANA, yard_on

DAY = timedelta(days=1)
ENTRIES = (
    replace(
        an_audit_entry("old", at=NOON - 10 * DAY), line="node cordon gpu-a04", about=("gpu-a04",), what="done"
    ),
    replace(
        an_audit_entry("drain"),
        line="node drain rack-a",
        about=("gpu-a04", "vision/detr", "vision"),
        what="done",
    ),
    replace(
        an_audit_entry("no"), line="training stop 'vision/detr'", what="refused", actor="U2", actor_name="Bo"
    ),
    replace(an_audit_entry("held"), line="node drain gpu-b01", about=("gpu-b01",), what="held"),
)


async def ids(wanted: AuditFilter, **bounds: int) -> list[str]:
    store = MemoryStore()
    async with store.unit() as unit:
        for one in ENTRIES:
            await unit.rows(AuditEntry).put(one)
    async with store.read() as snapshot:
        return [one.id for one in await found(snapshot, wanted, cluster="lab", **bounds)]


async def test_each_filter_finds_its_entries_the_newest_first() -> None:
    assert await ids(AuditFilter()) == ["held", "no", "drain", "old"]
    assert await ids(AuditFilter(subject="gpu-a04")) == ["drain", "old"]
    assert await ids(AuditFilter(subject="gpu-a04", since=NOON - DAY)) == ["drain"]
    assert (
        await ids(AuditFilter(subject="detr"))
        == await ids(AuditFilter(subject="vision/detr"))
        == ["no", "drain"]
    )
    assert await ids(AuditFilter(subject="vision")) == ["drain"]
    assert await ids(AuditFilter(what="refused")) == await ids(AuditFilter(name="Bo")) == ["no"]
    assert await ids(AuditFilter(name="bo", ids={"U2"}, what="done")) == []
    assert await ids(AuditFilter(subject="gpu-a0")) == [], "a part of a name is another name"
    assert await ids(AuditFilter(), most=1) == ["held"]
    assert concerns(an_audit_entry(), "")


async def test_what_a_plan_did_to_a_node_and_who_was_refused_is_found(tmp_path: Path) -> None:
    async with yard_on(tmp_path, "gpu-a01", "gpu-a02") as yard:
        plan = await yard.do("node cordon gpu-a01 --reason fan")
        assert concerned_by(plan) == ("gpu-a01",)
        await yard.say("node cordon gpu-a01 --reason mine", BO)
        of_node = await yard.say("audit --of gpu-a01")
        assert [row.split(" | ")[2] for row in of_node.splitlines()[2:]] == [
            "refused",
            "done",
            "confirmed",
            "asked",
        ]
        assert "No matching entries." in await yard.say("audit --of gpu-a02")
        refused = await yard.say("audit --what refused --since 1h", DANA)
        assert "node cordon gpu-a01 --reason mine" in refused
        assert "fan" not in refused


async def test_the_whole_audit_is_exported_as_lines_of_json(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}"
    store = await SqlStore.open(url)
    async with store.unit() as unit:
        for one in ENTRIES:
            await unit.rows(AuditEntry).put(one)
    await store.close()
    config = tmp_path / "yardmaster.yaml"
    config.write_text(json.dumps({"store": {"url": url}}), encoding="utf-8")

    def run(*options: str) -> tuple[int, str]:
        with ThreadPoolExecutor(1) as pool:  # it has a loop of its own
            done = pool.submit(
                CliRunner().invoke, main, ["store", "audit", "--config", str(config), *options]
            ).result()
        return done.exit_code, done.output

    code, output = run()
    assert code == 0, output
    rows = [json.loads(line) for line in output.splitlines()]
    assert [row["id"] for row in rows] == ["old", "drain", "no", "held"]
    assert rows[1]["about"] == ["gpu-a04", "vision/detr", "vision"]
    target = tmp_path / "audit.jsonl"
    assert "entries: 1." in run("--what", "refused", "--out", str(target))[1]
    assert [json.loads(line)["actor"] for line in target.read_text(encoding="utf-8").splitlines()] == ["U2"]
    assert run("--out", str(target))[0] != 0, "it overwrites nothing"
