"""The command `rule doctor`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from difflib import get_close_matches
from itertools import chain

import click

from alerts.cards.message import Block, Color, Context, Fields, Message, Paragraph, Preformatted, Table
from alerts.cards.text import Text, bold, code, text
from alerts.incidents.incident import Incident
from alerts.rules import Severity
from alerts.silences import Silence
from collectors.facts.findings import RuleHealth
from collectors.facts.sentences import counted, listed, sentence, word
from commands.core.command import Answer, Command, UnknownNameError
from commands.core.context import CommandContext
from commands.core.parameter_types import RULE
from commands.core.parameters import flag
from commands.execution.plan import Plan, PlanState
from commands.gates.remediation import Remediation
from commands.rule.notifications import WEEK, notification_counts
from commands.rule.trials import RemediationCount, remediation_counts
from commands.rule.verdicts import Fix, RuleVerdict, fixes, severity_of, verdicts

SHOWN = 3  # things to do
SHOWN_NOISY = 5
SHOWN_LINES = 30
LOOKED_THROUGH = 5_000  # incidents
ASKS_FOR = timedelta(seconds=15)  # of a source: a command has not much longer


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineRules:
    rule: str
    all: bool


async def examined(action: ExamineRules, context: CommandContext) -> Answer:
    """Return what the rules can see: what to do first, and counts; one rule, or with `--all` each of them."""
    if action.rule:
        named = [rule for rule in context.rules.values() if rule.is_named(action.rule)]
        if not named:
            known = sorted({rule.name for rule in context.rules.values()})
            near = tuple(get_close_matches(action.rule, known, n=3, cutoff=0.5))
            raise UnknownNameError(
                sentence("There is no rule `{rule}` in force.", rule=action.rule), name=action.rule, near=near
            )
    queries = {rule.name: rule.query for rule in context.rules.values()}
    diagnosis = await context.cluster.diagnose(queries, at=context.now, within=ASKS_FOR)
    findings = list(chain.from_iterable(diagnosis.values()))
    async with context.store.read() as snapshot:
        incidents = await snapshot.rows(Incident).find(
            cluster=context.cluster.name, newest=True, limit=LOOKED_THROUGH
        )
        silences = await snapshot.rows(Silence).find(cluster=context.cluster.name)
        remediations = await snapshot.rows(Remediation).find(
            cluster=context.cluster.name, newest=True, limit=LOOKED_THROUGH
        )
        plans = (
            await snapshot.rows(Plan).find(
                cluster=context.cluster.name, state=PlanState.DONE.value, newest=True, limit=LOOKED_THROUGH
            )
            if remediations
            else ()
        )
    acts = remediation_counts(remediations, plans, context.now)
    sent = notification_counts(incidents, silences, context.now)
    found = verdicts(context.rules.values(), findings, context.rule_runs, sent, context.now)
    if action.rule:
        chosen = [one for one in found if one.rule.is_named(action.rule)]
        blocks = tuple(chain.from_iterable(_explained(one, acts.get(one.rule.id)) for one in chosen))
        return Answer(message=Message(title=text(bold(action.rule)), blocks=blocks))
    if action.all:
        return Answer(message=Message(title=_title(found), blocks=(_table(found),)))
    summary = _summary(found)
    names = {rule.id: rule.name for rule in context.rules.values()}
    return Answer(message=replace(summary, blocks=(*summary.blocks, *_by_themselves(acts, names))))


def _by_themselves(acts: Mapping[str, RemediationCount], names: Mapping[str, str]) -> list[Block]:
    """Return the table of what rules did by themselves in a week, or would have done; none without any."""
    rows = tuple(
        (
            names.get(rule, rule),
            str(one.trials),
            str(one.same),
            str(one.opposite),
            str(one.ran),
            str(one.undone),
            str(one.held),
        )
        for rule, one in sorted(acts.items(), key=lambda item: -(item[1].trials + item[1].ran))
    )
    heading = (
        "by itself, in a week",
        "trials",
        "a person did it",
        "the opposite",
        "ran",
        "undone",
        "held back",
    )
    return [Table(heading=heading, rows=rows)] if rows else []


def _title(found: Sequence[RuleVerdict]) -> Text:
    blind = sum(one.health is RuleHealth.BLIND for one in found)
    if not blind:
        return text(bold(sentence("None of {number} rules is blind", number=len(found))))
    return text(bold(sentence("{blind} of {number} rules can see nothing", blind=blind, number=len(found))))


def _summary(found: Sequence[RuleVerdict]) -> Message:
    counts = Counter(one.health for one in found)
    said = [sentence("{number} with data", number=counts[RuleHealth.HAS_DATA])]
    if waiting := counts[RuleHealth.WAITING]:
        said.append(
            sentence("{number} without data: the cluster may not have what they watch", number=waiting)
        )
    if late := counts[RuleHealth.LATE]:
        said.append(sentence("{number} late", number=late))
    blocks: list[Block] = [Paragraph(text=text(sentence("{counts}.", counts=listed(said, ";"))))]
    to_do = fixes(found)
    if to_do:
        blocks.append(Paragraph(text=text(bold("What to do, most useful first"))))
    for number, fix in enumerate(to_do[:SHOWN], start=1):
        blocks += _to_do(number, fix)
    alone = [one for one in found if one.finding is None and one.reason]
    if alone:
        rows = tuple((one.rule.name, one.reason) for one in alone)
        blocks.append(Table(heading=("rule", "why"), rows=rows[:SHOWN], more=max(0, len(rows) - SHOWN)))
    noisy = sorted((one for one in found if one.sent.is_noisy), key=lambda one: -one.sent.sent)
    if noisy:
        blocks.append(_noise(noisy))
    if len(to_do) > SHOWN:
        blocks.append(
            Context(
                text=text(
                    counted(
                        "{count} more thing to do is left out here.",
                        "{count} more things to do are left out here.",
                        count=len(to_do) - SHOWN,
                    )
                )
            )
        )
    blocks.append(
        Context(
            text=text(
                sentence("Every rule: `rule doctor --all`. One: `rule doctor {rule}`", rule=_example(found))
            )
        )
    )
    is_well = not counts[RuleHealth.BLIND] and not counts[RuleHealth.LATE]
    return Message(title=_title(found), blocks=tuple(blocks), color=Color.GOOD if is_well else Color.WARNING)


def _example(found: Sequence[RuleVerdict]) -> str:
    return found[0].rule.name if found else "GPUTemperatureHigh"


def _to_do(number: int, fix: Fix) -> list[Block]:
    critical = sum(severity_of(rule) is Severity.CRITICAL for rule in fix.rules)
    opens = (
        counted(
            "{number}. {count} critical rule",
            "{number}. {count} rules, {critical} of them critical",
            number=number,
            count=len(fix.rules),
            critical=critical,
        )
        if critical
        else counted("{number}. {count} rule", "{number}. {count} rules", number=number, count=len(fix.rules))
    )
    said = text(bold(opens), "\n", fix.finding.cause, "\n", fix.finding.fix)
    lines = fix.finding.lines
    blocks: list[Block] = [Paragraph(text=said)]
    if lines:
        blocks.append(Preformatted(lines=lines[:SHOWN_LINES]))
    return blocks


def _noise(noisy: Sequence[RuleVerdict]) -> Table:
    rows = tuple((one.rule.name, str(one.sent.sent), _share(one)) for one in noisy[:SHOWN_NOISY])
    return Table(
        heading=("noisy rule", "notifications in a week", "acted on"),
        rows=rows,
        more=max(0, len(noisy) - SHOWN_NOISY),
    )


def _share(verdict: RuleVerdict) -> str:
    return f"{verdict.sent.acted / verdict.sent.sent:.0%}" if verdict.sent.sent else ""


def _table(found: Sequence[RuleVerdict]) -> Table:
    rows = tuple(
        (
            one.rule.name,
            listed((word(severity_of(one.rule).value), word(one.health.value))),
            sentence("noisy: {reason}", reason=one.reason) if one.sent.is_noisy else one.reason,
            str(one.sent.sent),
            _share(one),
        )
        for one in found
    )
    return Table(heading=("rule", "state", "why", "sent", "acted on"), rows=rows)


def _explained(verdict: RuleVerdict, acts: RemediationCount | None) -> list[Block]:
    rule, run, sent = verdict.rule, verdict.run, verdict.sent
    rows: list[tuple[str, Text]] = [("state", text(verdict.health.value))]
    if verdict.reason:
        rows.append(("why", text(verdict.reason)))
    if verdict.finding is not None and verdict.finding.fix:
        rows.append(("to fix it", text(verdict.finding.fix)))
    if run.evaluated is not None:
        rows.append(
            (
                "evaluated",
                text(
                    sentence(
                        "every {interval}; the last answer took {seconds:.1f} s",
                        interval=rule.interval,
                        seconds=run.took.total_seconds(),
                    )
                ),
            )
        )
    times = (
        sentence("{sent} in {period}, {share} acted on", sent=sent.sent, period=WEEK, share=_share(verdict))
        if sent.sent
        else sentence("{sent} in {period}", sent=sent.sent, period=WEEK)
    )
    rows.append(("notifications", text(times)))
    if rule.template.remediation:
        rows.append(("by itself", text(code(rule.template.remediation))))
    if acts is not None:
        figures = sentence(
            "{trials} trials in {period}: a person then did the same after {same}, the opposite after {opposite}; "
            "{ran} ran, {undone} were undone",
            trials=acts.trials,
            period=WEEK,
            same=acts.same,
            opposite=acts.opposite,
            ran=acts.ran,
            undone=acts.undone,
        )
        rows.append(("what it did", text(figures)))
    blocks: list[Block] = [Fields(rows=tuple(rows))]
    if verdict.finding is not None and (lines := verdict.finding.lines_of(rule.name)):
        blocks.append(Preformatted(lines=lines[:SHOWN_LINES]))
    return blocks


COMMANDS = (
    Command(
        noun="rule",
        verb="doctor",
        summary="Show which rules can see nothing, what to do first, and which rules nobody acts on.",
        action=ExamineRules,
        parameters=(
            click.Argument(["rule"], required=False, default="", type=RULE, metavar="RULE"),
            flag("--all", help="every rule, the worst first"),
        ),
        read=examined,
        example="rule doctor",
    ),
)
