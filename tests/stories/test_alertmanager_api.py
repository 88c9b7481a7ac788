"""Alertmanager's API as amtool, Grafana and karma use it: what holds an alert back, silences, and what is refused."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.stories.test_alerts_of_others import BEARER, LINK, send
from tests.support.light import Light, light

INHIBIT = {
    "inhibit_rules": [{"source": "severity=critical", "target": "severity=warning", "equal": ["alertname"]}]
}


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60), headers=BEARER) as session:
        yield session


async def ask(http: aiohttp.ClientSession, stage: Light, path: str, **how: Any) -> tuple[int, Any]:
    method = how.pop("method", "POST" if "json" in how or "data" in how else "GET")
    async with http.request(method, f"{stage.yard.server.address}/api/v2/{path}", **how) as answer:
        body = await answer.read()
        return answer.status, await answer.json() if body else None


def a_silence(
    stage: Light, *, starts: timedelta = timedelta(), lasts: float = 2, **more: Any
) -> dict[str, Any]:
    now = stage.clock.now()
    return {
        "matchers": [{"name": "node", "value": "gpu-a01", "isRegex": False, "isEqual": True}],
        "startsAt": (now + starts).isoformat(),
        "endsAt": (now + timedelta(hours=lasts)).isoformat(),
        "createdBy": "eve",
        "comment": "fans ordered",
        **more,
    }


def named(name: str, severity: str) -> dict[str, Any]:
    return {"labels": {"alertname": name, "severity": severity, "node": "gpu-a01"}}


async def test_the_status_of_an_alert_says_what_holds_it_back_at_once(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    """Alertmanager's TestAlertGetReturnsCurrentAlertStatus."""
    async with light(tmp_path, more=INHIBIT) as stage:

        async def statuses() -> dict[str, dict[str, Any]]:
            status, found = await ask(http, stage, "alerts")
            assert status == 200
            return {one["labels"]["severity"]: {**one["status"], "id": one["fingerprint"]} for one in found}

        await send(http, stage, named("test1", "warning"))
        assert (await statuses())["warning"]["state"] == "active"
        matchers = [{"name": "alertname", "value": "test1", "isRegex": False}]
        status, added = await ask(http, stage, "silences", json=a_silence(stage, matchers=matchers))
        assert status == 200
        warning = (await statuses())["warning"]
        assert (warning["state"], warning["silencedBy"]) == ("suppressed", [added["silenceID"]])
        await send(http, stage, named("test1", "critical"))
        found = await statuses()
        assert found["warning"]["inhibitedBy"] == [found["critical"]["id"]]
        assert found["critical"]["silencedBy"] == found["warning"]["silencedBy"] == [added["silenceID"]]
        assert (await ask(http, stage, f"silence/{added['silenceID']}", method="DELETE"))[0] == 200
        found = await statuses()
        assert (found["critical"]["state"], found["warning"]["state"]) == ("active", "suppressed")
        for shown, asked in (
            (["critical"], "inhibited=false"),
            (["warning"], "active=false"),
            ([], "active=false&inhibited=false"),
            ([], "receiver=other.*"),
            (["critical", "warning"], "receiver=yard.*"),
        ):
            _, listed = await ask(http, stage, f"alerts?{asked}")
            assert sorted(one["labels"]["severity"] for one in listed) == shown, asked


