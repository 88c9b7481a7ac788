"""The commands of `routes`: what moves an Alertmanager's configuration here."""

import sys
from pathlib import Path

import click


@click.group()
def routes() -> None:
    """Import routes of an Alertmanager."""


@routes.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--channel",
    "channels",
    multiple=True,
    metavar="RECEIVER=ID",
    help="The channel in the place of a receiver, such as gpu-team=slack:C0123456; may be given several times.",
)
def routes_import(file: Path, channels: tuple[str, ...]) -> None:
    """Print the routes, inhibition and time intervals of an alertmanager.yml as settings of ours.

    What has no counterpart is in comments above, with what to do instead.
    """
    from bot.settings.alertmanager_import import ImportRefusedError, as_yaml, import_alertmanager

    given: dict[str, str] = {}
    for one in channels:
        receiver, separator, channel = one.rpartition("=")
        if not (separator and receiver and channel):
            raise click.BadParameter(f"{one}: write RECEIVER=ID", param_hint="--channel")
        given[receiver] = channel
    try:
        click.echo(as_yaml(import_alertmanager(file.read_text(encoding="utf-8"), given)), nl=False)
    except (OSError, UnicodeDecodeError) as error:
        click.echo(f"{file}: cannot be read: {error}", err=True)
        sys.exit(1)
    except ImportRefusedError as error:
        click.echo(f"{file}: {error}", err=True)
        sys.exit(1)
