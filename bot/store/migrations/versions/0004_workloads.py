"""Name workloads and trainings by keys with the API group, `namespace/Kind.group/name`, and keep what people read.

A training was named `namespace/name`, without its kind. What the program launched has a namespace of its own, and gets
its key here. Another training keeps its name in old rows, since they do not say of which kind it is: the program finds
such a row by the name, as long as only one training is called so. The group of a kind that is not listed here is not
known either, and is found in the same way.
"""

from collections.abc import Iterable
from typing import Any

from alembic import op
from sqlalchemy import text

from bot.store.migrations.rewriting import StoredRow, rewrite

revision = "0004"
down_revision = "0003"

_GROUPS = {
    "JobSet": "jobset.x-k8s.io",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io",
    "MPIJob": "kubeflow.org",
    "PyTorchJob": "kubeflow.org",
    "RayCluster": "ray.io",
    "RayJob": "ray.io",
    "RayService": "ray.io",
    "TFJob": "kubeflow.org",
    "TrainJob": "trainer.kubeflow.org",
    "Workflow": "argoproj.io",
}
_ROWS = ("launches", "reclaim_requests")  # whose rows plans keep in their steps


def upgrade() -> None:
    keys = _Keys(op.get_bind().execute(text("SELECT id FROM launches")).scalars())
    rewrite("launches", keys.launch)
    rewrite("reclaim_requests", keys.reclaim_request)
    rewrite("alerts", keys.alert)
    rewrite("incidents", keys.incident)
    rewrite("plans", keys.plan)
    rewrite("cards", keys.card)
    rewrite("replies", keys.reply)


class _Keys:
    """The keys of what the program launched, and how rows are rewritten with them."""

    def __init__(self, launches: Iterable[str]) -> None:
        self._trainings: dict[tuple[str, str], str] = {}
        for id in launches:
            cluster, _, name = id.partition("/")
            if name.count("/") == 1:
                namespace = name.partition("/")[0]
                self._trainings[cluster, name] = f"{namespace}/Namespace/{namespace}"
        self._launches = {
            f"{cluster}/{name}": f"{cluster}/{key}" for (cluster, name), key in self._trainings.items()
        }

    def launch(self, row: StoredRow) -> None:
        self._named(row.document, row.columns["cluster"])
        row.id = row.document["id"] = self._launches.get(row.id, row.id)

    def reclaim_request(self, row: StoredRow) -> None:
        self._named(row.document, row.columns["cluster"])
        row.columns["training"] = row.document["training"]

    def alert(self, row: StoredRow) -> None:
        self._subject(row.document["subject"], row.columns["cluster"])

    def incident(self, row: StoredRow) -> None:
        cluster, incident = row.columns["cluster"], row.document
        self._subject(incident["subject"], cluster)
        for member in incident.get("members", ()):
            self._subject(member.get("subject", {}), cluster)
        for impact in incident.get("impacts", ()):
            self._named(impact, cluster)
        if crashed := incident.get("crash_of", ""):
            incident["crash_of"] = self._key(crashed, cluster)
        kind, _, name = incident["group_key"].partition("/")
        if kind in ("training", "workload"):
            incident["group_key"] = f"{kind}/{self._key(name, cluster)}"
        row.columns["group_key"] = incident["group_key"]

    def plan(self, row: StoredRow) -> None:
        cluster = row.columns["cluster"]
        for one in row.document.get("disrupts", ()):
            one["shown"] = one.get("shown") or _shown(one["name"])
            one["name"] = self._key(one["name"], cluster)
        for stage in row.document.get("stages", ()):
            for step in stage["steps"]:
                if step["type"] == "record" and step["table"] in _ROWS:
                    self._record(step, cluster)

    def card(self, row: StoredRow) -> None:
        if parent := row.document.get("parent"):
            row.document["parent"] = self._card(parent)
        if row.columns["kind"] != "launch" or (new := self._launches.get(row.columns["row_id"])) is None:
            return
        row.columns["row_id"] = row.document["row_id"] = new
        row.id = row.document["id"] = self._card(row.id)

    def reply(self, row: StoredRow) -> None:
        old = row.columns["card"]
        new = row.columns["card"] = row.document["card"] = self._card(old)
        row.id = row.document["id"] = row.id.replace(old, new, 1)

    def _card(self, id: str) -> str:
        """Return the id of a card, `launch/cluster/namespace/name/channel` for one of a launch, with its key."""
        kind, _, rest = id.partition("/")
        launch = "/".join(rest.split("/", 3)[:3])
        key = self._launches.get(launch) if kind == "launch" else None
        return id if key is None else id.replace(launch, key, 1)

    def _record(self, step: dict[str, Any], cluster: str) -> None:
        for part in ("row", "before"):
            if step.get(part) is not None:
                self._named(step[part], cluster)
        if step["table"] == "launches":
            step["id"] = self._launches.get(step["id"], step["id"])
            for part in ("row", "before"):
                if step.get(part) is not None:
                    step[part]["id"] = step["id"]

    def _named(self, document: dict[str, Any], cluster: str) -> None:
        name = document["training"]
        document["name"] = document.get("name") or _shown(name)
        document["training"] = self._key(name, cluster)

    def _subject(self, subject: dict[str, Any], cluster: str) -> None:
        if name := subject.get("training", ""):
            subject["training"] = key = self._key(name, cluster)
            if key != name:
                subject["training_name"] = name
        if workload := subject.get("workload", ""):
            subject["workload"] = self._key(workload, cluster)

    def _key(self, name: str, cluster: str) -> str:
        """Return the key of a training's name or of a workload; the text itself where it is not known."""
        if name.count("/") != 2:
            return self._trainings.get((cluster, name), name)
        namespace, kind, own = name.split("/")
        group = _GROUPS.get(kind)
        return f"{namespace}/{kind}.{group}/{own}" if group else name


def _shown(name: str) -> str:
    if name.count("/") != 2:
        return name
    namespace, kind, own = name.split("/")
    return f"{kind} {namespace}/{own}"
