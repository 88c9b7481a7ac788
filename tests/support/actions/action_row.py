"""One action that people have on nodes, GPUs, pods and volumes: what has its button, and how each story of it goes.

The stories read these rows twice: from the button in the look-alike of Slack, and as a line on a real control plane.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from tests.support.drained import Kubelets

_ONE_NODE: Mapping[str, str] = {"node": "{node}"}


@dataclass(frozen=True, kw_only=True)
class Site:
    """A node of its own for one row. What is in its namespace is named after the node."""

    kubelets: Kubelets
    node: str

    @property
    def space(self) -> str:
        return self.kubelets.namespace

    def filled(self, text: str) -> str:
        return text.replace("{node}", self.node).replace("{space}", self.space)

    async def patch_node(self, **patch: Any) -> None:
        await self.kubelets.call("PATCH", f"/api/v1/nodes/{self.node}", patch)

    async def node_now(self) -> Any:
        return await self.kubelets.node(self.node)

    async def get(self, kind: str, name: str, *, api: str = "/api/v1") -> Any:
        return await self.kubelets.call("GET", self.kubelets.path(kind, name, api=api))

    async def pods_of_node(self) -> list[Any]:
        found = await self.kubelets.call("GET", self.kubelets.path("pods"))
        return [one for one in found["items"] if one["spec"].get("nodeName") == self.node]


Step = Callable[[Site], Awaitable[object]]


async def nothing(_: Site) -> None:
    """Change nothing."""


async def always(_: Site) -> bool:
    return True


@dataclass(frozen=True)
class Obstacle:
    """What another actor does that makes an action impossible, what a person reads then, and how it is taken back."""

    arises: Step
    read: str
    goes: Step = nothing


@dataclass(frozen=True)
class ActionRow:
    """A line and the text of its button; `{node}` and `{space}` in texts are the site's.

    `rule` is a shipped rule whose card has the button, with the labels of its alert, while it fires or once it
    `is_over`; or `answer` a line whose answer has it. `before` is a line that is done first. `release` lets a plan end
    that waits for the cluster. `refused` is in the way before the line is typed; if nothing is read of it, the answer
    has no button then. `surprised` comes between the preview and its confirmation. `answered` is what an action
    without a plan answers.
    """

    line: str
    button: str
    _: KW_ONLY
    rule: str = ""
    labels: Mapping[str, str] = field(default_factory=lambda: _ONE_NODE)
    is_over: bool = False
    answer: str = ""
    form: Mapping[str, str] = field(default_factory=dict)
    answered: str = ""
    arrange: Step = nothing
    before: str = ""
    is_done: Callable[[Site], Awaitable[bool]] = always
    release: Step = nothing
    undone: str = ""  # why it cannot be undone; empty: an undo takes it back
    leads_to: str = ""  # a button of its card once it is done
    refused: Obstacle | None = None
    surprised: Obstacle | None = None
    listed: str = ""  # what `node list` says of the node afterwards

    @property
    def command(self) -> str:
        return " ".join(self.line.split()[:2])


@dataclass(kw_only=True)
class PlayedRow:
    """One row on its site. `faults` is what is wrong; after the first the rest is left out."""

    row: ActionRow
    site: Site
    faults: list[str] = field(default_factory=list)

    def _says(self, words: str, said: str) -> None:
        assert words in said.replace("`", ""), f"`{words}` is not said: {said}"
