"""This file has scenarios as data: what happens, what must be seen, told, offered and done, and how it ends."""

from collections.abc import Mapping
from importlib import resources
from typing import Any

import msgspec
import yaml


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"parameters": "with"}):
    """One fault of the world. `prometheus` stops the real Prometheus; any other name is one of `demo.world.faults`."""

    fault: str
    parameters: dict[str, Any] = {}


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"who": "as"}):
    """What a person does: press a button of the card (or of the channel's last one), or type a line."""

    who: str
    press: str = ""
    type: str = ""
    where: str = ""  # the channel of the card, or to type in; the scenario's first when empty
    confirm: bool = True  # press Confirm on the preview
    refused: str = ""  # instead of a preview, an answer with these words


class ExpectedState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must be so in the cluster after the acts. Each that is set is looked for."""

    cordoned: str = ""
    dns_replicas: int = 0
    training_gone: str = ""  # over or suspended: it holds no GPUs
    training_runs: str = ""
    answered: str = ""  # words of an answer to the one who acted


class ExpectedCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where exactly one card must stand. `fold` names the incident; `card` the training of a launch's card."""

    channels: list[str]
    group_key: str = ""
    launch: str = ""


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scenario. `then` are the acts that set things right at the end, `also` incidents that may come with it."""

    name: str
    title: str
    story: str
    card: ExpectedCard
    happens: list[Fault] = []
    begins: list[Fault] = []  # was so in the past already
    types: list[Act] = []
    seen: list[str] = []
    acts: list[Act] = []
    done: ExpectedState = ExpectedState()
    mends: list[str] = []  # faults that end once it is done
    mends_after: float = 4  # seconds
    says: str = ""  # words of the card at the end
    then: list[Act] = []
    also: list[str] = []
    within: float = 150  # seconds, for each of: seen, done, recovered


def load_scenarios() -> dict[str, Scenario]:
    """All scenarios, by name, in the order they are played. Raises ValueError that names the file of a broken one."""
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