async def test_alert_why_says_what_holds_an_alert_back(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    always = {"quiet_hours": [{"years": ["2000:2100"]}]}
    routes = [
        {"match": "alertname=Watchdog", "nobody": True},
        {"match": "alertname=Quiet", "mute_time_intervals": ["quiet_hours"]},
    ]
    async with light(tmp_path, more={**INHIBIT, "time_intervals": always, "routes": routes}) as stage:
        for name in ("Watchdog", "Quiet", "LinkDown"):
            await send(http, stage, {"labels": {"alertname": name, "severity": "warning", "switch": name}})
        await send(http, stage, {"labels": {"alertname": "LinkDown", "severity": "critical", "switch": "b"}})
        await stage.card("LinkDown")
        assert "nobody, by the route" in (await stage.asks("dana", "alert why Watchdog")).said
        assert "quiet_hours" in (await stage.asks("dana", "alert why Quiet")).said
        said = (await stage.asks("dana", "alert why LinkDown")).said
        assert "it is inhibited by LinkDown" in said
        assert "as no route fits it" in said
        assert len(stage.cards()) == 1


@pytest.mark.parametrize("starts", [timedelta(seconds=-90), timedelta(seconds=-1), timedelta()])
async def test_a_silence_that_began_by_another_clock_is_active(
    tmp_path: Path, http: aiohttp.ClientSession, starts: timedelta
) -> None:
    async with light(tmp_path) as stage:
        status, added = await ask(http, stage, "silences", json=a_silence(stage, starts=starts))
        assert status == 200
        _, shown = await ask(http, stage, f"silence/{added['silenceID']}")
        assert shown["status"]["state"] == "active"


async def test_an_alert_ends_when_it_was_said_last(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        ends = [stage.clock.now().replace(microsecond=0) + timedelta(minutes=late) for late in (4, 5)]
        for end in ends:
            await send(http, stage, {**LINK, "endsAt": end.isoformat()})
        (alert,) = (await ask(http, stage, "alerts"))[1]
        assert datetime.fromisoformat(alert["endsAt"]) == ends[-1]


@pytest.mark.parametrize("name", ["--instead", "--cluster", "-h", "a b", "node,", ""])
async def test_the_name_of_a_matcher_is_no_option(
    tmp_path: Path, http: aiohttp.ClientSession, name: str
) -> None:
    async with light(tmp_path) as stage:
        given = [{"name": name, "value": "s1"}, {"name": "node", "value": "gpu-a01"}]
        status, said = await ask(http, stage, "silences", json=a_silence(stage, matchers=given))
        assert (status, "is not a matcher" in said) == (400, True)
        assert (await ask(http, stage, "silences"))[1] == []


async def test_a_silence_may_begin_later_and_is_changed_by_its_id(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path) as stage:
        await send(http, stage, LINK)
        later = a_silence(stage, starts=timedelta(minutes=30))
        _, added = await ask(http, stage, "silences", json=later)
        id = added["silenceID"]
        _, shown = await ask(http, stage, f"silence/{id}")
        assert shown["status"]["state"] == "pending"
        (alert,) = (await ask(http, stage, "alerts"))[1]
        assert alert["status"]["state"] == "active"
        assert "begins" in (await stage.asks("dana", "silence list")).said
        _, changed = await ask(http, stage, "silences", json=a_silence(stage, id=id, lasts=1))
        assert changed["silenceID"] == id
        (alert,) = (await ask(http, stage, "alerts"))[1]
        assert alert["status"]["silencedBy"] == [id]
        other = [{"name": "node", "value": "gpu-b01", "isRegex": False}]
        _, replaced = await ask(http, stage, "silences", json=a_silence(stage, id=id, matchers=other))
        assert replaced["silenceID"] != id
        _, shown = await ask(http, stage, f"silence/{id}")
        assert shown["status"]["state"] == "expired"


async def test_a_silence_of_an_incident_is_among_those_of_its_alerts(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    async with light(tmp_path) as stage:
        await send(http, stage, LINK)
        await stage.card("A link of gpu-a01 is down")
        await stage.asks("dana", "silence incident i1 --for 1h")
        (alert,) = (await ask(http, stage, "alerts"))[1]
        assert (alert["status"]["state"], len(alert["status"]["silencedBy"])) == ("suppressed", 1)


# What Alertmanager's description of its API requires; karma and Grafana refuse an answer that lacks any of it.
REQUIRED = {
    "alert": {
        "labels",
        "receivers",
        "fingerprint",
        "startsAt",
        "updatedAt",
        "endsAt",
        "annotations",
        "status",
    },
    "alert status": {"state", "silencedBy", "inhibitedBy"},
    "group": {"receiver", "labels", "alerts"},
    "silence": {"id", "status", "updatedAt", "matchers", "startsAt", "endsAt", "createdBy", "comment"},
    "matcher": {"name", "value", "isRegex", "isEqual"},
    "status": {"cluster", "versionInfo", "config", "uptime"},
    "version": {"version", "revision", "branch", "buildUser", "buildDate", "goVersion"},
}


async def test_karma_and_grafana_get_what_they_ask_for(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with light(tmp_path) as stage:
        await send(http, stage, LINK)
        await ask(http, stage, "silences", json=a_silence(stage))
        for query in ("", "?silenced=true&inhibited=true&active=true", "?filter=severity%3D%22critical%22"):
            (group,) = (await ask(http, stage, f"alerts/groups{query}"))[1]
            (alert,) = group["alerts"]
            assert group.keys() >= REQUIRED["group"]
            assert alert.keys() >= REQUIRED["alert"]
            assert alert["status"].keys() >= REQUIRED["alert status"]
        (silence,) = (await ask(http, stage, "silences"))[1]
        assert silence.keys() >= REQUIRED["silence"]
        assert silence["matchers"][0].keys() >= REQUIRED["matcher"]
        status = (await ask(http, stage, "status"))[1]
        assert status.keys() >= REQUIRED["status"]
        assert status["versionInfo"].keys() >= REQUIRED["version"]
        assert (await ask(http, stage, "receivers"))[1] == [{"name": "yardmaster"}]
        async with http.get(
            f"{stage.yard.server.address}/metrics"
        ) as answer:  # karma looks for a version there
            assert answer.status == 200
