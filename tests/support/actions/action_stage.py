"""The light stage with a node for each action, and the cards of shipped rules, whose buttons people press."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from bot.channels.slack.listeners import PENDING, TAKEN
from commands.execution.plan import Plan
from demo.lookalikes.slack.state.messages import Message
from tests.support.actions.action_row import ActionRow, Site
from tests.support.actions.action_rows import ASKED, ROWS
from tests.support.drained import Kubelets, kubelets
from tests.support.light import CHANNEL, Light, light
from tests.support.quick_yaml import from_yaml

SPACE = "actions"
WAIT = 60.0  # seconds
STACKS = b"""Process 7: python train.py
Python v3.12.3 (/usr/bin/python3.12)

Thread 7 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    main (train.py:9)
"""
MORE: Mapping[str, Any] = {
    "incidents": {"storm_from": 1000},  # each node has a card of its own
    "node_jobs": {"namespace": SPACE, "image": "registry.example/tools:1"},
    "reboot": {"annotation": ASKED},
    "commands": {"stacks_image": "registry.example/py-spy:1"},
}


@dataclass(kw_only=True)
class ActionStage:
    """The bot, and what people do there: one thing at a time, as each reads the newest answer."""

    light: Light
    kubelets: Kubelets
    _hands: asyncio.Lock = field(default_factory=asyncio.Lock)

    def site(self, row: ActionRow) -> Site:
        return Site(kubelets=self.kubelets, node=row.command.replace(" ", "-"))

    def raise_alerts(self) -> None:
        """Let the rules of all rows fire."""
        for rule in {row.rule for row in ROWS if row.rule}:
            rows = [row for row in ROWS if row.rule == rule]
            series = (
                ({key: self.site(row).filled(value) for key, value in row.labels.items()}, 1.0)
                for row in rows
            )
            self.light.prometheus.truth.say(expr_of(rule), *series, since=self.light.clock.now())

    async def source(self, row: ActionRow, site: Site, who: str = "dana") -> Message:
        """Return the card or the answer that has the button."""
        if row.answer:
            return await self._answer(site.filled(row.answer), who)
        label = f"[{site.filled(row.button)}]"

        def found() -> Message | None:
            cards = self.light.slack.messages(CHANNEL)
            return next((one for one in cards if label in one.said and site.node in one.said), None)

        return await self.light.until(found, WAIT)

    async def presses(self, row: ActionRow, site: Site, who: str = "dana") -> Message:
        """Press the button, fill in its form if it opens one, and return the preview or the answer."""
        source = await self.source(row, site, who)
        async with self._hands:
            slack = self.light.slack
            known = {one.ts for one in (*slack.ephemerals(who), *slack.everything(CHANNEL))}
            await slack.presses(who, source, site.filled(row.button))
            if row.form:
                view = await self.light.until(lambda: next(iter(slack.views(who)), None), WAIT)
                await slack.submits(who, view, row.form)
            return await self._new(who, known, site)

    async def confirms(self, preview: Message, who: str = "dana") -> str:
        """Confirm, and return what a person reads then; empty once the plan is confirmed, whose card says the rest."""
        ids = re.findall(r"plan `(p\d+)`", preview.said)
        assert ids, f"no preview: {preview.said}"
        async with self._hands:
            known, before = {one.ts for one in self.light.slack.ephemerals(who)}, preview.said
            await self.light.slack.presses(who, preview, "Confirm")

            async def look(unit: Any) -> str | None:
                if (answer := self._newest(who, known)) is not None:
                    return answer.said
                if preview.only_for and not preview.deleted and preview.said != before:
                    return preview.said  # the answer has its place
                plan = await unit.rows(Plan).get(ids[-1])
                return "confirmed" if plan is not None and plan.confirmed_at is not None else None

            said: str = await self.light.until_kept(look, WAIT)
            return "" if said == "confirmed" else said

    async def undoes(self, card: Message, site: Site, who: str = "dana") -> None:
        """Press Undo on the card of a plan, and confirm it."""
        async with self._hands:
            slack = self.light.slack
            known = {one.ts for one in (*slack.ephemerals("dana"), *slack.everything(CHANNEL))}
            await slack.presses("dana", card, "Undo")
            preview = await self._new("dana", known, site)
        assert "[Confirm]" in preview.said, preview.said
        said = await self.confirms(preview, who)
        assert not said, said

    async def asks(self, line: str, who: str = "dana") -> str:
        return (await self._answer(line, who)).said

    async def _answer(self, line: str, who: str) -> Message:
        async with self._hands:
            known = {one.ts for one in self.light.slack.ephemerals(who)}
            await self.light.slack.types(who, CHANNEL, f"/yard {line}")
            return await self.light.until(lambda: self._newest(who, known), WAIT)

    def _newest(self, who: str, known: set[str]) -> Message | None:
        """Return the newest answer to this person that is not known yet."""
        seen = self.light.slack.ephemerals(who)
        new = [one for one in seen if one.ts not in known and not one.deleted and not _is_receipt(one)]
        return new[-1] if new else None

    async def _new(self, who: str, known: set[str], site: Site) -> Message:
        def found() -> Message | None:
            slack = self.light.slack
            seen = (*slack.ephemerals(who), *slack.everything(CHANNEL))
            new = [one for one in seen if one.ts not in known and not one.deleted and not _is_receipt(one)]
            return next(
                (one for one in new if site.node in one.said and "plan `p" in one.said), None
            ) or next((one for one in new if one.only_for), None)

        return await self.light.until(found, WAIT)

    async def plan_of(self, row: ActionRow, site: Site, *states: str) -> Plan:
        """Wait until the newest plan of this line is in one of these states."""

        async def look(unit: Any) -> Plan | None:
            found = await unit.rows(Plan).find(newest=True, limit=200)
            mine = [one for one in found if one.line.startswith(site.filled(row.line))]
            return mine[0] if mine and mine[0].state.value in states else None

        found: Plan = await self.light.until_kept(look, WAIT)
        return found


def _is_receipt(message: Message) -> bool:
    """Whether the bot only says that it has the line: on a busy machine the answer comes later."""
    return any(word in message.said for word in (TAKEN, PENDING))


async def _stacks(*_: object) -> tuple[bytes, int]:
    return STACKS, 0


@asynccontextmanager
async def action_stage(folder: Path) -> AsyncIterator[ActionStage]:
    """Start the stage, with the nodes of all rows and what stands on them."""
    async with (
        light(folder, rules=_rules(), more=MORE) as stage,
        kubelets(stage.kube.kubeconfig(folder / "kubelets"), SPACE) as made,
    ):
        stage.kube.execs = _stacks
        made.every = 0.2
        actions = ActionStage(light=stage, kubelets=made)
        for row in ROWS:
            site = actions.site(row)
            await made.add_node(site.node, **{"nvidia.com/gpu": "2"})
            await row.arrange(site)
        actions.raise_alerts()
        yield actions


def expr_of(rule: str) -> str:
    """The expression by which the scripted Prometheus knows a rule."""
    return f'story{{rule="{rule}"}}'


def _rules() -> dict[str, Any]:
    """The shipped rules of the rows: their labels and annotations, about what the test says."""
    wanted = {row.rule for row in ROWS if row.rule}
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
