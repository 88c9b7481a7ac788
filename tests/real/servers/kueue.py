"""Kueue's controllers, scheduler and webhooks beside a control plane, for the kinds of training that a test names."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self

from demo.parts.processes import free_port
from tests.real.parts.controllers import KUEUE
from tests.real.servers.controller import (
    Stoppable,
    check_present,
    definition,
    manager_config,
    running,
    webhooks,
    write_certificate,
)
from tests.support.quick_yaml import all_from_yaml

# Its kinds that have webhooks of their own. Those of other kinds are registered only where a test has these kinds.
_OWN = ("clusterqueues", "cohorts", "resourceflavors", "workloads")


@dataclass(kw_only=True)
class Kueue(Stoppable):
    """It runs within a `with` block, and leaves nothing. `frameworks`: by its names, such as `batch/job`."""

    frameworks: Sequence[str] = ("batch/job",)

    def __post_init__(self) -> None:
        files = KUEUE.present()
        check_present(files, "kueue")
        self._program, *defined, self._webhooks = files
        self._define(defined)
        self._port, self._health = free_port(), free_port()

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            self._certificate = write_certificate(self.folder)
            for tree in self.definitions.values():
                undo.enter_context(definition(self.cluster, tree))
            (self.folder / "config.json").write_text(json.dumps(self._config()), encoding="utf-8")
            undo.callback(
                self._release
            )  # once it has stopped, nothing takes its finalizers from what is left
            self._process = undo.enter_context(ExitStack())
            self._serve(self._process)
            self._undo = undo.pop_all()
        return self

    def _serve(self, stack: ExitStack) -> None:
        argv = (str(self._program), f"--config={self.folder / 'config.json'}")  # JSON is YAML too
        ready = f"http://127.0.0.1:{self._health}/readyz"
        place = {"KUEUE_METRICS_CERTS": str(self.folder), "KUBECONFIG": str(self.cluster.kubeconfig)}
        stack.enter_context(running("kueue", argv, self.folder / "kueue.log", ready, **place))
        kinds = {*_OWN, *(f"{name.rpartition('/')[2]}s" for name in self.frameworks)}
        own = [
            {**one, "webhooks": [hook for hook in one["webhooks"] if _resources(hook) <= kinds]}
            for one in all_from_yaml(self._webhooks.read_text("utf-8"))
        ]
        stack.enter_context(
            webhooks(self.cluster, own, name="kueue", port=self._port, certificate=self._certificate)
        )

    def _release(self) -> None:
        for tree in self.definitions.values():
            spec = tree["spec"]
            (version,) = (one["name"] for one in spec["versions"] if one["storage"])
            api, plural = f"/apis/{spec['group']}/{version}", spec["names"]["plural"]
            for one in self.cluster.call("GET", f"{api}/{plural}")["items"]:
                meta = one["metadata"]
                if meta.get("finalizers"):
                    place = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
                    path, body = f"{api}{place}/{plural}/{meta['name']}", {"metadata": {"finalizers": None}}
                    self.cluster.call("PATCH", path, body, patch="merge-patch")

    def _config(self) -> dict[str, Any]:
        return manager_config(
            "kueue.x-k8s.io/v1beta2",
            port=self._port,
            health=self._health,
            webhook={"host": "127.0.0.1", "port": self._port, "certDir": str(self.folder)},
            internalCertManagement={"enable": False},
            integrations={"frameworks": list(self.frameworks)},
            # Else it waits for a certificate of an aggregated API.
            featureGates={"VisibilityOnDemand": False},
        )


def _resources(webhook: dict[str, Any]) -> set[str]:
    return {one.partition("/")[0] for rule in webhook["rules"] for one in rule["resources"]}
