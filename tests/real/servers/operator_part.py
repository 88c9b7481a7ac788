"""A controller with a main of ours beside a control plane, with the definitions of its kinds."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from demo.parts.processes import free_port
from tests.real.parts.controllers import Controller
from tests.real.servers.controller import Stoppable, check_present, definition, running


@dataclass(kw_only=True)
class Operator(Stoppable):
    """It runs within a `with` block, and leaves nothing."""

    part: Controller
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        files = self.part.present()
        check_present(files, self.part.part)
        self._program, *defined = files
        self._define(defined)

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            for tree in self.definitions.values():
                undo.enter_context(definition(self.cluster, tree))
            self._enter(undo)
            self._process = undo.enter_context(ExitStack())
            self._serve(self._process)
            self._undo = undo.pop_all()
        return self

    def _enter(self, undo: ExitStack) -> None:
        """Start what it needs beside it."""

    def _serve(self, stack: ExitStack) -> None:
        health = free_port()
        argv = (
            str(self._program),
            f"--kubeconfig={self.cluster.kubeconfig}",
            f"--health-probe-bind-address=127.0.0.1:{health}",
            *self.options,
        )
        ready = f"http://127.0.0.1:{health}/readyz"
        stack.enter_context(running(self.part.part, argv, self.folder / "operator.log", ready))
