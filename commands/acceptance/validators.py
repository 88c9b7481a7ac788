"""Validators: programs of the site that test nodes, as custom kinds. Which ones there are is data."""

from datetime import timedelta
from functools import cache
from pathlib import Path

import msgspec
import yaml

from collectors.facts.clock import duration
from commands.execution.object_refs import JsonValue
from commands.execution.rights import Right

READINESS = "readiness"  # the name of what readiness rules ask for
RULES = ("readiness.node.x-k8s.io/v1alpha1", "NodeReadinessRule", "nodereadinessrules")
RULES_WITHIN = timedelta(minutes=30)
_FILE = Path(__file__).parent / "validators.yaml"


class Validator(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A custom kind that a program of the site tests nodes for."""

    name: str
    kind: str
    plural: str
    apis: tuple[str, ...]
    reads: str
    within: str
    spec: dict[str, JsonValue]
    namespaced: bool = False

    @property
    def lasting(self) -> timedelta:
        return duration(self.within)


@cache
def validators() -> tuple[Validator, ...]:
    """Return those that are known, the first that a cluster serves is used."""
    return msgspec.convert(yaml.safe_load(_FILE.read_text(encoding="utf-8")), tuple[Validator, ...])


def validator_rights(namespace: str) -> tuple[Right, ...]:
    """Return the rights to create and read them, and to read readiness rules."""
    return (
        *(
            Right(
                group=api.partition("/")[0],
                resources=(one.plural,),
                verbs=("get", "list", "create"),
                namespace=namespace if one.namespaced else "",
            )
            for one in validators()
            for api in one.apis
        ),
        Right(group=RULES[0].partition("/")[0], resources=(RULES[2],), verbs=("list",)),
    )


def filled_spec(spec: JsonValue, values: dict[str, str]) -> JsonValue:
    """Return the spec with the values of its words. A word is a whole string, so no value becomes anything else."""
    if isinstance(spec, dict):
        return {key: filled_spec(one, values) for key, one in spec.items()}
    if isinstance(spec, list):
        return [filled_spec(one, values) for one in spec]
    return values.get(spec, spec) if isinstance(spec, str) else spec
