"""Search in the audit: by what it concerns, person, time, kind and plan."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

import msgspec

from alerts.store import Between, StoreSnapshot
from collectors.facts.sentences import english
from commands.models import AuditEntry

PAGE = 1_000
LOOKED_THROUGH = 50_000  # of the newest entries, for people who wait for an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """What is looked for; what is empty does not matter. `ids` and `name` are of one person."""

    subject: str = ""
    ids: Collection[str] = ()
    name: str = ""
    since: datetime | None = None
    what: str = ""
    plan: str = ""

    def has(self, entry: AuditEntry) -> bool:
        is_theirs = not self.name or entry.actor in self.ids or self.name == entry.actor_name
        return is_theirs and self.what in ("", entry.what) and concerns(entry, self.subject)


def concerns(entry: AuditEntry, subject: str) -> bool:
    """Whether an entry is about a node, a workload or a team of this name, with or without its namespace.

    A line that was asked or refused is about what it names.
    """
    words = (word.strip("'\"`") for word in entry.line.split())
    return not subject or any(subject in (one, one.rpartition("/")[2]) for one in chain(entry.about, words))


async def found(
    snapshot: StoreSnapshot,
    wanted: AuditFilter,
    *,
    cluster: str = "",
    most: int | None = None,
    looked_through: int = LOOKED_THROUGH,
) -> list[AuditEntry]:
    """Return the entries that are wanted, the newest first. `most`: at most so many. No `cluster`: of all."""
    columns = {"plan": wanted.plan, "cluster": cluster}
    only = {name: value for name, value in columns.items() if value}
    since = {"at": Between(start=wanted.since)} if wanted.since else {}
    entries: list[AuditEntry] = []
    after = ""
    for _ in range(0, looked_through, PAGE):
        page = await snapshot.rows(AuditEntry).find(newest=True, limit=PAGE, after=after, **only, **since)
        entries += [one for one in page if wanted.has(one)]
        if len(page) < PAGE or (most is not None and len(entries) >= most):
            break
        after = page[-1].id
    return entries[:most]


def json_line(entry: AuditEntry) -> str:
    """Return the entry as one line of JSON, in English."""
    return msgspec.json.encode(entry, enc_hook=english).decode()
