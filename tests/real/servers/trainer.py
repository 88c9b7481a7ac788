"""Kubeflow Trainer's own controller beside a control plane that has JobSet's, with its webhooks and one runtime."""

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from demo.parts.processes import free_port
from tests.real.parts.controllers import TRAINER
from tests.real.servers.controller import (
    Stoppable,
    check_present,
    created,
    definition,
    manager_config,
    running,
    webhooks,
    write_certificate,
)
from tests.support.quick_yaml import all_from_yaml, from_yaml

_RUNTIMES = "/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes"
_CERTIFICATES = Path("k8s-webhook-server", "serving-certs")  # in its folder for what is temporary


@dataclass(kw_only=True)
class Trainer(Stoppable):
    """It runs within a `with` block, and leaves nothing."""

    def __post_init__(self) -> None:
        files = TRAINER.present()
        check_present(files, "trainer")
        self._program, *defined, self._webhooks, self._runtime = files
        self._define(defined)
        self._port, self._health = free_port(), free_port()

    def __enter__(self) -> Self:
        certificates = self.folder / "tmp" / _CERTIFICATES
        certificates.mkdir(parents=True)
        with ExitStack() as undo:
            self._certificate = write_certificate(certificates)
            for tree in self.definitions.values():
                undo.enter_context(definition(self.cluster, tree))
            config = self.folder / "config.json"
            config.write_text(json.dumps(self._config()), encoding="utf-8")  # JSON is YAML too
            self._process = undo.enter_context(ExitStack())
            self._serve(self._process)
            runtime = from_yaml(self._runtime.read_text("utf-8"))
            for job in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
                job["template"]["spec"]["backoffLimit"] = 0  # else a Job tries six times, ever more slowly
            undo.enter_context(created(self.cluster, _RUNTIMES, runtime))
            self._undo = undo.pop_all()
        return self

    def _serve(self, stack: ExitStack) -> None:
        argv = (str(self._program), f"--config={self.folder / 'config.json'}")
        ready = f"http://127.0.0.1:{self._health}/readyz"
        place = {"TMPDIR": str(self.folder / "tmp"), "KUBECONFIG": str(self.cluster.kubeconfig)}
        stack.enter_context(running("trainer", argv, self.folder / "trainer.log", ready, **place))
        documents = list(all_from_yaml(self._webhooks.read_text("utf-8")))
        stack.enter_context(
            webhooks(self.cluster, documents, name="trainer", port=self._port, certificate=self._certificate)
        )

    def _config(self) -> dict[str, Any]:
        return manager_config(
            "trainer.kubeflow.org/v1alpha1",
            port=self._port,
            health=self._health,
            certManagement={"enable": False},
        )
