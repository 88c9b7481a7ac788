"""The command `yardmaster`: its commands, and those of other installed packages."""

import os
from importlib.metadata import entry_points, version

import click

from bot.cli.lines import audit, do
from bot.cli.log_setup import configure_logs
from bot.cli.route_commands import routes
from bot.cli.rule_commands import rules
from bot.cli.service import check, doctor, run
from bot.cli.store_commands import store


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The on-call partner of Kubernetes GPU clusters."""


@main.command("version")
def show_version() -> None:
    """Print the version."""
    click.echo(f"yardmaster {version('yardmaster')}")


def _add_demo() -> None:
    """Add the commands of other installed packages: the demo."""
    for entry_point in entry_points(group="yardmaster.demo"):
        try:
            main.add_command(entry_point.load())
        except ImportError:  # the demo's dependencies are not in a production image
            if os.environ.get("YARDMASTER_DEBUG"):
                raise


for _command in (run, check, doctor, rules, routes, store, do, audit):
    main.add_command(_command)
configure_logs()
_add_demo()
