"""Lines that `yardmaster do` posts: their words, their exit codes, and what it says where no Yardmaster answers."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner, Result

from bot.cli import main
from bot.http.line_answer import LineAnswer, line_answer
from bot.http.post_line import PostError, line_from_shell, post_line
from commands.command_catalogue import CATALOGUE
from commands.core.command import CommandOutcome
from commands.core.guidance import refused
from commands.core.parsing import words_of


@pytest.mark.parametrize(
    ("words", "line"),
    [
        pytest.param(("node", "list"), "node list", id="words"),
        pytest.param(
            ("node", "cordon", "a", "--reason", "fan is loud"),
            "node cordon a --reason 'fan is loud'",
            id="an argument with spaces stays one",
        ),
        pytest.param(
            ('node cordon a --reason "fan is loud"',), 'node cordon a --reason "fan is loud"', id="a line"
        ),
        pytest.param(("status",), "status", id="one word"),
    ],
)
def test_the_line_of_a_shells_words(words: tuple[str, ...], line: str) -> None:
    assert line_from_shell(words) == line
    assert words_of(line_from_shell(words)) == words_of(line)


def post(
    monkeypatch: pytest.MonkeyPatch, folder: Path, answer: LineAnswer | PostError, *words: str
) -> Result:
    """Run `yardmaster` with a server that gives this answer, and return the result; the line is in `line.txt`."""

    async def answered(address: str, token: str, line: str, files: Sequence[Path] = ()) -> LineAnswer:
        (folder / "line.txt").write_text(line)
        (folder / "files.txt").write_text(" ".join(file.name for file in files))
        if isinstance(answer, PostError):
            raise answer
        return answer

    monkeypatch.setattr("bot.http.post_line.post_line", answered)
    monkeypatch.setenv("YARDMASTER_TOKEN_FILE", str(folder / "token"))
    (folder / "token").write_text("secret")
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (CommandOutcome.DONE, 0),
        (CommandOutcome.FAILED, 1),
        (CommandOutcome.WRONG, 2),
        (CommandOutcome.REFUSED, 3),
    ],
    ids=[*CommandOutcome],
)
def test_the_exit_code_says_how_the_line_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, outcome: CommandOutcome, code: int
) -> None:
    answer = line_answer(refused("It is so.", outcome))
    assert post(monkeypatch, tmp_path, answer, "do", "node", "list").exit_code == code
    result = post(monkeypatch, tmp_path, answer, "do", "--json", "node", "list")
    assert json.loads(result.stdout) == {"outcome": outcome.value, "text": "It is so.", "tables": []}


def test_a_token_that_is_not_accepted_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refusal = PostError("it does not accept the token (401)", CommandOutcome.REFUSED)
    result = post(monkeypatch, tmp_path, refusal, "do", "node", "list")
    assert (result.exit_code, "does not accept the token" in result.stderr) == (3, True)


def test_options_after_the_first_word_are_the_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = LineAnswer(outcome=CommandOutcome.DONE, text="")
    post(monkeypatch, tmp_path, done, "do", "node", "cordon", "x", "--reason", "foo", "--help", "-o", "json")
    assert (tmp_path / "line.txt").read_text() == "node cordon x --reason foo --help -o json"
    wrong = LineAnswer(outcome=CommandOutcome.WRONG, text="No such option.")
    result = post(monkeypatch, tmp_path, wrong, "do", "node", "list", "--output", "json")
    assert "come before the line" in result.stderr


@pytest.mark.parametrize(
    ("words", "line", "files"),
    [
        pytest.param(
            ("training", "launch", "detr", "--spec", "detr.yaml", "--gpus", "8"),
            "training launch detr --spec --gpus 8",
            "detr.yaml",
            id="behind the option",
        ),
        pytest.param(
            ("training", "launch", "detr", "--from=job.yml"),
            "training launch detr --from",
            "job.yml",
            id="with an equals sign",
        ),
        pytest.param(
            ("--file", "train.sh", "training", "launch", "--spec", "detr"),
            "training launch --spec detr",
            "train.sh",
            id="before the line",
        ),
    ],
)
def test_files_come_with_the_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], line: str, files: str
) -> None:
    post(monkeypatch, tmp_path, LineAnswer(outcome=CommandOutcome.DONE, text=""), "do", *words)
    assert (tmp_path / "line.txt").read_text() == line
    assert (tmp_path / "files.txt").read_text() == files


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret")
    monkeypatch.setenv("YARDMASTER_TOKEN_FILE", str(tmp_path / "token"))
    result = CliRunner().invoke(main, ["do", "training", "launch", "detr", "--spec", "none.yaml"])
    assert result.exit_code == 1
    assert "none.yaml cannot be read: No such file" in result.stderr


def test_the_audit_is_a_line_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = LineAnswer(outcome=CommandOutcome.DONE, text="")
    post(monkeypatch, tmp_path, done, "audit", "--by", "dana", "--last", "3")
    assert (tmp_path / "line.txt").read_text() == "audit --by dana --last 3"


@pytest.mark.parametrize("command", ["do", "audit"])
def test_the_help_names_the_environment_variables(command: str) -> None:
    text = CliRunner().invoke(main, [command, "--help"]).output
    assert "YARDMASTER_ADDRESS" in text
    assert "YARDMASTER_TOKEN_FILE" in text


def test_a_shell_completes_the_words_of_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    def completed(words: str, at: int) -> set[str]:
        result = CliRunner().invoke(
            main,
            prog_name="yardmaster",
            env={
                "_YARDMASTER_COMPLETE": "bash_complete",
                "COMP_WORDS": words,
                "COMP_CWORD": str(at),
            },
        )
        return {line.partition(",")[2] for line in result.output.splitlines()}

    assert completed("yardmaster do ", 2) >= {command.noun for command in CATALOGUE}
    assert completed("yardmaster do node c", 3) == {"cordon"}


@pytest.fixture
async def page() -> AsyncIterator[str]:
    """A web server that is not Yardmaster."""

    async def answer(request: web.Request) -> web.Response:
        status = int(request.headers["Authorization"].removeprefix("Bearer "))
        return web.Response(text="<html>hello</html>", status=status)

    app = web.Application()
    app.router.add_post("/api/yard/lines", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"{host}:{port}"
    await runner.cleanup()


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param("200", "is not Yardmaster", id="a page"),
        pytest.param("404", "is not Yardmaster", id="a page that is not found"),
        pytest.param("500", "its log says why", id="an internal error"),
    ],
)
async def test_another_server_is_recognized(page: str, status: str, expected: str) -> None:
    with pytest.raises(PostError, match=expected) as error:
        await post_line(page, status, "node list")
    assert f"http://{page}" in str(error.value)


@pytest.mark.parametrize("address", ["127.0.0.1:9", "http://127.0.0.1:9/"])
async def test_an_address_without_its_scheme_is_http(address: str) -> None:
    with pytest.raises(PostError, match=r"cannot reach http://127\.0\.0\.1:9: .*Is Yardmaster running there"):
        await post_line(address, "token", "node list")


LIBRARY_WORDS = (
    "Cannot connect to host",
    "ssl:",
    "Connect call",
    "Errno",
    "Client",
    "aiohttp",
    "disconnected",
)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "said", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"]
)
async def test_no_error_of_a_connection_is_in_a_librarys_words(scheme: str, said: bytes) -> None:
    """What listens there says nothing, or speaks another protocol, or ends in the middle of its answer."""

    async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(PostError) as error:
            await post_line(f"{scheme}://127.0.0.1:{port}", "token", "node list")
    reason = str(error.value)
    assert f"{scheme}://127.0.0.1:{port}" in reason
    assert not [words for words in LIBRARY_WORDS if words in reason], reason


def test_rules_of_a_broken_file_are_not_an_empty_list(tmp_path: Path) -> None:
    file = tmp_path / "broken.yml"
    file.write_text("groups:\n  - name: a\n    rules: [{alert: A, expr: 'up == '}]\n")
    result = CliRunner().invoke(main, ["rules", "list", "--file", str(file)])
    assert (result.exit_code, f"{file}:3" in result.stderr) == (1, True)
    missing: Any = CliRunner().invoke(main, ["rules", "list", "--file", str(tmp_path / "none.yml")])
    assert (missing.exit_code, "cannot be read" in missing.stderr) == (1, True)


def test_a_list_of_rules_has_how_long_each_must_hold(tmp_path: Path) -> None:
    file = tmp_path / "long.yml"
    query = "sum by (node) (rate(a_metric_with_a_long_name_for_a_table[5m])) > 0 and on (node) up == 1"
    file.write_text(
        f"groups:\n  - name: a\n    rules: [{{alert: A, expr: '{query}', for: 5m}}]\n", encoding="utf-8"
    )
    result = CliRunner().invoke(main, ["rules", "list", "--file", str(file)])
    heading, row = result.stdout.splitlines()
    assert row.split()[:4] == ["a", "alert", "A", "5m"]
    assert query in row
    assert "\x1b" not in result.stdout
    assert heading.split() == ["group", "kind", "name", "severity", "for", "query"]
