"""The list of repairs: ours, which are files of this folder, and those of the settings. Nothing else is ever run."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Protocol

import msgspec
import yaml

from collectors.facts.clock import duration
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.core.node_script import NodeScript, Repair

NEEDS_CORDON, NEEDS_IDLE, NEEDS_PAUSE = "cordoned", "idle", "paused"
NEEDS = (NEEDS_CORDON, NEEDS_IDLE, NEEDS_PAUSE)
_FOLDER = Path(__file__).parent


_OF_SETTINGS = "it is a script of the settings, and runs as root on the node"


class RepairEntry(Protocol):
    """A repair as the settings describe it."""

    @property
    def summary(self) -> str: ...
    @property
    def script(self) -> str: ...
    @property
    def image(self) -> str: ...
    @property
    def on_host(self) -> bool: ...
    @property
    def privileged(self) -> bool: ...
    @property
    def within(self) -> timedelta: ...
    @property
    def needs(self) -> Sequence[str]: ...
    @property
    def second_person(self) -> bool: ...


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    summary: str
    within: str
    needs: tuple[str, ...] = ()
    second_person: str = ""
    gpus: bool = False
    index: bool = False
    shared: str = ""
    relieves: tuple[str, ...] = ()


@cache
def own_repairs() -> Mapping[str, Repair]:
    """Return the repairs that are shipped, by name."""
    found = yaml.safe_load((_FOLDER / "repairs.yaml").read_text(encoding="utf-8"))
    entries = msgspec.convert(found, dict[str, _Entry])
    return {name: _own(name, entry) for name, entry in entries.items()}


def _own(name: str, entry: _Entry) -> Repair:
    scripts = _FOLDER / "scripts"
    text = (scripts / f"{name}.sh").read_text(encoding="utf-8")
    if entry.shared:
        text += (scripts / "shared" / f"{entry.shared}.sh").read_text(encoding="utf-8")
    script = NodeScript(name=f"repair/{name}", text=text, on_host=True, within=duration(entry.within))
    return Repair(
        name=name,
        summary=entry.summary,
        script=script,
        needs=entry.needs,
        second_person=entry.second_person,
        is_for_gpus=entry.gpus,
        has_index=entry.index,
        relieves=entry.relieves,
    )


def repairs(context: CommandContext) -> Mapping[str, Repair]:
    """Return all repairs by name. The settings cannot take the name of one of ours."""
    return {**context.defaults.repairs, **own_repairs()}


def repair_named(name: str, context: CommandContext) -> Repair:
    """Return the repair of this name. Raises UnusableError with those that there are."""
    found = repairs(context)
    return found[known_name(name, found, "repair")]


def of_settings(name: str, entry: RepairEntry) -> Repair:
    """Return a repair that the settings describe."""
    made = NodeScript(
        name=f"repair/{name}",
        text=entry.script,
        image=entry.image,
        on_host=entry.on_host,
        privileged=entry.privileged,
        within=entry.within,
    )
    return Repair(
        name=name,
        summary=entry.summary,
        script=made,
        needs=tuple(entry.needs),
        second_person=_OF_SETTINGS if entry.second_person else "",
    )
