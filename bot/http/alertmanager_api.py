"""The reading part of Alertmanager's API, version 2, and its silences, which are those of `silence add`."""

import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

import msgspec
from aiohttp import web

from alerts.alert import Alert
from alerts.inhibition import InhibitingAlerts, InhibitRule
from alerts.lifecycle import AlertState
from alerts.matching import Matcher, Operator, matches, parse_matchers
from alerts.silences import Silence
from alerts.store import Store, StoreSnapshot
from bot.cooperative import in_pieces
from bot.http.alert_endpoints import busy_answer
from bot.http.alertmanager_view import (
    GROUPED_BY,
    RECEIVER,
    alert_view,
    group_views,
    silence_view,
    status_view,
)
from bot.http.gate import error_answer
from bot.http.incident_silences import incident_silences
from bot.http.line_answer import line_answer
from bot.http.openapi_errors import TOO_FEW, code_of, openapi_error
from bot.http.senders import NO_TOKEN, Sender, sender_of
from bot.receiving.receiver import BusyError
from bot.receiving.silence_wire import WireSilence
from collectors.facts.clock import Clock, format_duration
from collectors.facts.patterns import compile_pattern
from collectors.readable_json import json_decoded
from commands.core.command import CommandOutcome, Handler
from commands.core.request import Actor, Request
from commands.execution.plan import Origin

_TRUE = ("true", "1", "t", "yes", "y", "on", "checked", "ok", "selected", "enabled")

_silence = msgspec.json.Decoder(WireSilence)

READ_AT_ONCE = 5_000  # alerts in memory while they are shown

Answered = Callable[[web.Request, Actor], Awaitable[Any]]  # what is sent as JSON; None: an empty answer


