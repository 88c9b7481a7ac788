"""The card of a parent incident: how many nodes, whose trainings, the worst of it, and each node by name. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from alerts.cards.concerned import impact_text
from alerts.cards.headline import headline
from alerts.cards.message import (
    Attachment,
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Color,
    Context,
    Menu,
    Message,
    Paragraph,
)
from alerts.cards.parent_words import (
    alerts_said,
    likely_cause_said,
    parent_headline,
    parent_resolution,
    parent_summary,
    stake_said,
    where_it_belongs,
)
from alerts.cards.text import Text, bold, code, joined, person, text
from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Impact, Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.storm_keys import node_of
from alerts.rules import ImpactScope, Severity
from collectors.facts.sentences import counted, headline_of, listed, moment_words, sentence

NODES_SHOWN = 100  # by name on the card, the newest; the attached list has all
LONGEST_NAMES = 2_500  # characters of these names: what a chat shows as one paragraph
TRAININGS_SHOWN = 4
OFFERED = 20  # incidents to open from its menu, the worst
MARKS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}
_COLORS = {Severity.CRITICAL: Color.CRITICAL, Severity.WARNING: Color.WARNING, Severity.INFO: Color.INFO}
_SILENCES = (("for 1 h", " --for 1h"), ("for 4 h", " --for 4h"), ("until it is over", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentContext:
    """What the card shows besides the parent and its members."""

    people: Mapping[str, str] = field(default_factory=dict)  # owner as named in the cluster -> chat user id
    silenced_until: datetime | None = None
    silence: str = ""  # the id of the silence that ends last, if it is one of the parent
    is_silenced_until_over: bool = False  # then `silenced_until` is far away
    blind: str = ""  # why some of it cannot be seen now


NO_PARENT_CONTEXT = ParentContext()


def parent_card(
    parent: ParentIncident, members: Sequence[Incident], *, context: ParentContext = NO_PARENT_CONTEXT
) -> Message:
    """Return the card as its members are now."""
    is_listed = parent.listed == parent.standing.extent
    lines = (*parent_lines(parent, members, context), *_cause_and_stake(parent, members))
    blocks: list[Block] = [Paragraph(text=line) for line in lines]
    if parent.is_open and context.blind:
        blocks.append(Paragraph(text=text("⚪ ", bold("Cannot see it now: "), context.blind)))
    blocks.append(Paragraph(text=_nodes(parent, members)))
    blocks.append(Paragraph(text=_where_all_are(parent, is_listed=is_listed)))
    blocks.append(parent_buttons(parent, members, context))
    blocks.append(Context(text=_foot(parent, context)))
    return Message(
        title=parent_title(parent),
        color=parent_color(parent, context),
        blocks=tuple(blocks),
        summary=parent_summary(parent),
        attachments=(_list_of(parent, members),) if is_listed else (),
    )


def parent_title(parent: ParentIncident) -> Text:
    return text(f"{MARKS[parent.severity]} " if parent.is_open else "✅ ", bold(parent_headline(parent)))


def parent_lines(
    parent: ParentIncident, members: Sequence[Incident], context: ParentContext
) -> tuple[Text, ...]:
    """Return the lines after the title: whose trainings, and the worst of it, or how long it stood."""
    found = _trainings(members)
    label = bold("Affects: ") if parent.is_open else bold("Affected: ")
    trainings = (
        listed((impact_text(one, context.people) for one in found), ";", most=TRAININGS_SHOWN)
        if found
        else sentence("no known training")
    )
    return text(label, trainings), _worst_or_end(parent, members)


def _cause_and_stake(parent: ParentIncident, members: Iterable[Incident]) -> Iterator[Text]:
    if parent.is_open and (cause := likely_cause_said(parent)):
        yield text(bold("Likely cause: "), cause)
    if not parent.is_open and parent.standing.fired:
        yield text(bold("Alerts: "), alerts_said(parent))
    on_nodes = sum({node_of(one): one.gpus for one in members if one.is_open}.values())
    if stake := stake_said(parent, on_nodes):
        yield text(bold("At stake: ") if parent.is_open else bold("Cost: "), stake)


def _trainings(members: Iterable[Incident]) -> list[Impact]:
    """Return those whom the incidents affect, each once: those that died first, then the largest."""
    found: dict[str, Impact] = {}
    for incident in members:
        for impact in incident.impacts:
            known = found.get(impact.training)
            if impact.scope is not ImpactScope.BYSTANDERS and (
                known is None or _weight(impact) > _weight(known)
            ):
                found[impact.training] = impact
    return sorted(found.values(), key=lambda one: (*(-part for part in _weight(one)), one.shown))


def _weight(impact: Impact) -> tuple[bool, float]:
    return impact.failed_at is not None, impact.gpus


def _worst_or_end(parent: ParentIncident, members: Sequence[Incident]) -> Text:
    if not parent.is_open:
        ended = [event for event in parent.events if event.type is IncidentEventType.RESOLVED]
        return parent_resolution(parent, ended[-1]) if ended else ()
    worst = worst_first(members)[:1]
    said = (
        sentence("{headline} (`{incident}`)", headline=headline_of(headline(one)), incident=one.id)
        for one in worst
    )
    return text(bold("Worst: "), *said)


def worst_first(members: Iterable[Incident]) -> list[Incident]:
    """Return the open incidents, the gravest and then the oldest first; what is over comes last."""
    return sorted(members, key=lambda one: (not one.is_open, -one.gravity, one.began_at, node_of(one)))


def _nodes(parent: ParentIncident, members: Sequence[Incident]) -> Text:
    shown = [one for one in members if one.is_open or not parent.is_open]
    newest = sorted(shown, key=lambda one: one.began_at, reverse=True)
    names, room = list[str](), LONGEST_NAMES
    nodes = dict.fromkeys(map(node_of, newest))
    for name in list(nodes)[:NODES_SHOWN]:
        room -= len(name) + 2
        if room < 0:
            break
        names.append(name)
    is_part = parent.is_open and parent.standing.open_nodes < parent.standing.nodes
    label = bold("Still: ") if is_part else bold("Nodes: ")
    return text(label, listed(sorted(names), more=len(nodes) - len(names)))


def _where_all_are(parent: ParentIncident, *, is_listed: bool) -> Text:
    if is_listed:
        return text(
            sentence(
                "The whole list is attached as `{file}`, and by pages in `incident show {incident} --page 1`.",
                file=_file_name(parent),
                incident=parent.id,
            )
        )
    return text(sentence("The whole list, by pages: `incident show {incident} --page 1`", incident=parent.id))


def _file_name(parent: ParentIncident) -> str:
    return f"{parent.id}-{parent.standing.alerts}-alerts.txt"


def _list_of(parent: ParentIncident, members: Iterable[Incident]) -> Attachment:
    """Return the whole list. It has nothing that changes: a file that does is attached again."""
    lines = sorted(
        f"{node_of(one):40} {one.id:10} {moment_words(one.opened_at)}  {_names(one)}" for one in members
    )
    return Attachment(name=_file_name(parent), content="\n".join(lines))


def _names(incident: Incident) -> str:
    """The names of its alerts, each once. An incident that holds its first alerts only has one of each name."""
    return ", ".join(sorted({member.name for member in incident.members}))


def parent_buttons(
    parent: ParentIncident, members: Sequence[Incident], context: ParentContext = NO_PARENT_CONTEXT
) -> Buttons:
    """Return what the card suggests: it acts on all of its incidents, or opens one."""
    shown = Button(label="List all", line=f"incident show {parent.id} --page 1")
    if not parent.is_open:
        return Buttons(buttons=(shown,))
    buttons = [shown]
    if not parent.acknowledged_by:
        line = f"alert ack {parent.id}"
        buttons.insert(0, Button(label="Acknowledge all", line=line, style=ButtonStyle.PRIMARY))
    if (likely := parent.standing.likely) is not None:
        buttons.append(Button(label="Show what broke first", line=f"incident show {likely.incident}"))
    if context.silence:
        buttons.append(Button(label="End the silence", line=f"silence expire {context.silence}"))
    opened = worst_first(one for one in members if one.is_open)[:OFFERED]
    menus = [
        Menu(
            label="Open…",
            options=tuple(
                Button(label=f"{node_of(one)} · {one.id}", line=f"incident show {one.id}") for one in opened
            ),
        )
    ]
    if parent.acknowledged_by:
        menus.append(Menu(label="Hand over to…", people_line=f"alert hand-over {parent.id}"))
    if not context.silenced_until:
        silences = (
            Button(label=label, line=f"silence incident {parent.id}{lasting}") for label, lasting in _SILENCES
        )
        menus.append(Menu(label="Silence", options=tuple(silences)))
    if parent.acknowledged_by:
        back = Button(label="Take back the acknowledgement", line=f"alert unack {parent.id}")
        menus.append(Menu(label="More", options=(back,), is_more=True))
    return Buttons(buttons=tuple(buttons), menus=tuple(menus))


def parent_color(parent: ParentIncident, context: ParentContext = NO_PARENT_CONTEXT) -> Color:
    if not parent.is_open:
        return Color.GOOD
    return Color.QUIET if context.silenced_until else _COLORS[parent.severity]


def _foot(parent: ParentIncident, context: ParentContext) -> Text:
    parts: list[Text] = [
        text(code(parent.id)),
        text(parent.cluster),
        text(sentence("since {at}", at=parent.began_at)),
        text(counted("{count} incident", "{count} incidents", count=parent.standing.incidents)),
    ]
    over = parent.standing.incidents - parent.standing.open_incidents
    if over and parent.is_open:
        parts.append(text(counted("{count} is over", "{count} are over", count=over)))
    if parent.acknowledged_by:
        who = person(parent.acknowledged_by, parent.acknowledged_by_name)
        parts.append(text(sentence("acknowledged by {who}", who=who)))
    if context.is_silenced_until_over and parent.is_open:
        parts.append(text(sentence("silenced until it is over")))
    elif context.silenced_until and parent.is_open:
        parts.append(text(sentence("silenced until {at}", at=context.silenced_until)))
    return joined(" · ", parts)


def member_card(incident: Incident, parent: ParentIncident) -> Message:
    """Return what the card of an incident shows that was posted before its parent had one: it asks for nobody."""
    show = Button(label="Show the incident", line=f"incident show {incident.id}")
    whole = Button(label="Show all of it", line=f"incident show {parent.id}")
    return Message(
        title=text("↪ " if incident.is_open else "✅ ", bold(headline(incident))),
        color=Color.QUIET if incident.is_open else Color.GOOD,
        blocks=(Paragraph(text=where_it_belongs(incident, parent)), Buttons(buttons=(show, whole))),
        summary=headline(incident),
    )
