"""The command pipeline: parse, authorize, plan, confirm, record, answer.

`planner.py` makes the plans. It ends by storing the confirmed plan; `commands/execution/executor.py` runs it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from alerts.cards.message import Color, Message
from alerts.cards.text import markup, text
from alerts.routing import CardRouting
from alerts.rules import Rule
from alerts.store import Store, StoreError
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, sentence
from commands.core.actor_rights import ActorRights
from commands.core.approval import check_automation
from commands.core.asking import ask_teams
from commands.core.asking_owners import Consents
from commands.core.blindness import with_blindness
from commands.core.budgets import Budgets
from commands.core.cluster_selection import cluster_named, select_cluster, with_cluster
from commands.core.command import (
    Answer,
    AnyCommand,
    DeniedError,
    PlanDraft,
    UnknownNameError,
    UnusableError,
)
from commands.core.confirmation import ProposalTimes
from commands.core.context import Cluster, CommandContext, Defaults, Members
from commands.core.drafting import Drafting
from commands.core.guidance import (
    absent,
    form_of,
    line_from_words,
    not_stored,
    offered,
)
from commands.core.last_values import last_words
from commands.core.line_failures import LineProgress, interruption_of, refusal_of
from commands.core.line_reader import LineReader
from commands.core.matching.interpretation import Absent, Fill, Offer
from commands.core.matching.lexicon import Lexicon
from commands.core.parsing import action_of, find, words_of
from commands.core.permissions import Permissions
from commands.core.persons import EachTheirOwn, Persons
from commands.core.plan_decisions import PlanDecisions
from commands.core.planner import Planner, previewed
from commands.core.request import Actor, ActorKind, Request
from commands.core.request_journal import OnceStore, RequestJournal
from commands.core.rule_runs import RuleRun
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.impersonation import Impersonation
from commands.execution.plan import Plan, PlanState
from commands.execution.plan_gate import Gate, Gates

TIMEOUT = timedelta(seconds=20)  # for one command's reads and dry run


async def nothing_waits() -> int:
    """Return that nothing was accepted that is not shown yet."""
    return 0


async def as_given(actor: Actor) -> Actor:
    """Return the actor: their teams cannot change."""
    return actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The command pipeline and its dependencies. `clusters` and `writers` are by cluster name.

    `catch_up` waits a moment for the alerts that were accepted from senders, and returns how many are not shown yet.
    `current` returns an actor with their teams of this moment, or raises UnusableError; a confirmation asks it.
    `observe` is called once for each handled line, with its command (`unknown` for none) and its outcome.
    """

    lexicon: Lexicon
    permissions: Permissions
    store: Store
    clusters: Mapping[str, Cluster]
    writers: Mapping[str, ClusterWriter]
    clock: Clock
    defaults: Defaults
    rules: Callable[[], Mapping[str, Rule]]  # by id; they may be reloaded
    unseen: Callable[[str], Mapping[str, str]] = lambda _cluster: {}  # source -> why it cannot be seen now
    rule_runs: Callable[[str], Mapping[str, RuleRun]] = lambda _cluster: {}  # by the rule's id
    catch_up: Callable[[], Awaitable[int]] = nothing_waits
    current: Callable[[Actor], Awaitable[Actor]] = as_given
    observe: Callable[[str, str], None] = lambda _command, _outcome: None
    members: Members | None = None
    persons: Persons = field(default_factory=EachTheirOwn)
    routing: CardRouting = field(
        default_factory=CardRouting
    )  # its default: where teams without a channel are asked
    times: ProposalTimes = field(default_factory=ProposalTimes)
    budgets: Budgets | None = None
    impersonation: Impersonation = field(default_factory=Impersonation)
    gates: tuple[Gate, ...] = ()  # beside the budgets
    consents: Consents | None = None

    async def handle(self, request: Request) -> Answer | None:
        """Run the line until it needs a confirmation. Return None if there is nothing to answer.

        A request that was handled before returns None, and so does any request from a guest.
        """
        progress = LineProgress(cluster_name=self._first)
        try:
            if request.actor.is_guest or not await self._journal.begin(request):
                progress.outcome = ""
                return _DONE_BEFORE if request.is_resumed and not request.actor.is_guest else None
            return await self._answer(request, progress)
        except StoreError as error:  # whatever is done is stored first
            return not_stored(error)
        finally:
            if progress.outcome:
                self.observe(progress.command.name if progress.command else "unknown", progress.outcome)

    async def _answer(self, request: Request, progress: LineProgress) -> Answer | None:
        try:
            async with asyncio.timeout(TIMEOUT.total_seconds()):
                words, named = cluster_named(words_of(request.line))
                reader = self._reader
                thread = await reader.thread_of(request)
                progress.cluster_name = named or thread.cluster or self._first
                meaning = await reader.meaning_of(request, words, progress.cluster_name, thread)
                if isinstance(meaning, Absent):
                    progress.outcome = "invalid"
                    return self._with_cluster(absent(meaning), progress.cluster_name)
                if isinstance(meaning, Offer):
                    if not meaning.lines:
                        find(words, self.catalogue)  # raises UnusableError with what there is
                    progress.outcome = "invalid"
                    return self._with_cluster(offered(request.line, meaning), progress.cluster_name)
                progress.command = command = meaning.command
                if meaning.words != tuple(words):
                    request = replace(request, line=line_from_words(meaning.words, named))
                words, said = cluster_named(meaning.words)
                meaning, named = replace(meaning, words=tuple(words)), named or said
                progress.words = words
                async with self.store.read() as snapshot:
                    selected = await select_cluster(
                        command, words, named, origin=request.origin, snapshot=snapshot
                    )
                progress.cluster_name = cluster = selected or self._first
                if isinstance(meaning, Fill):
                    progress.outcome = "invalid"
                    return await self._fill(request, meaning, cluster)
                answer = self._with_cluster(await self._run(request, command, words, cluster), cluster)
                progress.outcome = "done"
                return answer
        except (DeniedError, UnknownNameError, UnusableError) as error:
            return self._with_cluster(
                await refusal_of(error, request, progress, self._journal), progress.cluster_name
            )
        except (SourceError, TimeoutError) as error:
            return interruption_of(error, request, progress, within=TIMEOUT)

    async def _fill(self, request: Request, meaning: Fill, cluster: str) -> Answer | None:
        context = await self._context(request, cluster)
        command = meaning.command
        if command.owns is None:  # else it depends on what will be filled in
            self.permissions.check(request.actor, command, cluster=context.cluster.name)
        if command.repeats_last and len(meaning.words) == len(command.name.split()):
            async with self.store.read() as snapshot:
                last = await last_words(command, request.actor, self.persons, snapshot)
            meaning = replace(meaning, words=(*meaning.words, *last))
        return self._with_cluster(form_of(meaning, cluster), cluster)

    async def _run(
        self, request: Request, command: AnyCommand, words: Sequence[str], cluster: str
    ) -> Answer | None:
        context = await self._context(request, cluster)
        if command.owns is None:  # else it depends on what the line names
            self.permissions.check(request.actor, command, cluster=context.cluster.name)
        action = action_of(command, words)
        if not await command.is_own(action, context):
            self.permissions.check(request.actor, command, cluster=context.cluster.name)
        if command.read is not None:
            if command.shows_received:
                context = replace(context, not_yet_shown=await self.catch_up())
            return with_blindness(await command.read(action, context), command, context)
        await self._journal.note(request, cluster, "asked")
        if command.record is not None:
            return await command.record(action, replace(context, store=OnceStore(self.store, request)))
        planner = self._planner
        if request.is_resumed and (shown := await planner.shown_before(request, cluster)) is not None:
            return previewed(shown) if shown.state is PlanState.PROPOSED else _DONE_BEFORE
        plan, draft = await planner.make(command, action, context, line=request.line)
        if draft.nothing_to_do:
            return Answer(message=Message(title=markup(draft.nothing_to_do), color=Color.INFO))
        if request.actor.kind is ActorKind.AUTOMATION:
            check_automation(plan, request.actor)
            await planner.confirm(plan, by=request.actor)
            return None
        return await planner.propose(replace(plan, request=request.id), draft)

    async def sketch(self, request: Request, cluster: str) -> tuple[Plan, PlanDraft]:
        """Return the plan that a line of automation would make now; nothing is stored, and no right is asked.

        Raises UnusableError, SourceError and TimeoutError.
        """
        async with asyncio.timeout(TIMEOUT.total_seconds()):
            words, _ = cluster_named(words_of(request.line))
            command = find(words, self.catalogue)
            context = await self._context(request, cluster)
            return await self._planner.sketch(command, action_of(command, words), context, line=request.line)

    async def ask(self, words: Sequence[str], context: CommandContext) -> Answer:
        """Ask the teams that may run the line to confirm its plan."""
        words, _ = cluster_named(words)
        command = find(words, self.catalogue)
        return await ask_teams(command, words, context, self._planner, line=line_from_words(words))

    @property
    def catalogue(self) -> Sequence[AnyCommand]:
        return self.lexicon.catalogue

    @property
    def _reader(self) -> LineReader:
        return LineReader(
            lexicon=self.lexicon,
            store=self.store,
            clusters=self.clusters,
            rules=self._rules,
            teams=tuple(self.permissions.teams),
            defaults=self.defaults,
        )

    @property
    def _journal(self) -> RequestJournal:
        return RequestJournal(store=self.store, clock=self.clock)

    @property
    def decisions(self) -> PlanDecisions:
        """What is decided about stored plans, for commands and for the plan runner."""
        return PlanDecisions(
            planner=self._planner,
            store=self.store,
            clock=self.clock,
            persons=self.persons,
            catalogue=self.catalogue,
            current=self.current,
            context_of=self._context,
        )

    @property
    def _planner(self) -> Planner:
        return Planner(
            permissions=self.permissions,
            store=self.store,
            drafting=Drafting(writers=self.writers, impersonation=self.impersonation, consents=self.consents),
            clock=self.clock,
            expires=self.defaults.plan_expires,
            times=self.times,
            budgets=self.budgets,
            gates=self.gate,
            consents=self.consents,
        )

    @property
    def gate(self) -> Gates:
        """All gates between a confirmed plan and its steps. Budgets are the last: they count what the others let go."""
        return Gates((*self.gates, self.budgets) if self.budgets is not None else self.gates)

    async def _context(self, request: Request, name: str) -> CommandContext:
        cluster = self.clusters.get(name)
        if cluster is None:
            known = listed(sorted(self.clusters)) or sentence("none: the settings list no clusters")
            raise UnusableError(
                sentence("There is no cluster `{cluster}`. Clusters: {known}.", cluster=name, known=known)
            )
        rights = ActorRights(
            actor=request.actor, permissions=self.permissions, catalogue=self.catalogue, cluster=name
        )
        return CommandContext(
            actor=request.actor,
            now=self.clock.now(),
            cluster=cluster,
            store=self.store,
            origin=request.origin,
            defaults=self.defaults,
            uploads=request.uploads,
            line=request.line,
            rules=self._rules(name),
            unseen=self.unseen(name),
            rule_runs=self.rule_runs(name),
            routing=self.routing,
            may=rights.may,
            refuse=rights.refusal,
            refuse_automation=rights.automation_refusal,
            granted=rights.granted,
            confirm=self.decisions.confirm,
            exceed=self.decisions.exceed,
            gate=self.gate,
            ask=self.ask,
            members=self.members,
            persons=self.persons,
            teams=self.permissions.teams,
            undoing=tuple(one.undoing for one in self.catalogue if one.undoing is not None),
            channels={"": self.routing.default}
            | {name: one.channel for name, one in self.permissions.teams.items()},
        )

    def _rules(self, cluster: str) -> Mapping[str, Rule]:
        """Return the rules that are in force in a cluster, by id."""
        return {id: rule for id, rule in self.rules().items() if rule.is_in_force(cluster)}

    @property
    def _first(self) -> str:
        """The default cluster, for a line that names none."""
        return next(iter(self.clusters), "")

    def _with_cluster(self, answer: Answer | None, cluster: str) -> Answer | None:
        if answer is None or len(self.clusters) < 2:
            return answer
        return replace(answer, message=with_cluster(answer.message, cluster))


_DONE_BEFORE = Answer(
    message=Message(title=text("This was done before Yardmaster was restarted; `audit` shows what."))
)
