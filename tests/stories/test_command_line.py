"""The command line `yardmaster`: check, rules, do, version, and run with invalid settings or rules."""

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
      - alert: BadDuration
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
    settings = {
        "rules": {"packs": [], "files": [str(folder / "rules.yaml")]},
        "store": {"url": f"sqlite+aiosqlite:///{folder / 'yard.db'}"},
        "http": {"listen": "127.0.0.1:0"},
    }
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return file


def names_every_error(text: str, file: Path) -> None:
    lines = [line for line in text.splitlines() if str(file) in line]
    assert any(f"{file}:5" in line for line in lines), text
    assert any(f"{file}:6" in line for line in lines), text
    assert any(f"{file}:10" in line for line in lines), text


def test_check_lists_every_error_of_a_rule_file_with_its_line(tmp_path: Path) -> None:
    result = yardmaster("check", "--config", str(settings_with(tmp_path, BROKEN)))
    assert result.exit_code == 1
    names_every_error(result.output, tmp_path / "rules.yaml")


def test_check_prints_the_number_of_rules(tmp_path: Path) -> None:
    result = yardmaster("check", "--config", str(settings_with(tmp_path, FINE)))
    assert (result.exit_code, result.stdout) == (0, "The settings are valid; 1 rule is in force.\n")


def test_check_finds_unreadable_secret_files(tmp_path: Path) -> None:
    file, empty = settings_with(tmp_path, FINE), tmp_path / "empty"
    empty.write_text("\n")
    settings = yaml.safe_load(file.read_text())
    token = {"type": "Bearer", "credentials_file": str(tmp_path / "gone")}
    settings["clusters"] = [
        {"name": "a", "prometheus": {"url": "http://127.0.0.1:1", "authorization": token}}
    ]
    settings["slack"] = {"bot_token_file": str(empty), "app_token": "xapp-1", "channel": "C0123456"}
    file.write_text(yaml.safe_dump(settings))
    result = yardmaster("check", "--config", str(file))
    assert result.exit_code == 1
    assert "clusters.0.prometheus.authorization.credentials_file: cannot read the secret" in result.output
    assert f"slack.bot_token_file: the secret in {empty} is empty" in result.output


def test_check_reports_invalid_settings_with_file_and_line(tmp_path: Path) -> None:
    file = settings_with(tmp_path, FINE)
    file.write_text(file.read_text(encoding="utf-8") + "clusterz: []\n", encoding="utf-8")
    result = yardmaster("check", "--config", str(file))
    assert result.exit_code == 1
    assert f"{file}:" in result.output
    assert "clusterz: unknown setting" in result.output


def test_check_of_a_missing_file(tmp_path: Path) -> None:
    result = yardmaster("check", "--config", str(tmp_path / "none.yaml"))
    assert result.exit_code == 1
    assert "none.yaml" in result.output
    assert "Traceback" not in result.output


def test_rules_check_checks_each_file(tmp_path: Path) -> None:
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


async def run(*words: str) -> tuple[int, str]:
    """Run `yardmaster` as a process and return its exit code and output."""
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
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, output.decode()


async def test_run_refuses_invalid_rules_and_lists_every_error(tmp_path: Path) -> None:
    code, output = await run("run", "--config", str(settings_with(tmp_path, BROKEN)))
    assert code == 1
    names_every_error(output, tmp_path / "rules.yaml")
    assert "Traceback" not in output


def only_line(output: str) -> str:
    """Return the output, which must be one line that says why Yardmaster does not start."""
    (line,) = output.splitlines()
    assert line.startswith("Yardmaster cannot start: ")
    return line


async def test_run_without_the_folder_of_its_store_says_which(tmp_path: Path) -> None:
    file = settings_with(tmp_path, FINE)
    file.write_text(file.read_text(encoding="utf-8").replace("/yard.db", "/none/yard.db"), encoding="utf-8")
    code, output = await run("run", "--config", str(file))
    assert code == 1
    error, last = output.splitlines()
    assert error.startswith(f"{file}:")
    assert error.endswith(f"store.url: the folder {tmp_path}/none does not exist: create it")
    assert last == "Yardmaster cannot start with these settings."


async def test_run_on_the_store_of_a_newer_version_exits_with_one_line(tmp_path: Path) -> None:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}")
    await store.close()
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    code, output = await run("run", "--config", str(settings_with(tmp_path, FINE)))
    assert code == 1
    assert "run the newer Yardmaster, or put the copy in place" in only_line(output)


async def test_run_on_a_port_in_use_exits_with_one_line(tmp_path: Path) -> None:
    file = settings_with(tmp_path, FINE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        file.write_text(file.read_text(encoding="utf-8").replace("127.0.0.1:0", listen), encoding="utf-8")
        code, output = await run("run", "--config", str(file))
    assert code == 1
    assert f"cannot listen on {listen}: Address already in use: check whether another" in only_line(output)


async def test_run_with_a_revoked_slack_token_exits_with_the_reason(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        stage.slack.revoke()
        code, output = await run("run", "--config", str(stage.write_settings()))
        assert code == 1
        assert "Yardmaster cannot start" in output
        assert "token_revoked" in output
        assert stage.slack.bot_token not in output
        assert "Traceback" not in output
        stage.slack.restore()


async def test_do_runs_a_line_as_typed_and_its_exit_code_says_how_it_ended(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        file = tmp_path / "ci.token"
        file.write_text(TOKEN, encoding="utf-8")
        server = ("--address", stage.yard.server.address.removeprefix("http://"), "--token-file", str(file))
        code, output = await run("do", "--output", "json", *server, "node", "list")
        answer = json.loads(output)
        assert (code, answer["outcome"]) == (0, "done")
        assert "gpu-a01" in answer["text"]

        code, output = await run("do", *server, "node", "cordon", "gpu-a01", "--reason", "fan is loud")
        assert (code, "Cordon gpu-a01?" in output) == (0, True)
        (plan,) = await stage.plans()
        assert plan.line == "node cordon gpu-a01 --reason 'fan is loud'"

        code, output = await run("do", *server, 'node cordon gpu-a99 --reason "fan is loud"')
        assert (code, "gpu-a99" in output) == (2, True)

        code, output = await run("audit", *server, "--by", "ci", "--output", "json")
        (rows,) = json.loads(output)["tables"]
        assert (code, {row["who"] for row in rows}) == (0, {"ci"})

        file.write_text("wrong", encoding="utf-8")
        code, output = await run("do", *server, "node", "list")
        assert (code, "401" in output) == (3, True)


async def test_without_clusters_help_and_the_audit_still_answer(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["clusters"]
        await stage.start()
        file = tmp_path / "ci.token"
        file.write_text(TOKEN, encoding="utf-8")
        server = ("--address", stage.yard.server.address, "--token-file", str(file))
        code, output = await run("do", *server, "help")
        assert (code, "node cordon" in output) == (0, True)
        code, output = await run("audit", *server)
        assert (code, output) == (0, "No matching entries.\n")


async def test_do_reports_an_unreachable_server(tmp_path: Path) -> None:
    file = tmp_path / "ci.token"
    file.write_text(TOKEN, encoding="utf-8")
    code, output = await run(
        "do", "--address", "http://127.0.0.1:9", "--token-file", str(file), "node", "list"
    )
    assert code == 1
    assert (
        "cannot reach http://127.0.0.1:9: it refuses the connection. Is Yardmaster running there?" in output
    )
    assert "Traceback" not in output
