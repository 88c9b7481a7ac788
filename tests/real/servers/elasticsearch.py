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
from typing import ClassVar, Self

from demo.parts.processes import Child, MissingPartError, Program, answers, free_port
from tests.real.parts.layout import HOW_TO_GET, elasticsearch_zip
from tests.real.parts.needs import java_home

_READY_WITHIN = timedelta(minutes=3)  # 17 s alone on two cores
_STOP_WITHIN = timedelta(seconds=20)
_NOT_ROOT = "nobody"  # Elasticsearch refuses to run as root

_CONFIG = """\
discovery.type: single-node
http.host: 127.0.0.1
http.port: {http}
transport.host: 127.0.0.1
transport.port: {transport}
cluster.routing.allocation.disk.threshold_enabled: false
"""


class ElasticsearchServer:
    """A node that runs within a `with` block, in a temporary folder."""

    part: ClassVar[str] = "elasticsearch"
    environment_prefix: ClassVar[str] = "ES"
    settings: ClassVar[str] = "xpack.security.enabled: false\n"

    def __init__(self, archive: Path | None = None) -> None:
        self._archive = archive or elasticsearch_zip()
        if not self._archive.is_file():
            raise MissingPartError(f"no {self._archive}; {HOW_TO_GET.format(part=self.part)}")
        self._java = java_home()
        port = free_port()
        self._config = _CONFIG.format(http=port, transport=free_port()) + self.settings
        self.url = f"http://127.0.0.1:{port}"
        self._folder: Path | None = None
        self._child: Child | None = None

    def __enter__(self) -> Self:
        # Not under pytest's folder: only the user who runs the tests can read that one.
        self._folder = Path(tempfile.mkdtemp(prefix=f"yardmaster-{self.part}-"))
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
        home = _unpack(self._archive, folder, f"{self.part}-*")
        (home / "config" / f"{self.part}.yml").write_text(self._config, encoding="utf-8")
        scratch = folder / "tmp"  # Elasticsearch rejects one that contains its own home
        scratch.mkdir()
        user = _NOT_ROOT if os.geteuid() == 0 else None
        if user:
            _change_owner(folder, user)
        prefix = self.environment_prefix
        program = Program(
            name=self.part,
            argv=(str(home / "bin" / self.part),),
            log=folder / f"{self.part}.log",
            environment={
                f"{prefix}_JAVA_HOME": str(self._java),
                f"{prefix}_JAVA_OPTS": "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1",
                f"{prefix}_TMPDIR": str(scratch),
                f"{prefix}_PATH_CONF": str(home / "config"),
            },
            folder=home,
            user=user,
        )
        self._child = Child(program)
        self._child.start()
        health = f"{self.url}/_cluster/health?wait_for_status=yellow&timeout=1s"
        self._child.wait_until_ready(lambda: answers(health), limit=_READY_WITHIN)


def _unpack(archive: Path, folder: Path, pattern: str) -> Path:
    """Unpack with the modes of the archive, which zipfile ignores, and return the server's home."""
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            path = Path(packed.extract(entry, folder))
            if mode := (entry.external_attr >> 16) & 0o777:
                path.chmod(mode)
    home = next(path for path in folder.glob(pattern) if path.is_dir())
    (home / "logs").mkdir(exist_ok=True)
    return home


def _change_owner(folder: Path, user: str) -> None:
    shutil.chown(folder, user)
    for path in folder.rglob("*"):
        shutil.chown(path, user)
