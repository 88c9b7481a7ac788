"""The buttons and menus of an incident's card: what to do about it, who does it, and what else there is. Pure."""

from alerts.cards.incident_context import IncidentContext
from alerts.cards.message import Button, Buttons, ButtonStyle, Menu
from alerts.cards.offers import offers
from alerts.cards.suggested_actions import fill, label_of
from alerts.incidents.incident import Incident
from alerts.received import rule_of
from alerts.rules import ResolveWhen
from alerts.runbooks import runbook_names

MAX_BUTTONS = 4
MAX_MORE = 5  # options: what a small menu of a chat holds

_DANGEROUS = ("training stop ",)  # what it ends does not come back
_SILENCES = (("for 1 h", " --for 1h"), ("for 4 h", " --for 4h"), ("until it is over", ""))


def card_buttons(incident: Incident, context: IncidentContext) -> Buttons:
    """Return what a card suggests: each is a command line, or a link of the settings.

    Once the incident is over, they end what it left behind.
    """
    if not incident.is_open:
        left = (button for one in context.still_open for button in one.buttons)
        return Buttons(buttons=tuple(left)[:MAX_BUTTONS])
    return Buttons(buttons=_buttons(incident, context), menus=tuple(_menus(incident, context)))


def runbook_address(incident: Incident, context: IncidentContext) -> str:
    """Return where the lead alert's runbook is on the web; empty where no setting says so."""
    page = runbook_of(incident, context)
    if page.startswith(("http://", "https://")) or not page:
        return page
    return f"{context.runbooks}{page}.md" if context.runbooks else ""


def shipped_runbook(incident: Incident, context: IncidentContext) -> str:
    """Return the name of the lead alert's runbook if `runbook NAME` prints it and no setting says where it is."""
    page = runbook_of(incident, context)
    return page if page in runbook_names() and not context.runbooks else ""


def runbook_of(incident: Incident, context: IncidentContext) -> str:
    """Return the name or the address of the lead alert's runbook; empty without one."""
    rule = rule_of(incident.lead.rule, context.rules)
    return rule.template.runbook if rule else ""


def _buttons(incident: Incident, context: IncidentContext) -> tuple[Button, ...]:
    last: list[Button] = []
    if not incident.acknowledged_by:
        label = "Acknowledge (closes it)" if is_closed_by_acknowledging(incident) else "Acknowledge"
        last.append(Button(label=label, line=f"alert ack {incident.id}"))
    if incident.is_only_unproven:
        last.append(Button(label="It is over", line=f"incident resolve {incident.id}"))
    if context.silenced_until and context.silence:
        last.append(Button(label="End the silence", line=f"silence expire {context.silence}"))
    buttons = [
        Button(label=label_of(line), line=line, style=_style(line, is_first=number == 0))
        for number, line in enumerate(offers(incident, context)[: MAX_BUTTONS - max(1, len(last))])
    ]
    return (*buttons, *last)


def is_closed_by_acknowledging(incident: Incident) -> bool:
    """Whether the incident is open only because nobody has acknowledged it."""
    waits = incident.resolve_when is ResolveWhen.ACKNOWLEDGED and not incident.acknowledged_by
    return waits and not incident.firing and not incident.is_only_unproven


def _style(line: str, *, is_first: bool) -> ButtonStyle:
    if line.startswith(_DANGEROUS):
        return ButtonStyle.DANGER
    return ButtonStyle.PRIMARY if is_first else ButtonStyle.PLAIN


def _menus(incident: Incident, context: IncidentContext) -> list[Menu]:
    menus = []
    if incident.acknowledged_by:
        menus.append(Menu(label="Hand over to…", people_line=f"alert hand-over {incident.id}"))
    if not context.silenced_until:
        silences = (
            Button(label=label, line=f"silence incident {incident.id}{lasting}")
            for label, lasting in _SILENCES
        )
        menus.append(Menu(label="Silence", options=tuple(silences)))
    menus.append(Menu(label="More", options=tuple(_more(incident, context)[:MAX_MORE]), is_more=True))
    return menus


def _more(incident: Incident, context: IncidentContext) -> list[Button]:
    more = [Button(label="Why?", line=f"alert why {incident.id}")]
    if address := runbook_address(incident, context):
        more.append(Button(label="Runbook", address=address))
    elif page := shipped_runbook(incident, context):
        more.append(Button(label="Runbook", line=f"runbook {page}"))
    for name, template in context.links.items():
        if (address := fill(template, incident.subject) or "").startswith(("http://", "https://")):
            more.append(Button(label=name.capitalize(), address=address))
    if incident.acknowledged_by:
        more.insert(2, Button(label="Take back the acknowledgement", line=f"alert unack {incident.id}"))
    return more
