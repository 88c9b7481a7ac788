"""This file runs `yardmaster` as people do: check, rules, do, version, and a run that refuses broken rules."""

import asyncio
import json
import os
import socket
import sqlite3
import sys
from pathlib import Path

import yaml
from click.testing import CliRunner, Result

from bot.cli import main
from bot.store.sql_store import SqlStore
from tests.support.light import TOKEN, light

BROKEN = """groups:
  - name: broken
    rules:
      - alert: Typo
        expr: sum(rate(up[5m])
      - alert: NoExpression
        labels: {severity: critical}
      - alert: BadOffer
        expr: up == 0
        for: soon
"""
FINE = """groups:
  - name: fine
    rules:
      - alert: Down
        expr: up == 0
        for: 5m
        labels: {severity: critical}
      - record: job:up:sum
        expr: sum by (job) (up)
"""


def yardmaster(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def settings_with(folder: Path, rules: str) -> Path:
    (folder / "rules.yaml").write_text(rules, encoding="utf-8")
    file = folder / "yardmaster.yaml"
    said = {
        "rules": {"packs": [], "files": [str(folder / "rules.yaml")]},
        "store": {"url": f"sqlite+aiosqlite:///{folder / 'yard.db'}"},
        "http": {"listen": "127.0.0.1:0"},
    }
    file.write_text(yaml.safe_dump(said), encoding="utf-8")
    return file


def names_all_mistakes(text: str, file: Path) -> None:
    lines = [line for line in text.splitlines() if str(file) in line]
    assert any(f"{file}:5" in line for line in lines), text
    assert any(f"{file}:6" in line for line in lines), text
    assert any(f"{file}:10" in line for line in lines), text


def test_check_tells_every_mistake_of_a_broken_rule_file_with_its_line(tmp_path: Path) -> None:
    result = yardmaster("check", "--config", str(settings_with(tmp_path, BROKEN)))
    assert result.exit_code == 1
    names_all_mistakes(result.output, tmp_path / "rules.yaml")


def test_check_says_how_many_rules_are_in_force(tmp_path: Path) -> None:
    result = yardmaster("check", "--config", str(settings_with(tmp_path, FINE)))
    assert (result.exit_code, result.output) == (0, "The settings are in order; 1 rules are in force.\n")


def test_check_finds_the_files_of_secrets_that_cannot_be_read(tmp_path: Path) -> None:
    file, empty = settings_with(tmp_path, FINE), tmp_path / "empty"
    empty.write_text("\n")
    said = yaml.safe_load(file.read_text())
    token = {"type": "Bearer", "credentials_file": str(tmp_path / "gone")}
    said["clusters"] = [{"name": "a", "prometheus": {"url": "http://127.0.0.1:1", "authorization": token}}]
    said["slack"] = {"bot_token_file": str(empty), "app_token": "xapp-1", "channel": "C0123456"}
    file.write_text(yaml.safe_dump(said))
    result = yardmaster("check", "--config", str(file))
    assert result.exit_code == 1
    assert "clusters.0.prometheus.authorization.credentials_file: cannot read the secret" in result.output
    assert f"slack.bot_token_file: the secret in {empty} is empty" in result.output


def test_check_tells_wrong_settings_with_file_and_line(tmp_path: Path) -> None:
    file = settings_with(tmp_path, FINE)
    file.write_text(file.read_text(encoding="utf-8") + "clusterz: []\n", encoding="utf-8")
    result = yardmaster("check", "--config", str(file))
    assert result.exit_code == 1
    assert f"{file}:" in result.output
    assert "clusterz: there is no such setting" in result.output


def test_check_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    result = yardmaster("check", "--config", str(tmp_path / "none.yaml"))
    assert result.exit_code == 1
    assert "none.yaml" in result.output
    assert "Traceback" not in result.output


def test_rules_check_judges_each_file(tmp_path: Path) -> None:
    settings_with(tmp_path, BROKEN)
    (tmp_path / "fine.yaml").write_text(FINE, encoding="utf-8")
    assert yardmaster("rules", "check", str(tmp_path / "fine.yaml")).exit_code == 0
    result = yardmaster("rules", "check", str(tmp_path / "fine.yaml"), str(tmp_path / "rules.yaml"))
    assert result.exit_code == 1
    result = yardmaster("rules", "check", str(tmp_path / "none.yaml"), str(tmp_path / "fine.yaml"))
    assert result.exit_code == 1
    assert "cannot be read" in result.output


def test_rules_list_has_groups_alerts_and_records(tmp_path: Path) -> None:
    file = tmp_path / "fine.yaml"
    file.write_text(FINE, encoding="utf-8")
    rows = json.loads(yardmaster("rules", "list", "--file", str(file), "--json").output)
    assert [(row["group"], row["name"]) for row in rows] == [("fine", "Down"), ("fine", "job:up:sum")]
    table = yardmaster("rules", "list", "--file", str(file)).output
    assert "Down" in table
    assert "critical" in table


def test_rules_list_without_a_file_has_the_shipped_packs() -> None:
    rows = json.loads(yardmaster("rules", "list", "--json").output)
    assert {"YardmasterSourceBlind", "KubeNodeNotReady"} <= {row["name"] for row in rows}


def test_version() -> None:
    assert yardmaster("version").output.startswith("yardmaster ")


async def ran(*words: str) -> tuple[int, str]:
    """`yardmaster` as a process: its exit code, and all it said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from bot.cli import main; main()",
        *words,
        cwd=Path(__file__).parents[2],
        env=dict(os.environ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(60):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode()


async def test_a_run_refuses_to_begin_with_broken_rules_and_tells_all_of_them(tmp_path: Path) -> None:
    code, said = await ran("run", "--config", str(settings_with(tmp_path, BROKEN)))
    assert code == 1
    names_all_mistakes(said, tmp_path / "rules.yaml")
    assert "Traceback" not in said


def only_line(said: str) -> str:
    """What was said, when it is one line that says that nothing begins."""
    (line,) = said.splitlines()
    assert line.startswith("Yardmaster cannot begin: ")
    return line


async def test_a_run_whose_store_has_no_folder_ends_with_one_line(tmp_path: Path) -> None:
    file = settings_with(tmp_path, FINE)
    file.write_text(file.read_text(encoding="utf-8").replace("/yard.db", "/none/yard.db"), encoding="utf-8")
    code, said = await ran("run", "--config", str(file))
    assert code == 1
    assert f"the store {tmp_path}/none/yard.db cannot be opened" in only_line(said)


async def test_a_run_on_the_store_of_a_newer_program_ends_with_its_words(tmp_path: Path) -> None:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}")
    await store.close()
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    code, said = await ran("run", "--config", str(settings_with(tmp_path, FINE)))
    assert code == 1
    assert "run the newer Yardmaster, or restore the backup" in only_line(said)


async def test_a_run_whose_port_is_taken_ends_with_one_line(tmp_path: Path) -> None:
    file = settings_with(tmp_path, FINE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        file.write_text(file.read_text(encoding="utf-8").replace("127.0.0.1:0", listen), encoding="utf-8")
        code, said = await ran("run", "--config", str(file))
    assert code == 1
    assert f"cannot listen on {listen}: Address already in use: see whether another" in only_line(said)


async def test_a_run_with_a_token_that_slack_refuses_ends_with_words(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        stage.slack.revoke()
        code, said = await ran("run", "--config", str(stage.write_settings()))
        assert code == 1
        assert "Yardmaster cannot begin" in said
        assert "token_revoked" in said
        assert stage.slack.bot_token not in said
        assert "Traceback" not in said
        stage.slack.restore()


async def test_do_posts_a_line_as_its_tokens_actor(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        file = tmp_path / "ci.token"
        file.write_text(TOKEN, encoding="utf-8")
        where = ("--address", stage.yard.server.address, "--token-file", str(file))
        code, said = await ran("do", *where, "node", "list")
        assert code == 0
        assert "gpu-a01" in said
        code, said = await ran("do", *where, "--", "node", "cordon", "gpu-a01", "--reason", "fan is loud")
        assert (code, "Cordon gpu-a01?" in said) == (0, True)
        (plan,) = await stage.plans()
        assert plan.line == "node cordon gpu-a01 --reason 'fan is loud'"
        file.write_text("wrong", encoding="utf-8")
        code, said = await ran("do", *where, "node", "list")
        assert (code, "401" in said) == (1, True)


async def test_do_says_when_nobody_is_there(tmp_path: Path) -> None:
    file = tmp_path / "ci.token"
    file.write_text(TOKEN, encoding="utf-8")
    code, said = await ran("do", "--address", "http://127.0.0.1:9", "--token-file", str(file), "node", "list")
    assert code == 1
    assert "cannot reach http://127.0.0.1:9" in said
    assert "Traceback" not in said
