"""The context of a command: what it may read and query while it answers or plans."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from alerts.routing import CardRouting
from alerts.rules import Rule
from alerts.store import Store
from collectors.cluster.inventory import Inventory
from collectors.facts.findings import Finding
from collectors.facts.queries import Query
from collectors.facts.results import QueryResult
from collectors.facts.sentences import sentence
from collectors.facts.topology import Topology
from collectors.gpu_activity import IDLE_AFTER
from collectors.sources.source_port import LogReader
from collectors.trainings.training import Training
from commands.acceptance.suites import AcceptancePolicy
from commands.core.grant import Grant
from commands.core.node_script import NodeJobDefaults, Repair
from commands.core.persons import EachTheirOwn, Persons
from commands.core.reboots import RebootDefaults
from commands.core.request import Actor, Upload
from commands.core.rule_runs import RuleRun
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectReader
from commands.execution.plan import Origin, Plan
from commands.execution.plan_gate import Gate, open_gate
from commands.execution.steps import Record, Step


class PodLogReader(Protocol):
    async def logs(
        self,
        namespace: str,
        pod: str,
        *,
        container: str = "",
        tail: int = 100,
        previous: bool = False,
        byte_limit: int = 1 << 20,
        timestamps: bool = False,
        since: timedelta | None = None,
    ) -> str: ...


class Cluster(Protocol):
    """One cluster and its sources. A source that is not in the settings is None."""

    @property
    def name(self) -> str: ...

    async def query(self, query: Query, *, at: datetime) -> QueryResult:
        """Return the result from the source of the query. Without one, or when it fails, it is Blind."""
        ...

    async def diagnose(
        self, queries: Mapping[str, Query], *, at: datetime, within: timedelta
    ) -> Mapping[str, Sequence[Finding]]:
        """Return what is missing for these queries, which are by their rules' names, by the source."""
        ...

    @property
    def logs(self) -> LogReader | None: ...

    @property
    def pod_logs(self) -> PodLogReader | None: ...

    @property
    def reader(self) -> ObjectReader | None: ...

    def inventory(self) -> Inventory:
        """Return the cached cluster. Raises SourceError when it cannot be seen."""
        ...

    def trainings(self) -> Sequence[Training]: ...

    def topology(self) -> Topology: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """Settings of commands that differ between clusters. Durations are defaults that an option may override."""

    idle_after: timedelta = IDLE_AFTER
    reclaim_grace: timedelta = timedelta(minutes=30)
    cordon_for: timedelta = timedelta(hours=4)
    plan_expires: timedelta = timedelta(minutes=30)
    dns_namespace: str = "kube-system"
    dns_selector: Mapping[str, str] = field(default_factory=lambda: {"k8s-app": "kube-dns"})
    pull_secret: str = ""  # namespace/name of the registry secret to copy for each new training
    training_images: tuple[str, ...] = ("*",)  # patterns
    stacks_image: str = ""  # of containers that `pod stacks` adds
    training_queues: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # pattern of queues -> the teams
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by cluster, with {placeholders}
    training_kinds: tuple[str, ...] = ()  # as they are typed, those that are used; all, if none is given
    owners: Mapping[str, str] = field(default_factory=dict)  # owner as named in the cluster -> the person
    redact: tuple[str, ...] = ()  # patterns for shown log lines, in addition to the shipped ones
    node_jobs: NodeJobDefaults = field(default_factory=NodeJobDefaults)
    reboot: RebootDefaults = field(default_factory=RebootDefaults)
    repairs: Mapping[str, Repair] = field(default_factory=dict)  # of the settings, by name
    acceptance: AcceptancePolicy = field(default_factory=AcceptancePolicy)


class Confirm(Protocol):
    """Confirms a proposed plan: the pipeline's method, passed to `plan confirm`."""

    async def __call__(self, id: str, *, hash: str, actor: Actor) -> Any: ...


class Exceed(Protocol):
    """Proposes a plan over the budget that holds another one back: the pipeline's, passed to `plan exceed`."""

    async def __call__(self, id: str, *, reason: str, actor: Actor) -> Any: ...


