"""JobSet's own controller beside a control plane, with its definition and its webhooks for JobSets."""

import base64
import json
import subprocess
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Self
from urllib.error import HTTPError

from demo.parts.processes import Child, MissingPartError, Program, answers, find_program, free_port
from tests.real.parts.layout import HOW_TO_GET, jobset_files
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.quick_yaml import all_from_yaml, from_yaml

_READY_WITHIN = timedelta(minutes=2)
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
_OBJECTS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"


class JobSetController:
    """JobSet for a cluster, with its files in `folder`; it runs within a `with` block, and leaves nothing."""

    def __init__(self, cluster: KubernetesCluster, folder: Path) -> None:
        files = jobset_files()
        if missing := [str(file) for file in files if not file.is_file()]:
            raise MissingPartError(f"no {', '.join(missing)}; {HOW_TO_GET.format(part='jobset')}")
        program, self._definition, self._webhooks = files
        self._cluster = cluster
        self._folder = folder
        self._port, self._health = free_port(), free_port()
        argv = (str(program), f"--config={folder / 'config.json'}", f"--kubeconfig={cluster.kubeconfig}")
        self._child = Child(Program(name="jobset", argv=argv, log=folder / "jobset.log"))

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            self._write_files()
            self._create(undo, _DEFINITIONS, from_yaml(self._definition.read_text("utf-8")))
            self._cluster.wait_for("JobSets to be served", self._is_served)
            undo.enter_context(self._child)
            ready = f"http://127.0.0.1:{self._health}/readyz"
            self._child.wait_until_ready(lambda: answers(ready), limit=_READY_WITHIN)
            for document in all_from_yaml(self._webhooks.read_text("utf-8")):
                if webhooks := [self._reached(one) for one in document["webhooks"] if _is_for_jobsets(one)]:
                    plural = f"{document['kind'].lower()}s"
                    meta = {"name": f"jobset-{plural}"}
                    tree = {**document, "metadata": meta, "webhooks": webhooks}
                    self._create(undo, f"{_WEBHOOKS}/{plural}", tree)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def _is_served(self) -> bool:
        try:
            self._cluster.call("GET", _OBJECTS)
        except HTTPError as refusal:  # 404, and then 429 while the storage is set up
            with refusal:
                return False
        return True

    def _create(self, undo: ExitStack, path: str, tree: dict[str, Any]) -> None:
        undo.callback(self._delete, f"{path}/{tree['metadata']['name']}")
        self._cluster.call("POST", path, tree)

    def _delete(self, path: str) -> None:
        try:
            self._cluster.call("DELETE", path)
        except HTTPError as refusal:
            refusal.close()

    def _reached(self, webhook: dict[str, Any]) -> dict[str, Any]:
        """Return the webhook with the address of this process, which is behind no Service."""
        path = webhook["clientConfig"]["service"]["path"]
        certificate = base64.b64encode((self._folder / "tls.crt").read_bytes()).decode()
        client = {"url": f"https://127.0.0.1:{self._port}{path}", "caBundle": certificate}
        return {**webhook, "clientConfig": client}

    def _write_files(self) -> None:
        openssl = find_program("openssl", get_it=HOW_TO_GET.format(part="debian"))
        argv = [str(openssl), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        argv += ["-keyout", str(self._folder / "tls.key"), "-out", str(self._folder / "tls.crt")]
        argv += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        subprocess.run(argv, check=True, capture_output=True, timeout=60)
        config = {
            "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "webhook": {"host": "127.0.0.1", "port": self._port, "certDir": str(self._folder)},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self._health}"},
        }
        (self._folder / "config.json").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML too


def _is_for_jobsets(webhook: dict[str, Any]) -> bool:
    return all(rule["resources"] == ["jobsets"] for rule in webhook["rules"])
