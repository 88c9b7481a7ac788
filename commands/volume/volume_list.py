"""The command `volume list`: the volumes there are, and who uses them."""

from dataclasses import dataclass

from alerts.cards.message import Block, Context, Message, Table
from alerts.cards.text import bold, text
from collectors.facts.sentences import counted, listed, sentence
from collectors.volume_use import VolumeUse, volume_uses
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.parameter_types import NAMESPACE_NAME
from commands.core.parameters import option
from commands.volume.volume_names import unseen_notes

SHOWN = 40
NAMES_SHOWN = 3  # nodes or claims in a cell


@dataclass(frozen=True, slots=True, kw_only=True)
class ListVolumes:
    namespace: str


async def listing(action: ListVolumes, context: CommandContext) -> Answer:
    """Return the volumes that have a claim, those in use first, and of these those that are written to."""
    inventory = context.cluster.inventory()
    start = f"{action.namespace}/" if action.namespace else ""
    found = [
        use for use in volume_uses(inventory).values() if any(claim.startswith(start) for claim in use.claims)
    ]
    if not found:
        raise UnusableError(
            sentence("There is no volume in namespace {namespace}.", namespace=action.namespace)
            if action.namespace
            else "There is no volume with a claim."
        )
    found.sort(key=lambda use: (-len(use.writers), -len(use.users), use.claims))
    rows = tuple(map(_row, found[:SHOWN]))
    table = Table(heading=("claim", "used by", "nodes", "image"), rows=rows, more=max(0, len(found) - SHOWN))
    blocks: list[Block] = [table, *(Context(text=text("⚠ ", note)) for note in unseen_notes(inventory))]
    blocks.append(
        Context(text=text(sentence("More about one: `volume show {claim}`", claim=found[0].claims[0])))
    )
    title = counted("{count} volume", "{count} volumes", count=len(found))
    return Answer(message=Message(title=text(bold(title)), blocks=tuple(blocks)))


def _row(use: VolumeUse) -> tuple[str, ...]:
    nodes = sorted({user.node for user in use.users if user.node})
    return (listed(use.claims, most=NAMES_SHOWN), _users(use), listed(nodes, most=NAMES_SHOWN), use.rbd)


def _users(use: VolumeUse) -> str:
    writers = len(use.writers)
    readers = len(use.users) - writers
    said = [counted("{count} writer", "{count} writers", count=writers)] if writers else []
    said += [counted("{count} reader", "{count} readers", count=readers)] if readers else []
    return listed(said) or sentence("nobody")


LIST_VOLUMES: Command[ListVolumes] = Command(
    noun="volume",
    verb="list",
    summary="List the volumes: their claims, how many write and read, and where.",
    action=ListVolumes,
    parameters=(option("--namespace", type=NAMESPACE_NAME, help="only claims of this namespace"),),
    read=listing,
    example="volume list --namespace vision",
)
