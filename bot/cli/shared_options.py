"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

CONFIG = click.option(
    "--config",
    "config",
    type=click.Path(path_type=Path),
    envvar="YARDMASTER_CONFIG",
    show_envvar=True,
    help="The settings file. Environment variables override it.",
)

_OUTPUT = click.option(
    "--output",
    "-o",
    "output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table for people, or one JSON document.",
)
_JSON = click.option("--json", "is_json", is_flag=True, help="The same as --output json.")


def output_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--output` and `--json`; `wants_json` reads them."""
    return _OUTPUT(_JSON(command))


def wants_json(output: str, is_json: bool) -> bool:
    return is_json or output == "json"