class Refuse(Protocol):
    """Returns why the context's actor may not run a command in those namespaces, or None."""

    def __call__(self, name: str, namespaces: Sequence[str]) -> str | None: ...


class Ask(Protocol):
    """Asks the teams that may run a line to confirm its plan: the pipeline's method, passed to `ask`."""

    async def __call__(self, words: Sequence[str], context: "CommandContext") -> Any: ...


class Members(Protocol):
    """Returns the ids of the people in a team, as far as they can be looked up."""

    async def __call__(self, team: str) -> Sequence[str]: ...


class RefuseAutomation(Protocol):
    """Returns why an automation may not run a command in those namespaces, or None."""

    def __call__(self, automation: str, name: str, namespaces: Sequence[str]) -> str | None: ...


class Granted(Protocol):
    """Returns the patterns of the namespaces in which the context's actor may run a command."""

    def __call__(self, name: str) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoEffects:
    """What the steps of an undo do beyond what they say."""

    notes: tuple[str, ...] = ()
    disrupts: tuple[Disruption, ...] = ()
    breaks: tuple[str, ...] = ()  # why it needs a second person, beyond the running work that it ends


async def _no_effects(_steps: Sequence[Step], _context: "CommandContext") -> UndoEffects:
    return UndoEffects()


async def _not_own(_plan: Plan, _context: "CommandContext") -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoing:
    """What a noun adds to the undo of any plan, beside the inverses of its steps. Commands declare it.

    `is_own`: the plan is the actor's own to undo, whatever else they may run. `instead`: from a Record step that was
    done, and its plan, to the step in the place of its inverse; None where the inverse is right. `effects`: of the
    undo's steps.
    """

    is_own: Callable[[Plan, "CommandContext"], Awaitable[bool]] = _not_own
    instead: Callable[[Record, Plan, "CommandContext"], Record | None] = lambda _step, _plan, _context: None
    effects: Callable[[Sequence[Step], "CommandContext"], Awaitable[UndoEffects]] = _no_effects


NOT_CONNECTED = sentence("not connected")  # why a source cannot be seen that the settings do not have


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """Everything a command may use. Nothing here writes to the cluster."""

    actor: Actor
    now: datetime
    cluster: Cluster
    store: Store
    origin: Origin = field(default_factory=Origin)
    defaults: Defaults = field(default_factory=Defaults)
    uploads: tuple[Upload, ...] = ()
    line: str = ""  # as it was typed
    confirm: Confirm | None = None
    exceed: Exceed | None = None
    gate: Gate = open_gate  # all gates of plans
    ask: Ask | None = None
    members: Members | None = None
    teams: Mapping[str, Grant] = field(default_factory=dict)
    rules: Mapping[str, Rule] = field(default_factory=dict)  # by id
    persons: Persons = field(default_factory=EachTheirOwn)
    rule_runs: Mapping[str, RuleRun] = field(default_factory=dict)  # by the rule's id
    routing: CardRouting = field(default_factory=CardRouting)  # where alerts notify
    unseen: Mapping[str, str] = field(default_factory=dict)  # source -> why it cannot be seen now
    not_yet_shown: int = 0  # alerts that were accepted from senders, and whose effects are not stored yet
    channels: Mapping[str, str] = field(default_factory=dict)  # where each team reads; "" is the default
    may: Mapping[str, bool] = field(default_factory=dict)  # command name -> whether this actor may run it
    refuse: Refuse | None = None
    refuse_automation: RefuseAutomation | None = None
    granted: Granted = lambda _name: ()
    undoing: tuple[Undoing, ...] = ()  # of all commands

    def refusal(self, name: str, *namespaces: str) -> str | None:
        """Return why the actor may not run another command there, or None. Without `refuse` nothing is allowed."""
        return (
            self.refuse(name, namespaces)
            if self.refuse
            else sentence("You are not allowed to run `{name}`.", name=name)
        )

    def may_automate(self, automation: str, name: str, *namespaces: str) -> bool:
        """Whether the settings let this automation run the command there."""
        return self.refuse_automation is not None and (
            self.refuse_automation(automation, name, namespaces) is None
        )