class _RefusedError(Exception):
    """The request is refused. The text says why. `code`: as in openapi_errors.py, where it does not get as far."""

    def __init__(self, reason: str, status: int = 400, *, code: int = 0) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertmanagerApi:
    """What the endpoints need. `clusters`: their names; a silence is of one of them. `started`: of the process.

    `ends_at`: when an alert is over that is not sent again, as it was given last.
    `settled` waits until what was accepted before is stored, and raises BusyError if that takes long.
    """

    store: Store
    take: Handler
    senders: Sequence[Sender]
    clusters: Sequence[str]
    clock: Clock
    version: str
    started: datetime
    ends_at: Callable[[Alert], datetime | None]
    settled: Callable[[], Awaitable[None]]
    inhibit_rules: Sequence[InhibitRule] = ()

    def add_to(self, app: web.Application) -> None:
        """Add the routes to the application."""
        reads: dict[str, Answered] = {
            "/api/v2/alerts": self._alerts,
            "/api/v2/alerts/groups": self._groups,
            "/api/v2/receivers": self._receivers,
            "/api/v2/status": self._status,
            "/api/v2/silences": self._silences,
            "/api/v2/silence/{id}": self._silence,
        }
        for path, answered in reads.items():
            app.router.add_get(path, self._guarded(answered))
        app.router.add_post("/api/v2/silences", self._guarded(self._add))
        app.router.add_delete("/api/v2/silence/{id}", self._guarded(self._expire))

    def _guarded(self, answered: Answered) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            actor = sender_of(request.headers, self.senders)
            if actor is None:
                return error_answer(401, NO_TOKEN)
            try:
                found = await answered(request, actor)
            except _RefusedError as error:
                if error.code:
                    return openapi_error(error.code, str(error))
                return _json(str(error), error.status)
            except BusyError as error:
                return busy_answer(str(error))
            return web.Response() if found is None else _json(found)

        return handle

    async def _alerts(self, request: web.Request, _: Actor) -> list[msgspec.Raw]:
        return [encoded for _, encoded in await self._shown(request)]

    async def _shown(self, request: web.Request) -> list[tuple[str, msgspec.Raw]]:
        """Return the wanted alerts, each by its name and encoded: all of them at once would hold up the others."""
        now, matchers = self.clock.now(), _filter(request)
        wanted = {name: _is_wanted(request, name) for name in ("active", "silenced", "inhibited")}
        if not _is_ours(request):
            return []
        await self.settled()
        views: list[tuple[str, msgspec.Raw]] = []
        async with self.store.read() as snapshot:
            silences = [one for one in await snapshot.rows(Silence).find() if one.is_active(now)]
            whole = await incident_silences(silences, snapshot, now)
            inhibiting = await self._inhibiting(snapshot)
            covers = [one for one in silences if not one.incident]
            async for alert in _firing(snapshot):
                if not matches(matchers, alert.labels):
                    continue
                by = [
                    one.id for one in covers if one.cluster == alert.cluster and one.covers(alert.labels, now)
                ]
                by += whole.get(alert.id, ())
                theirs = inhibiting.get(alert.cluster)
                inhibited_by = theirs.inhibiting(alert) if theirs is not None else ()
                is_hidden = (
                    (by and not wanted["silenced"])
                    or (inhibited_by and not wanted["inhibited"])
                    or (not by and not inhibited_by and not wanted["active"])
                )
                if not is_hidden:
                    view = alert_view(alert, by, inhibited_by, now, ends_at=self.ends_at(alert))
                    views.append((alert.labels.get(GROUPED_BY, ""), msgspec.Raw(msgspec.json.encode(view))))
        return views

    async def _inhibiting(self, snapshot: StoreSnapshot) -> Mapping[str, InhibitingAlerts]:
        """Return the alerts that may inhibit others, by cluster."""
        found = {cluster: InhibitingAlerts(self.inhibit_rules) for cluster in self.clusters}
        if self.inhibit_rules:
            async for alert in _firing(snapshot):
                if alert.cluster in found:
                    found[alert.cluster].put(alert)
        return found

    async def _groups(self, request: web.Request, _: Actor) -> list[dict[str, Any]]:
        return group_views(await self._shown(request))

    async def _receivers(self, _request: web.Request, _: Actor) -> list[dict[str, str]]:
        return [{"name": RECEIVER}]

    async def _status(self, _request: web.Request, _: Actor) -> dict[str, Any]:
        return status_view(self.version, self.started)

    async def _silences(self, request: web.Request, _: Actor) -> list[dict[str, Any]]:
        now, matchers = self.clock.now(), _filter(request)
        async with self.store.read() as snapshot:
            found = await snapshot.rows(Silence).find()
        views = [silence_view(one, now) for one in found]
        return [view for view in views if _has(view, matchers)]

    async def _silence(self, request: web.Request, _: Actor) -> dict[str, Any]:
        return silence_view(await self._kept(request.match_info["id"]), self.clock.now())

    async def _add(self, request: web.Request, actor: Actor) -> dict[str, str]:
        """Add the silence as the line `silence add` does, with its checks. One with an id replaces that."""
        try:
            given = json_decoded(_silence.decode, await request.read())
        except msgspec.DecodeError as error:
            reason = f'parsing silence body from "" failed, because {error}'
            raise _RefusedError(reason, code=code_of(error)) from error
        if not given.matchers:
            raise _RefusedError("matchers in body should have at least 1 items", code=TOO_FEW)
        now = self.clock.now()
        starts_at = given.starts_at or now
        if given.ends_at.tzinfo is None or starts_at.tzinfo is None:
            raise _RefusedError("start time and end time need a time zone")
        if starts_at >= given.ends_at:
            raise _RefusedError("Failed to create silence: start time must be before end time")
        if given.ends_at <= now:
            raise _RefusedError("Failed to create silence: end time can't be in the past")
        starts_at = max(starts_at, now)
        try:
            matchers = [one.read() for one in given.matchers]
            if parse_matchers(", ".join(map(str, matchers))) != tuple(matchers):
                raise ValueError("a matcher cannot be read")
        except ValueError as error:
            raise _RefusedError(f"Failed to create silence: {error}") from error
        cluster = self._cluster_of(matchers)
        words = [
            *map(str, matchers),
            "--for",
            format_duration(given.ends_at - starts_at),
            "--reason",
            given.comment or "none",
            *(("--in", format_duration(starts_at - now)) if starts_at > now else ()),
            *(("--instead", (await self._kept(given.id)).id) if given.id else ()),
        ]
        await self._run(["silence", "add", *words, *(["--cluster", cluster] if cluster else [])], actor)
        async with self.store.read() as snapshot:
            kept = await snapshot.rows(Silence).find(cluster=cluster, newest=True)
        later = self.clock.now()
        same = [one for one in kept if set(one.matchers) == set(matchers) and not one.is_over(later)]
        added = next((one for one in same if one.id == given.id), None) or same[0]
        return {"silenceID": added.id}

    async def _expire(self, request: web.Request, actor: Actor) -> None:
        silence = await self._kept(request.match_info["id"])
        await self._run(["silence", "expire", silence.id], actor)

    async def _kept(self, id: str) -> Silence:
        async with self.store.read() as snapshot:
            found = await snapshot.rows(Silence).get(id)
        if found is None:
            raise _RefusedError(f"there is no silence {id}", 404)
        return found

    async def _run(self, words: Sequence[str], actor: Actor) -> None:
        request = Request(
            id=f"http/{actor.id}/{uuid4().hex}",
            line=shlex.join(words),
            actor=actor,
            at=self.clock.now(),
            origin=Origin(via="terminal"),
        )
        answer = line_answer(await self.take(request))
        if answer.outcome is CommandOutcome.REFUSED:
            raise _RefusedError(answer.text, 403)
        if answer.outcome is not CommandOutcome.DONE:
            raise _RefusedError(answer.text)

    def _cluster_of(self, matchers: Sequence[Matcher]) -> str:
        """Return the cluster of a silence: ours is of one cluster, Alertmanager's of all that it has."""
        if len(self.clusters) == 1:
            return self.clusters[0]
        named = [one.value for one in matchers if one.name == "cluster" and one.operator is Operator.EQUAL]
        if len(named) == 1 and named[0] in self.clusters:
            return named[0]
        raise _RefusedError(f"add the matcher cluster=, with one of {', '.join(self.clusters)}")


