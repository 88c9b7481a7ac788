"""The light stage with a node for each action, and the cards of shipped rules, whose buttons people press."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from alerts.incidents.incident import Incident
from bot.channels.slack.listeners import PENDING, TAKEN
from commands.execution.plan import Plan
from demo.lookalikes.slack.state.messages import Message
from tests.support.actions.action_row import ActionRow, Site
from tests.support.actions.action_rows import PLAYED
from tests.support.actions.site_checks import ASKED
from tests.support.drained import Kubelets, kubelets
from tests.support.light import CHANNEL, Light, light
from tests.support.quick_yaml import from_yaml

Found = TypeVar("Found")
SPACE = "actions"
WAIT = 60.0  # seconds
LOOK = 0.1  # seconds between two looks
SEEN = 1.0  # seconds within which the bot sees what somebody has changed
ON_CARD = "asks for a second person"  # what who asked reads, as everybody sees the preview
STACKS = b"""Process 7: python train.py
Python v3.12.3 (/usr/bin/python3.12)

Thread 7 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    main (train.py:9)
"""
TESTED = b"yardmaster/1 copy pass 1340 GB/s gpu=1\nyardmaster/1 end\n"
SUITE = {"tests": [{"name": "copy", "one_gpu": True, "within": "5m", "script": "echo yardmaster/1 end"}]}
MORE: Mapping[str, Any] = {
    "incidents": {"storm_from": 1000},  # each node has a card of its own
    "node_jobs": {"namespace": SPACE, "image": "registry.example/tools:1"},
    "reboot": {"annotation": ASKED},
    "commands": {"stacks_image": "registry.example/py-spy:1"},
    "acceptance": {"suite": "short", "suites": {"short": SUITE}},
}


@dataclass(kw_only=True)
class ActionStage:
    """The bot, and what people do there: one thing at a time, as each reads the newest answer."""

    light: Light
    kubelets: Kubelets
    _hands: asyncio.Lock = field(default_factory=asyncio.Lock)

    def site(self, row: ActionRow) -> Site:
        return Site(kubelets=self.kubelets, node=row.command.replace(" ", "-"))

    async def begin(self, sites: Mapping[str, Site]) -> None:
        """Do what is before the rows' actions, let all their rules fire, and end those alerts that are to be over."""
        self._fires(PLAYED)
        await asyncio.sleep(SEEN)
        for row in PLAYED:
            if row.before:
                await self._does(sites[row.command].filled(row.before), sites[row.command])
        over = {sites[row.command].node for row in PLAYED if row.is_over}

        async def are_open(unit: Any) -> bool:
            return over <= {one.subject.node for one in await unit.rows(Incident).find(limit=200)}

        await self.light.until_kept(are_open, WAIT)
        self._fires([row for row in PLAYED if not row.is_over])

    async def _does(self, line: str, site: Site) -> None:
        """Do this line, which must be done before the rest can be."""
        async with self._hands:
            known = self._known("dana")
            await self.light.slack.types("dana", CHANNEL, f"/yard {line}")
            preview = await self._new("dana", known, site)
        said = await self.confirms(preview)
        assert not said, said
        await self._plan_of(line, "done")

    def _fires(self, rows: Sequence[ActionRow]) -> None:
        """Let the rules of these rows fire, and no others."""
        for rule in {row.rule for row in PLAYED if row.rule}:
            series = (
                ({key: self.site(row).filled(value) for key, value in row.labels.items()}, 1.0)
                for row in rows
                if row.rule == rule
            )
            self.light.prometheus.truth.say(expr_of(rule), *series, since=self.light.clock.now())

    async def source(self, row: ActionRow, site: Site, who: str = "dana") -> Message:
        """Return the card or the answer that has the button."""
        if row.answer:
            return await self.asks(site.filled(row.answer), site.node, who)
        label = f"[{site.filled(row.button)}]"

        def found() -> Message | None:
            cards = self.light.slack.messages(CHANNEL)
            return next((one for one in cards if label in one.said and site.node in one.said), None)

        return await shown(found)

    async def presses(self, row: ActionRow, site: Site, who: str = "dana") -> Message:
        """Press the button, fill in its form if it opens one, and return the preview or the answer."""
        source = await self.source(row, site, who)
        async with self._hands:
            slack, known, before = self.light.slack, self._known(who), source.said
            await slack.presses(who, source, site.filled(row.button))
            if row.form:
                view = await shown(lambda: next(iter(slack.views(who)), None))
                await slack.submits(who, view, row.form)
            if row.answered:
                return await self.light.card(site.filled(row.answered))
            return await self._new(who, known, site, lambda: source if _has_become(source, before) else None)

    async def confirms(self, preview: Message) -> str:
        """Confirm, and return what a person reads then; empty once the plan is confirmed, whose card says the rest."""
        who = "eli" if "second person" in preview.said else "dana"
        ids = re.findall(r"plan `(p\d+)`", preview.said)
        assert ids, f"no preview: {preview.said}"
        async with self._hands:
            known, before = self._known(who), preview.said
            await self.light.slack.presses(who, preview, "Confirm")

            async def look(unit: Any) -> str | None:
                plan = await unit.rows(Plan).get(ids[-1])
                if plan is not None and plan.confirmed_at is not None:
                    return "confirmed"
                new = self._new_ones(who, known)
                if answers := [one for one in new if one.only_for or _is_asked_again(one, before)]:
                    return answers[-1].said
                return preview.said if _has_become(preview, before) else None

            said: str = await self.light.until_kept(look, WAIT)
            return "" if said == "confirmed" else said

    async def undoes(self, card: Message, plan: Plan) -> None:
        """Press Undo on the card of a plan, and confirm it."""
        async with self._hands:
            known = self._known("dana")
            await self.light.slack.presses("dana", card, "Undo")
            preview = await shown(lambda: self._newest("dana", known, f"`plan undo {plan.id}`"))
        said = await self.confirms(preview)
        assert not said, said

    async def asks(self, line: str, about: str, who: str = "dana") -> Message:
        """Type a line, and return its answer with these words: after a restart one of before may come again.

        The card of a plan, which everybody sees, may be posted meanwhile and has the same words.
        """
        async with self._hands:
            known = self._known(who)
            await self.light.slack.types(who, CHANNEL, f"/yard {line}")

            def found() -> Message | None:
                new = [one for one in self._new_ones(who, known) if one.only_for and about in one.said]
                return new[-1] if new else None

            return await shown(found)

    def _known(self, who: str) -> set[str]:
        """Return the messages that this person can see already."""
        return {one.ts for one in (*self.light.slack.ephemerals(who), *self.light.slack.everything(CHANNEL))}

    def _newest(self, who: str, known: set[str], about: str) -> Message | None:
        """Return the newest message with these words that this person can see and that is not known yet."""
        new = [one for one in self._new_ones(who, known) if about in one.said]
        return new[-1] if new else None

    def _new_ones(self, who: str, known: set[str]) -> list[Message]:
        seen = (*self.light.slack.ephemerals(who), *self.light.slack.everything(CHANNEL))
        return [one for one in seen if one.ts not in known and not one.deleted and not _is_receipt(one)]

    async def _new(
        self, who: str, known: set[str], site: Site, instead: Callable[[], Message | None] = lambda: None
    ) -> Message:
        def found() -> Message | None:
            if (replaced := instead()) is not None:
                return replaced
            new = self._new_ones(who, known)
            own = [one for one in new if site.node in one.said and "[Confirm]" in one.said]
            return next(
                iter((*own, *(one for one in new if one.only_for and not _is_of_another(one, site)))), None
            )

        return await shown(found)

    async def plan_of(self, row: ActionRow, site: Site, *states: str) -> Plan:
        return await self._plan_of(site.filled(row.line), *states)

    async def _plan_of(self, line: str, *states: str) -> Plan:
        """Wait until the newest plan of this line is in one of these states."""

        async def look(unit: Any) -> Plan | None:
            found = await unit.rows(Plan).find(newest=True, limit=200)
            mine = [one for one in found if one.line.startswith(line)]
            return mine[0] if mine and mine[0].state.value in states else None

        found: Plan = await self.light.until_kept(look, WAIT)
        return found


