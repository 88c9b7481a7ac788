"""A real Elasticsearch on loopback, newly unpacked, without data and without security.

It is Elastic's own integration test build: the server without most of its modules. It lacks `GET /`, scripts,
pipeline aggregations, ES|QL and ILM.
"""

import os
import shutil
import tempfile
import zipfile
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Self

from demo.parts.processes import Child, MissingPartError, Program, answers, free_port
from tests.real.parts.layout import ELASTICSEARCH, HOW_TO_GET, elasticsearch_zip
from tests.real.parts.needs import java_home

_READY_WITHIN = timedelta(minutes=3)  # 17 s alone on two cores
_STOP_WITHIN = timedelta(seconds=20)
_NOT_ROOT = "nobody"  # Elasticsearch refuses to run as root

_CONFIG = """\
discovery.type: single-node
xpack.security.enabled: false
http.host: 127.0.0.1
http.port: {http}
transport.host: 127.0.0.1
transport.port: {transport}
cluster.routing.allocation.disk.threshold_enabled: false
"""


class ElasticsearchServer:
    """A node that runs within a `with` block, in a temporary folder."""

    def __init__(self, version: str = ELASTICSEARCH) -> None:
        archive = elasticsearch_zip(version)
        if not archive.is_file():
            raise MissingPartError(f"no {archive}; {HOW_TO_GET.format(part='elasticsearch')}")
        self._archive = archive
        self._java = java_home()
        port = free_port()
        self._config = _CONFIG.format(http=port, transport=free_port())
        self.url = f"http://127.0.0.1:{port}"
        self._folder: Path | None = None
        self._child: Child | None = None

    def __enter__(self) -> Self:
        # Not under pytest's folder: only the user who runs the tests can read that one.
        self._folder = Path(tempfile.mkdtemp(prefix="yardmaster-elasticsearch-"))
        with ExitStack() as undo:
            undo.callback(self.__exit__)
            self._start(self._folder)
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.stop(grace=_STOP_WITHIN)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, folder: Path) -> None:
        home = _unpack(self._archive, folder)
        (home / "config" / "elasticsearch.yml").write_text(self._config, encoding="utf-8")
        scratch = folder / "tmp"  # Elasticsearch rejects one that contains its own home
        scratch.mkdir()
        user = _NOT_ROOT if os.geteuid() == 0 else None
        if user:
            _change_owner(folder, user)
        program = Program(
            name="Elasticsearch",
            argv=(str(home / "bin" / "elasticsearch"),),
            log=folder / "elasticsearch.log",
            environment={
                "ES_JAVA_HOME": str(self._java),
                "ES_JAVA_OPTS": "-Xms512m -Xmx512m",
                "ES_TMPDIR": str(scratch),
                "ES_PATH_CONF": str(home / "config"),
            },
            folder=home,
            user=user,
        )
        self._child = Child(program)
        self._child.start()
        health = f"{self.url}/_cluster/health?wait_for_status=yellow&timeout=1s"
        self._child.wait_until_ready(lambda: answers(health), limit=_READY_WITHIN)


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack with the modes of the archive, which zipfile ignores, and return the server's home."""
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            path = Path(packed.extract(entry, folder))
            if mode := (entry.external_attr >> 16) & 0o777:
                path.chmod(mode)
    home = next(folder.glob("elasticsearch-*"))
    (home / "logs").mkdir(exist_ok=True)
    return home


def _change_owner(folder: Path, user: str) -> None:
    shutil.chown(folder, user)
    for path in folder.rglob("*"):
        shutil.chown(path, user)