async def _firing(snapshot: StoreSnapshot) -> AsyncIterator[Alert]:
    """Yield the firing alerts, a page at a time: all of them would be more than what the process has otherwise."""
    page: Sequence[Alert] = ()
    while not page or len(page) == READ_AT_ONCE:
        last = page[-1].id if page else ""
        page = await snapshot.rows(Alert).find(state=AlertState.FIRING, after=last, limit=READ_AT_ONCE)
        if not page:
            return
        async for alert in in_pieces(page):
            yield alert


def _filter(request: web.Request) -> tuple[Matcher, ...]:
    try:
        return tuple(one for text in request.query.getall("filter", []) for one in parse_matchers(text))
    except ValueError as error:
        raise _RefusedError(str(error)) from error


def _is_wanted(request: web.Request, name: str) -> bool:
    """Whether the parameter is true; what says neither is false, as for Alertmanager."""
    return request.query.get(name, "true").lower() in _TRUE


def _is_ours(request: web.Request) -> bool:
    """Whether the parameter `receiver`, an expression, fits the only receiver that there is."""
    given = request.query.get("receiver", "")
    try:
        return not given or compile_pattern(given).fullmatch(RECEIVER) is not None
    except ValueError as error:
        raise _RefusedError(f"failed to parse receiver param: {error}") from error


def _has(view: dict[str, Any], matchers: tuple[Matcher, ...]) -> bool:
    labels = {one["name"]: one["value"] for one in view["matchers"]}
    return matches(matchers, labels)


def _json(body: Any, status: int = 200) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(body), content_type="application/json")