def _is_of_another(message: Message, site: Site) -> bool:
    """Whether the message is about the node of another story."""
    names = (row.command.replace(" ", "-") for row in PLAYED)
    return site.node not in message.said and any(name in message.said for name in names)


async def shown(look: Callable[[], Found | None]) -> Found:
    """Look until there is something, less often than people would: each look reads all messages."""
    async with asyncio.timeout(WAIT):
        while (found := look()) is None:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(LOOK)
    return found


def _has_become(message: Message, before: str) -> bool:
    """Whether an answer has taken the place of this message, which only its reader sees."""
    is_there = bool(message.only_for) and not message.deleted
    return is_there and message.said != before and not _is_receipt(message)


def _is_asked_again(message: Message, before: str) -> bool:
    """Whether it is another preview of the same: one that a second person has to confirm is in the channel."""
    return "[Confirm]" in message.said and message.said.splitlines()[0] == before.splitlines()[0]


def _is_receipt(message: Message) -> bool:
    """Whether the bot only says that it has the line, whose answer comes later, or that a card asks for others."""
    return any(word in message.said for word in (TAKEN, PENDING, ON_CARD))


async def _stacks(*_: object) -> tuple[bytes, int]:
    return STACKS, 0


@asynccontextmanager
async def action_stage(folder: Path) -> AsyncIterator[ActionStage]:
    """Start the stage, with the nodes of all rows and what stands on them."""
    async with (
        light(folder, rules=_rules(), more=MORE, start=False) as stage,
        kubelets(stage.kube.kubeconfig(folder / "kubelets"), SPACE) as made,
    ):
        stage.settings["clusters"][0]["elasticsearch"] = None  # no story is about logs
        stage.settings["rules"]["interval"] = "2s"
        await stage.start()
        stage.kube.execs = _stacks
        made.every = 0.2
        stage.kube.logs = lambda *_: TESTED
        actions = ActionStage(light=stage, kubelets=made)

        async def arrange(row: ActionRow) -> None:
            site = actions.site(row)
            await made.add_node(site.node, **{"nvidia.com/gpu": "2"})
            await row.arrange(site)

        await asyncio.gather(*map(arrange, PLAYED))
        await actions.begin({row.command: actions.site(row) for row in PLAYED})
        yield actions


def expr_of(rule: str) -> str:
    """The expression by which the scripted Prometheus knows a rule."""
    return f'story{{rule="{rule}"}}'


def _rules() -> dict[str, Any]:
    """The shipped rules of the rows: their labels and annotations, about what the test says."""
    wanted = {row.rule for row in PLAYED if row.rule}
    found: dict[str, dict[str, Any]] = {}
    for pack in resources.files("alerts.packs").iterdir():
        if not pack.name.endswith(".yaml") or ".test." in pack.name:
            continue
        for group in from_yaml(pack.read_text("utf-8")).get("groups") or ():
            for rule in group["rules"]:
                if (name := rule.get("alert")) in wanted:
                    kept = ("summary", "headline", "description", "impact", "runbook", "actions")
                    texts = {key: rule["annotations"][key] for key in kept if key in rule["annotations"]}
                    parts = {"alert": name, "expr": expr_of(name), "annotations": texts}
                    found[name] = {**parts, "labels": {**rule["labels"], "severity": "critical"}}
    assert set(found) == wanted, f"no shipped rule: {wanted - set(found)}"
    return {"groups": [{"name": "story", "rules": list(found.values())}]}
