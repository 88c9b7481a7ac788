"""Volcano's scheduler and controllers beside a control plane, for its Jobs, queues and PodGroups.

Its admission does not run, as in the recipe that this follows: a Job of Volcano names its queue, which the admission
would fill in.
"""

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from demo.parts.processes import free_port
from tests.real.parts.controllers import VOLCANO
from tests.real.servers.controller import Stoppable, check_present, definition, running

_QUEUE = "/apis/scheduling.volcano.sh/v1beta1/queues/default"
_CONTROLLERS = ("gc", "job", "pg", "queue")  # those of flows of jobs need kinds that are not here
# As in its chart.
_PLUGINS = (
    ({"name": "priority"}, {"name": "gang", "enablePreemptable": False}, {"name": "conformance"}),
    (
        {"name": "overcommit"},
        {"name": "drf", "enablePreemptable": False},
        {"name": "predicates"},
        {"name": "capacity"},
        {"name": "nodeorder"},
        {"name": "binpack"},
    ),
)
_SCHEDULING = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [{"plugins": list(tier)} for tier in _PLUGINS],
}


@dataclass(kw_only=True)
class Volcano(Stoppable):
    """It runs within a `with` block, and leaves nothing."""

    def __post_init__(self) -> None:
        files = VOLCANO.present()
        check_present(files, "volcano")
        self._manager, self._scheduler, *defined = files
        self._define(defined)

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            config = self.folder / "scheduling.json"
            config.write_text(json.dumps(_SCHEDULING), encoding="utf-8")  # JSON is YAML too
            for tree in self.definitions.values():
                undo.enter_context(definition(self.cluster, tree))
            self._process = undo.enter_context(ExitStack())
            self._serve(self._process)
            self.cluster.wait_for("an open queue", self._is_open)
            self._undo = undo.pop_all()
        return self

    def _is_open(self) -> bool:
        """Whether both act: the scheduler makes this queue, and the controllers open it."""
        status = self.cluster.call("GET", _QUEUE).get("status") or {}
        return bool(status.get("state") == "Open")

    def _serve(self, stack: ExitStack) -> None:
        own = {
            "scheduler": (
                f"--scheduler-conf={self.folder / 'scheduling.json'}",
                f"--listen-address=127.0.0.1:{free_port()}",
                "--cache-dumper=false",
            ),
            "controllers": (f"--controllers={','.join(f'+{name}-controller' for name in _CONTROLLERS)}",),
        }
        for name, program in (("scheduler", self._scheduler), ("controllers", self._manager)):
            health = free_port()
            argv = (
                str(program),
                f"--kubeconfig={self.cluster.kubeconfig}",
                "--leader-elect=false",
                "--enable-healthz=true",
                f"--healthz-address=127.0.0.1:{health}",
                *own[name],
            )
            log, ready = self.folder / f"{name}.log", f"http://127.0.0.1:{health}/healthz"
            stack.enter_context(running(f"volcano-{name}", argv, log, ready))
