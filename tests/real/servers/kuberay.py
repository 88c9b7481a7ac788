"""KubeRay's own controllers of RayClusters and RayJobs beside a control plane, with a stand-in for Ray itself.

No Ray runs: what its dashboard says of a job follows from the pod that submitted it. That pod reads the job's log until
the job has ended, and ends as the job did.
"""

import json
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError, URLError

from tests.real.parts.controllers import KUBERAY, Controller
from tests.real.servers.operator_part import Operator

RAYJOBS = "/apis/ray.io/v1/rayjobs"
_STATES = {"Succeeded": "SUCCEEDED", "Failed": "FAILED"}


@dataclass(kw_only=True)
class KubeRay(Operator):
    """It runs within a `with` block, and leaves nothing."""

    part: Controller = field(default=KUBERAY, init=False)

    def _enter(self, undo: ExitStack) -> None:
        server = undo.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), self._handler()))
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        undo.callback(thread.join)
        undo.callback(server.shutdown)
        self.options = (f"--dashboard=127.0.0.1:{server.server_port}",)

    def __exit__(self, *error: object) -> None:
        """Let the operator take its finalizers off what is left: without them gone, no definition goes."""
        for one in self.cluster.call("GET", RAYJOBS)["items"]:
            meta = one["metadata"]
            path = f"/apis/ray.io/v1/namespaces/{meta['namespace']}/rayjobs/{meta['name']}"
            with suppress(HTTPError):  # it is gone
                self.cluster.call("DELETE", path)
        self.cluster.wait_for("no RayJob to be left", lambda: not self.cluster.call("GET", RAYJOBS)["items"])
        super().__exit__(*error)

    def _job(self, id: str) -> dict[str, Any] | None:
        """Return what Ray would say of a job; None of one that nobody submitted."""
        found = self.cluster.call("GET", RAYJOBS)["items"]
        name = next((one["metadata"] for one in found if one.get("status", {}).get("jobId") == id), None)
        if name is None:
            return None
        path = f"/api/v1/namespaces/{name['namespace']}/pods?labelSelector=job-name%3D{name['name']}"
        pods = self.cluster.call("GET", path)["items"]
        ended = next((pod["status"] for pod in pods if pod["status"].get("phase") in _STATES), None)
        state = _STATES[ended["phase"]] if ended is not None else "RUNNING"
        for pod in pods:  # one that is tried again finds the job ended
            if ended is not None and pod["status"].get("phase") == "Running":
                status = {"phase": ended["phase"], "containerStatuses": ended.get("containerStatuses", [])}
                own = f"/api/v1/namespaces/{name['namespace']}/pods/{pod['metadata']['name']}/status"
                self.cluster.call("PATCH", own, {"status": status})
        now = round(time.time() * 1000)  # noqa: TID251 - the operator compares it with its own clock
        job = {"submission_id": id, "status": state, "entrypoint": "", "message": "", "start_time": now}
        if state == "FAILED":
            job["message"] = "Job entrypoint command failed with exit code 1, last available logs: ..."
        return job if state == "RUNNING" else {**job, "end_time": now}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        ray = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                job = None
                with suppress(HTTPError, URLError):  # the control plane or the kind is gone
                    job = ray._job(self.path.rpartition("/")[2])
                self._answer(404 if job is None else 200, job or {})

            def do_POST(self) -> None:  # what asks to stop a job
                self._answer(200, {"stopped": True})

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
