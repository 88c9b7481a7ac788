"""A real Alertmanager on loopback."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Self

from demo.parts.processes import Child, Program, answers, find_program, free_port
from tests.real.parts.layout import HOW_TO_GET

_READY_WITHIN = timedelta(seconds=30)
_GET_IT = HOW_TO_GET.format(part="debian")

NO_NOTIFICATIONS = """\
route: {receiver: nobody, group_by: [alertname]}
receivers: [{name: nobody}]
"""


def find_alertmanager() -> Path:
    """Return the path of Alertmanager. Raise MissingPartError."""
    return find_program("prometheus-alertmanager", "alertmanager", get_it=_GET_IT)


def find_amtool() -> Path:
    """Return the path of `amtool`. Raise MissingPartError."""
    return find_program("amtool", get_it=_GET_IT)


class AlertmanagerServer:
    """An Alertmanager without peers, with its files in `folder`; it runs within a `with` block."""

    def __init__(self, *, folder: Path, config: str = NO_NOTIFICATIONS) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._config = config
        self._config_file = folder / "alertmanager.yml"
        flags = (
            f"--config.file={self._config_file}",
            f"--storage.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--cluster.listen-address=",
        )
        program = Program(
            name="Alertmanager",
            argv=(str(find_alertmanager()), *flags),
            log=folder / "alertmanager.log",
        )
        self._child = Child(program)

    def __enter__(self) -> Self:
        self._config_file.parent.mkdir(parents=True, exist_ok=True)
        self._config_file.write_text(self._config, encoding="utf-8")
        with ExitStack() as undo:
            undo.enter_context(self._child)
            self._child.wait_until_ready(lambda: answers(f"{self.url}/-/ready"), limit=_READY_WITHIN)
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._child.stop()
