"""Name persons by ids with their kind, and rules of a cluster's objects with their cluster.

A person was named by a bare id: of Slack, of a token or of an automation. Now it is slack:U0123456, token:ci or
automation:reclaim, and each person has a row. The id of a rule of a PrometheusRule object was
namespace:name/group/alert, which two clusters may share; it begins with the cluster now.
"""

import re
from collections.abc import Iterator
from typing import Any

from alembic import op
from sqlalchemy import text

from bot.store.migrations.rewriting import StoredRow, add_rows, create_table, rewrite

revision = "0003"
down_revision = "0002"

_SLACK = re.compile(r"[UW][A-Z0-9]+")
_OF_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?:[a-z0-9]([-a-z0-9.]*[a-z0-9])?/")  # namespace:name/…
_PERSONS = {  # fields of each table's documents that name a person, each with the field of the name, if it has one
    "plans": (("actor", "actor_name"), ("confirmed_by", "confirmed_by_name")),
    "audit": (("actor", "actor_name"),),
    "silences": (("by", "by_name"),),
    "leases": (("owner", "owner_name"),),
    "reclaim_requests": (("owner_id", ""), ("asked_by", "asked_by_name"), ("answered_by", "")),
    "launches": (("by", "by_name"),),
    "agenda": (("actor", ""),),
    "incidents": (("acknowledged_by", "acknowledged_by_name"),),
}


def upgrade() -> None:
    create_table("people")
    persons = _Persons()
    for table in _PERSONS:
        rewrite(table, persons.of(table))
    add_rows("people", persons.rows())
    rewrite("incidents", _incident_rules)
    rewrite("alerts", _alert_rule)
    rewrite("progress", _progress_rules)


class _Persons:
    """What kind of id each bare one is: as the rows say where a line came from, else by its form."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # of persons that have none yet: empty
        self._tokens: set[str] = set()
        self._automations: set[str] = set()
        connection = op.get_bind()
        for id, actor in connection.execute(text("SELECT id, actor FROM audit")):
            if id.startswith("http/"):
                self._tokens.add(actor)
            elif id.startswith("due/"):
                self._automations.add(actor)

    def of(self, table: str) -> Any:
        def change(row: StoredRow) -> None:
            self._change(table, row.document, self._kind(table, row))
            if table == "plans":
                self._change_records(row.document)
            if table == "incidents":
                for event in row.document.get("events", ()):
                    self._rename(event, "who", "who_name", "")
            if "actor" in row.columns:
                row.columns["actor"] = row.document["actor"]

        return change

    def rows(self) -> Iterator[StoredRow]:
        for id, name in sorted(self._names.items()):
            yield StoredRow(id, {}, {"id": id, "ids": [id], "name": name})

    def _kind(self, table: str, row: StoredRow) -> str:
        """Return the kind of the row's actor, if the row says where their line came from."""
        if table == "agenda":
            return "automation"
        if table == "plans":
            via = row.document.get("origin", {}).get("via", "")
            return {"agenda": "automation", "terminal": "token", "slack": "slack"}.get(via, "")
        if table == "audit":
            return {"due": "automation", "http": "token"}.get(row.id.partition("/")[0], "")
        return ""

    def _change(self, table: str, document: dict[str, Any], kind: str) -> None:
        for field, name in _PERSONS[table]:
            self._rename(document, field, name, kind if field == "actor" else "")

    def _change_records(self, plan: dict[str, Any]) -> None:
        for stage in plan["stages"]:
            for step in stage["steps"]:
                if step["type"] == "record" and step["table"] in _PERSONS:
                    for part in ("row", "before"):
                        if step.get(part) is not None:
                            kind = "automation" if step["table"] == "agenda" else ""
                            self._change(step["table"], step[part], kind)

    def _rename(self, document: dict[str, Any], field: str, name: str, kind: str) -> None:
        id = document.get(field, "")
        if not id or ":" in id:
            return
        if not kind:
            kind = self._kind_of(id, is_of_chat=field == "owner_id")
        document[field] = whole = f"{kind}:{id}"
        if kind != "automation":
            self._names[whole] = self._names.get(whole) or document.get(name, "")

    def _kind_of(self, id: str, *, is_of_chat: bool) -> str:
        if id in self._automations:
            return "automation"
        if id in self._tokens:
            return "token"
        return "slack" if is_of_chat or _SLACK.fullmatch(id) else "token"


def _rule(id: str, cluster: str) -> str:
    return f"{cluster}:{id}" if _OF_OBJECT.match(id) else id


def _alert(id: str, cluster: str) -> str:
    """Return the id of an alert: its cluster, its rule and its key."""
    return f"{cluster}/{_rule(id.removeprefix(f'{cluster}/'), cluster)}"


def _alert_rule(row: StoredRow) -> None:
    cluster = row.document["cluster"]
    row.document["rule"] = row.columns["rule"] = _rule(row.document["rule"], cluster)
    row.id = _alert(row.id, cluster)


def _incident_rules(row: StoredRow) -> None:
    cluster = row.document["cluster"]
    for member in row.document.get("members", ()):
        member["rule"] = _rule(member["rule"], cluster)
        member["alert"] = _alert(member["alert"], cluster)


def _progress_rules(row: StoredRow) -> None:
    evaluated = row.document.get("evaluated", {})
    cluster = row.document["cluster"]
    row.document["evaluated"] = {_rule(id, cluster): at for id, at in evaluated.items()}
