"""Watches: events, selectors, bookmarks, timeouts and 410."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from tests.contract.kubernetes.api import MAPS, PODS, Api, pod


async def _watch(api: Api, path: str, count: int, **query: str) -> list[dict[str, Any]]:
    """Return the first `count` events of a watch, or all until its end if it is 0."""
    seen: list[dict[str, Any]] = []
    headers = {"Authorization": f"Bearer {api.tokens['admin']}"}
    params = {"watch": "true", "timeoutSeconds": "20", **query}
    path = path.replace("{ns}", api.space)
    async with asyncio.timeout(40), api.session.get(path, params=params, headers=headers) as response:
        assert response.status == 200
        async for line in response.content:
            seen.append(msgspec.json.decode(line))
            if len(seen) == count:
                break
    return seen


def _changes(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


async def test_a_watch_from_a_version_has_every_change_since(api: Api) -> None:
    start = (await api.get(MAPS)).version
    await api.make(MAPS, {"metadata": {"name": "a"}})
    await api.change(f"{MAPS}/a", {"data": {"k": "1"}})
    await api.call("DELETE", f"{MAPS}/a")
    events = await _watch(api, MAPS, 3, resourceVersion=start)
    assert _changes(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))
    assert events[2]["object"]["kind"] == "ConfigMap"


async def test_a_watch_sends_changes_while_it_runs(api: Api) -> None:
    start = (await api.get(MAPS)).version
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(_watch(api, MAPS, 1, resourceVersion=start))
        await asyncio.sleep(0)
        await api.make(MAPS, {"metadata": {"name": "a"}})
    assert _changes(watching.result()) == [("ADDED", "a")]


async def test_a_watch_without_a_version_starts_with_the_existing_objects(api: Api) -> None:
    await api.make(PODS, pod("a", schedulerName="nobody"))
    assert _changes(await _watch(api, PODS, 1)) == [("ADDED", "a")]


async def test_an_object_that_no_longer_matches_a_selector_is_deleted_in_its_watch(api: Api) -> None:
    start = (await api.get(MAPS)).version
    await api.make(MAPS, {"metadata": {"name": "a", "labels": {"on": "1"}}})
    await api.make(MAPS, {"metadata": {"name": "b"}})
    await api.change(f"{MAPS}/a", {"metadata": {"labels": {"on": "0"}}})
    await api.change(f"{MAPS}/b", {"metadata": {"labels": {"on": "1"}}})
    events = await _watch(api, MAPS, 3, resourceVersion=start, labelSelector="on=1")
    assert _changes(events) == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "b")]


async def test_a_watch_by_field_follows_one_object(api: Api) -> None:
    start = (await api.get(MAPS)).version
    for name in ("a", "b"):
        await api.make(MAPS, {"metadata": {"name": name}})
    events = await _watch(api, MAPS, 1, resourceVersion=start, fieldSelector="metadata.name=b")
    assert _changes(events) == [("ADDED", "b")]


async def test_a_watch_ends_cleanly_at_its_timeout(api: Api) -> None:
    start = (await api.get(MAPS)).version
    assert (
        await _watch(api, MAPS, 0, resourceVersion=start, timeoutSeconds="1", allowWatchBookmarks="true")
        == []
    )


async def test_initial_events_end_with_a_marked_bookmark(api: Api) -> None:
    await api.make(PODS, pod("a", schedulerName="nobody"))
    query = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    added, bookmark = await _watch(api, PODS, 2, **query)
    assert (added["type"], added["object"]["metadata"]["name"]) == ("ADDED", "a")
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert bookmark["object"]["metadata"]["resourceVersion"]


async def test_initial_events_without_a_version_match_are_422(api: Api) -> None:
    answer = await api.get(PODS, watch="true", sendInitialEvents="true", timeoutSeconds="1")
    assert answer.code == 422


async def test_an_expired_version_is_an_error_event_with_410_and_an_expired_page_is_410(api: Api) -> None:
    for number in range(3):
        await api.make(MAPS, {"metadata": {"name": f"m{number}"}})
    page = await api.get(MAPS, limit="2")
    token = page.body["metadata"]["continue"]
    await api.make(MAPS, {"metadata": {"name": "m3"}})
    await api.forget()
    (error,) = await _watch(api, MAPS, 0, resourceVersion=page.version)
    assert error["type"] == "ERROR"
    assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")
    assert f"too old resource version: {page.version} (" in error["object"]["message"]
    expired = await api.get(MAPS, limit="2", **{"continue": token})
    assert (expired.code, expired.body["reason"]) == (410, "Expired")
    rest = await api.get(MAPS, limit="9", **{"continue": expired.body["metadata"]["continue"]})
    assert rest.names == ["m1", "m2", "m3"]
