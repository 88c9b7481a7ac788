"""Tests of a node that other programs of the site run: which ones there are, and the steps that await them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collectors.acceptance.validations import ABOUT_NODE, conditions_asked
from collectors.cluster.objects import Node
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.acceptance.acceptance import PlannedTest
from commands.acceptance.suites import OUR_SUITE
from commands.acceptance.validators import READINESS, RULES, RULES_WITHIN, Validator, filled_spec, validators
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.execution.object_refs import ObjectRef, ref_of
from commands.execution.steps import Create, Wait
from commands.node.cordon_steps import ref_of_node

_HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedValidator:
    """A validator that the cluster serves, and the version in which it does."""

    validator: Validator
    api: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherTest:
    """A test of another program: its steps, and how the plan has it."""

    steps: tuple[Create | Wait, ...]
    planned: PlannedTest


async def chosen_validator(name: str, context: CommandContext) -> ServedValidator | None:
    """Return the validator that tests instead of a suite: the one of this name or, without a name, the first served.

    Suites of the settings come first. Raises UnusableError for one that the cluster does not serve.
    """
    policy = context.defaults.acceptance
    if name in policy.suites or name == OUR_SUITE or (not name and policy.suite != OUR_SUITE):
        return None
    if not name and OUR_SUITE in policy.suites:
        return None
    for one in validators():
        if name in ("", one.name) and (api := await _served(one, context)):
            return ServedValidator(validator=one, api=api)
    known = next((one for one in validators() if one.name == name), None)
    if known is not None:
        raise UnusableError(
            sentence(
                "`{name}` needs a cluster that serves `{kind}`, and this one does not.",
                kind=known.kind,
                name=name,
            )
        )
    return None


async def _served(one: Validator, context: CommandContext) -> str:
    """Return the first version in which the API server serves the kind; empty if it serves none."""
    namespace = context.defaults.node_jobs.namespace if one.namespaced else ""
    for api in one.apis:
        if await _listing(api, one.kind, context, namespace) is not None:
            return api
    return ""


async def _listing(
    api: str, kind: str, context: CommandContext, namespace: str = ""
) -> Sequence[dict[str, Any]] | None:
    """Return the objects of a kind; None where the API server does not serve it, or lets nobody read it."""
    try:
        return await reader_of(context).listing(ObjectRef(api=api, kind=kind, name="", namespace=namespace))
    except SourceError as error:
        if error.status not in (403, 404):
            raise
        return None


def other_test(found: ServedValidator, node: Node, number: int, context: CommandContext) -> OtherTest:
    """Return the object that the validator is to work on, and the wait for its verdict."""
    one, name = found.validator, node.metadata.name
    hostname = (node.metadata.labels or {}).get(_HOSTNAME, name)
    meta: dict[str, Any] = {"name": f"yardmaster-{name}-{number}"[-253:].lstrip("-.")}
    if one.namespaced:
        meta["namespace"] = context.defaults.node_jobs.namespace
    spec = filled_spec(one.spec, {"NODE": name, "HOSTNAME": hostname})
    create = Create(
        manifest={"apiVersion": found.api, "kind": one.kind, "metadata": meta, "spec": spec},
        description=sentence("ask {validator} to test {node}", validator=one.name, node=name),
    )
    ref, wanted = ref_of(create.manifest), {ABOUT_NODE: name}
    wait = Wait(
        ref=ref,
        description=sentence("wait for its verdict, at most {within}", within=one.lasting),
        verdict=one.reads,
        wanted=wanted,
        seconds=one.lasting.total_seconds(),
    )
    planned = PlannedTest(name=one.kind, reads=one.reads, node=name, script="", of=ref, wanted=wanted)
    return OtherTest(steps=(create, wait), planned=planned)


async def readiness_test(node: Node, context: CommandContext) -> OtherTest | None:
    """Return the wait for what readiness rules ask of the node; None where none asks for anything."""
    rules = await _listing(RULES[0], RULES[1], context)
    found = await reader_of(context).read(ref_of_node(node)) if rules else None
    wanted = conditions_asked(rules or (), found) if found is not None else {}
    if not wanted:
        return None
    named = ref_of_node(node)
    wait = Wait(
        ref=named,
        description=sentence(
            "wait until {node} has the conditions that readiness rules ask for, at most {within}",
            node=node.metadata.name,
            within=RULES_WITHIN,
        ),
        verdict="conditions",
        wanted=wanted,
        seconds=RULES_WITHIN.total_seconds(),
    )
    planned = PlannedTest(
        name=READINESS, reads="conditions", node=node.metadata.name, script="", of=named, wanted=wanted
    )
    return OtherTest(steps=(wait,), planned=planned)
