"""Scenarios as data: the faults, and the alerts, cards, actions and results that must follow."""

from collections.abc import Mapping
from importlib import resources
from typing import Any

import msgspec
import yaml


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"parameters": "with"}):
    """A fault to start. `prometheus` stops the real Prometheus, `sent_alerts` are those of another program; any other
    name is one of `demo.world.faults`."""

    fault: str
    parameters: dict[str, Any] = {}


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user's action: press a button on the newest message that has it, or type a command."""

    user: str
    press: str = ""
    type: str = ""
    channel: str = ""  # the channel to type in or to find the button in; empty: the scenario's first
    form: dict[str, str] = {}  # the fields of the form that opens, by their labels; it is submitted
    confirm: bool = True  # press Confirm on the preview
    refused: str = ""  # expect an answer with this text instead of a preview


class ExpectedState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must hold in the cluster after the actions. Only fields that are set are checked."""

    cordoned: str = ""
    dns_replicas: int = 0
    training_gone: str = ""  # finished or suspended: it holds no GPUs
    training_runs: str = ""
    answered: str = ""  # text of an answer to the user who acted last


class ExpectedCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Channels in which exactly one card must be posted: an incident's, by its group key, that of a parent incident,
    by its key, or a training launch's."""

    channels: list[str]
    group_key: str = ""
    parent: str = ""
    launch: str = ""


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scenario. `cleanup` are final actions; `also` are group key prefixes of allowed other incidents."""

    name: str
    title: str
    story: str
    card: ExpectedCard
    faults: list[Fault] = []
    initial_faults: list[Fault] = []  # faults that already hold in the simulated history
    commands: list[Action] = []
    alerts: list[str] = []
    actions: list[Action] = []
    done: ExpectedState = ExpectedState()
    end_faults: list[str] = []  # faults to end once `done` holds
    end_faults_after: float = 4  # seconds
    after: list[Action] = []  # actions once the faults have ended
    card_text: str = ""  # text of the card at the end
    cleanup: list[Action] = []
    also: list[str] = []
    within: float = 150  # seconds, for each of: alerts, done, resolved


def load_scenarios() -> dict[str, Scenario]:
    """Return all scenarios by name, in run order. Raises ValueError that names the file of an invalid one."""
    found = []
    for file in resources.files("demo.scenarios").iterdir():
        if not file.name.endswith(".yaml"):
            continue
        raw: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
        try:
            found.append(
                (
                    raw.get("order", 0),
                    msgspec.convert({k: v for k, v in raw.items() if k != "order"}, Scenario),
                )
            )
        except msgspec.ValidationError as error:
            raise ValueError(f"{file.name}: {error}") from error
    return {scenario.name: scenario for _, scenario in sorted(found, key=lambda pair: pair[0])}
