"""The commands `do` and `audit`: command lines for a running Yardmaster."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from bot.cli.failing import fail, system_reason
from bot.cli.shared_options import output_option, wants_json

_EXIT_CODES = {"done": 0, "failed": 1, "wrong": 2, "refused": 3}
_OUR_OPTIONS = ("--output", "-o", "--json", "--address", "--token-file")

_ADDRESS = click.option(
    "--address",
    default="http://127.0.0.1:9099",
    envvar="YARDMASTER_ADDRESS",
    show_envvar=True,
    show_default=True,
    help="Where Yardmaster listens (http.listen).",
)
_TOKEN_FILE = click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    envvar="YARDMASTER_TOKEN_FILE",
    show_envvar=True,
    required=True,
    help="A file with a token of http.auth.tokens: lines run as its actor.",
)


def _server(command: Callable[..., Any]) -> Callable[..., Any]:
    return _ADDRESS(_TOKEN_FILE(output_option(command)))


def _next_words(context: click.Context, _: click.Parameter, started: str) -> list[str]:
    """Return the words of commands that may come next, for the shell's completion."""
    from commands.command_catalogue import CATALOGUE

    typed = [str(word) for word in context.params.get("words") or ()]
    names = [command.name.split() for command in CATALOGUE]
    at = len(typed)
    found = {name[at] for name in names if name[:at] == typed and len(name) > at}
    return sorted(word for word in found if word.startswith(started))


@click.command(context_settings={"allow_interspersed_args": False})  # options of the line are its own
@click.argument(
    "words", nargs=-1, required=True, metavar="COMMAND...", type=click.UNPROCESSED, shell_complete=_next_words
)
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file that comes with the line, such as a script; may be repeated.",
)
@_server
def do(
    words: tuple[str, ...],
    files: tuple[Path, ...],
    address: str,
    token_file: Path,
    output: str,
    is_json: bool,
) -> None:
    """Run a command line as you would type it in chat, on a running Yardmaster.

    What follows the first word of the line belongs to the line, options too:

    \b
      yardmaster do node list
      yardmaster do --output json node list
      yardmaster do node cordon gpu-a04 --reason "fan is loud"
      yardmaster do 'node cordon gpu-a04 --reason "fan is loud"'
      yardmaster do training launch detr --spec detr.yaml

    A line that changes a cluster shows its plan; `plan confirm` in the answer carries it out.

    Exit codes: 0 done, 1 failed, 2 wrong line, 3 refused.
    """
    _post(words, address, token_file, as_json=wants_json(output, is_json), files=files)


@click.command()
@click.option("--of", metavar="NAME", help="Only what is about this node, training or team.")
@click.option("--by", metavar="PERSON", help="Only what this person or automation did.")
@click.option("--since", metavar="DURATION", help="Only entries of this last time, such as 7d.")
@click.option("--what", metavar="KIND", help="Only entries that say this, such as refused.")
@click.option("--plan", metavar="PLAN", help="Only what happened to this plan.")
@click.option("--last", type=click.IntRange(1, 200), metavar="N", help="How many entries.")
@_server
def audit(
    of: str | None,
    by: str | None,
    since: str | None,
    what: str | None,
    plan: str | None,
    last: int | None,
    address: str,
    token_file: Path,
    output: str,
    is_json: bool,
) -> None:
    """Show who did what, and how it ended, newest first.

    Exit codes are those of `yardmaster do`. `yardmaster store audit` exports all of it.
    """
    options = {"--of": of, "--by": by, "--since": since, "--what": what, "--plan": plan, "--last": last}
    words = [str(word) for pair in options.items() if pair[1] is not None for word in pair]
    _post(("audit", *words), address, token_file, as_json=wants_json(output, is_json))


def _post(
    words: tuple[str, ...], address: str, token_file: Path, *, as_json: bool, files: tuple[Path, ...] = ()
) -> None:
    from bot.http.post_line import PostError, files_in, line_from_shell, post_line
    from bot.output import show_json

    try:
        token = token_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"the token in {token_file} cannot be read: {system_reason(error)}")
    words, named = files_in(words)
    try:
        answer = asyncio.run(post_line(address, token, line_from_shell(words), (*files, *named)))
    except OSError as error:
        fail(f"{error.filename} cannot be read: {system_reason(error)}")
    except PostError as error:
        fail(str(error), _EXIT_CODES[error.outcome])
    if as_json:
        tables = [[dict(zip(one.columns, row, strict=False)) for row in one.rows] for one in answer.tables]
        show_json({"outcome": answer.outcome.value, "text": answer.text, "tables": tables})
    elif answer.text:
        is_done = answer.outcome.value == "done"
        click.secho(answer.text, fg=None if is_done else "yellow", err=not is_done)
    if answer.outcome.value == "wrong" and any(word in _OUR_OPTIONS for word in words):
        click.echo("Options of `yardmaster do` itself come before the line.", err=True)
    sys.exit(_EXIT_CODES[answer.outcome.value])
