"""The commands `store check`, `store backup` and `store restore` for the file of an SQLite store, and `store audit`."""

import asyncio
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import click

from bot.cli.failing import fail, system_reason
from bot.cli.service import usable_settings
from bot.cli.shared_options import CONFIG

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("store")
def store() -> None:
    """Check, back up and restore the store of Yardmaster."""


@store.command("check")
@CONFIG
@click.argument("file", required=False, type=_FILE)
def check_store(config: Path | None, file: Path | None) -> None:
    """Say what is wrong with the store, or with FILE, a backup; exit 1 if anything is. Yardmaster may run."""
    file = file or _store_file(config)
    problems = _problems(file)
    for problem in problems:
        click.echo(f"{file}: {problem}", err=True)
    if problems:
        fail("restore a backup with `yardmaster store restore BACKUP`; rows that cannot be read are left out")
    click.echo(f"{file} is whole, and every row of it can be read.")


@store.command()
@CONFIG
@click.argument("target", type=_FILE)
def backup(config: Path | None, target: Path) -> None:
    """Copy the store to TARGET, a new file, as it is at this moment. Yardmaster may run."""
    from bot.store.file_copy import copy_file

    file = _store_file(config)
    if target.exists():
        fail(f"{target} exists: name a new file")
    if not file.exists():
        fail(f"there is no store {file}")
    try:
        copy_file(file, target)
    except (sqlite3.Error, OSError) as error:
        fail(f"{file} was not copied to {target}: {system_reason(error)}")
    if problems := _problems(target, rows=False):
        fail(f"{target} is as damaged as the store: {problems[0]}")
    click.echo(f"{file} was copied to {target}.")


@store.command()
@CONFIG
@click.argument("backup", type=_FILE)
def restore(config: Path | None, backup: Path) -> None:
    """Put BACKUP in the place of the store, which is kept beside it. Stop Yardmaster before."""
    from bot.store.file_copy import put_in_place
    from bot.store.store_file import holder_of, try_to_hold
    from collectors.facts.clock import SystemClock

    file = _store_file(config)
    if problems := _problems(backup, rows=False):
        fail(f"{backup} is not a backup to use: {problems[0]}")
    try:
        lock = try_to_hold(file)
        if lock is None:
            fail(f"{file} is held by a Yardmaster that runs ({holder_of(file)}): stop it first")
        with lock:
            kept = put_in_place(backup, file, now=SystemClock().now())
    except (sqlite3.Error, OSError) as error:
        fail(f"{backup} was not restored: {system_reason(error)}")
    where = f" What was there is kept as {kept}." if kept else ""
    click.echo(f"{backup} is now the store {file}.{where}")
    click.echo("Start Yardmaster. Cards that were posted since the backup are posted again.")


@store.command("audit")
@CONFIG
@click.option(
    "--of", "subject", default="", metavar="NAME", help="Only what is about this node, training or team."
)
@click.option(
    "--by", default="", metavar="PERSON", help="Only what this person or automation did: a name or an id."
)
@click.option("--since", default="", metavar="DURATION", help="Only entries of this last time, such as 7d.")
@click.option("--what", default="", metavar="KIND", help="Only entries that say this, such as refused.")
@click.option("--out", type=_FILE, help="A new file to write to; the standard output if not given.")
def export_audit(config: Path | None, subject: str, by: str, since: str, what: str, out: Path | None) -> None:
    """Print the audit of all clusters as lines of JSON, the oldest entry first. Yardmaster may run."""
    from collectors.facts.clock import duration

    try:
        lasting = duration(since) if since else None
    except ValueError as error:
        fail(f"--since: {error}")
    if out is not None and out.exists():
        fail(f"{out} exists: name a new file")
    lines = asyncio.run(_audit_lines(usable_settings(config).store.url, subject, by, lasting, what))
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{out} was not written: {system_reason(error)}")
    click.echo(f"{out} has the audit; entries: {len(lines)}.")


async def _audit_lines(url: str, subject: str, by: str, since: timedelta | None, what: str) -> Sequence[str]:
    import bot.wiring  # noqa: F401 - with it every table is declared
    from alerts.store import StoreError
    from bot.store.sql_store import SqlStore
    from collectors.facts.clock import SystemClock
    from commands.audit.search import AuditFilter, found, json_line
    from commands.models import Person

    at = SystemClock().now() - since if since else None
    try:
        store = SqlStore.to_read(url)
        try:
            async with store.read() as snapshot:
                people = await snapshot.rows(Person).find()
                ids = {id for one in people if by in (one.name, *one.ids) for id in one.ids} or {by}
                wanted = AuditFilter(subject=subject, ids=ids, name=by, since=at, what=what)
                entries = await found(snapshot, wanted, looked_through=10**9)
        finally:
            await store.close()
    except (StoreError, ValueError) as error:
        fail(str(error))
    return [json_line(one) for one in reversed(entries)]


def _store_file(config: Path | None) -> Path:
    from bot.store.backends.backend_catalogue import backend_of

    url = usable_settings(config).store.url
    try:
        file = backend_of(url).file
    except Exception:  # of the URL: it is not written, as it may have a password
        file = None
    if file is None:
        fail("store.url names no file of SQLite: use the tools of its database server")
    return file


def _problems(file: Path, *, rows: bool = True) -> list[str]:
    import bot.wiring  # noqa: F401 - with it every table is declared
    from bot.store.store_check import problems_of

    try:
        return problems_of(file, rows=rows)
    except OSError as error:
        fail(f"{file} cannot be read: {system_reason(error)}")
