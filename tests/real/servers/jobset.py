"""JobSet's own controller beside a control plane, with its definition and its webhooks for JobSets."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from demo.parts.processes import free_port
from tests.real.parts.controllers import JOBSET
from tests.real.servers.controller import check_present, definition, running, webhooks, write_certificate
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.quick_yaml import all_from_yaml, from_yaml


class JobSetController:
    """JobSet for a cluster, with its files in `folder`; it runs within a `with` block, and leaves nothing."""

    def __init__(self, cluster: KubernetesCluster, folder: Path) -> None:
        self._files = JOBSET.present()
        check_present(self._files, "jobset")
        self._cluster = cluster
        self._folder = folder

    def __enter__(self) -> Self:
        program, defined, hooks = self._files
        port, health = free_port(), free_port()
        with ExitStack() as undo:
            certificate = write_certificate(self._folder)
            undo.enter_context(definition(self._cluster, from_yaml(defined.read_text("utf-8"))))
            config = self._folder / "config.json"
            config.write_text(json.dumps(_config(self._folder, port, health)), encoding="utf-8")
            argv = (str(program), f"--config={config}", f"--kubeconfig={self._cluster.kubeconfig}")
            ready = f"http://127.0.0.1:{health}/readyz"
            undo.enter_context(running("jobset", argv, self._folder / "jobset.log", ready))
            documents = all_from_yaml(hooks.read_text("utf-8"))
            own = [{**one, "webhooks": list(filter(_is_for_jobsets, one["webhooks"]))} for one in documents]
            undo.enter_context(
                webhooks(self._cluster, own, name="jobset", port=port, certificate=certificate)
            )
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()


def _config(folder: Path, port: int, health: int) -> dict[str, Any]:
    return {  # JSON is YAML too
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(folder)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
    }


def _is_for_jobsets(webhook: dict[str, Any]) -> bool:
    return all(rule["resources"] == ["jobsets"] for rule in webhook["rules"])
