"""The parts of a spec's YAML file, each with its line, so that whatever is wrong with one is said with it. Pure."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from alerts.loading.yaml_nodes import ListNode, MapNode, ScalarNode, YamlError, YamlNode, documents
from collectors.facts.sentences import as_code, said_by, sentence
from commands.core.command import UnusableError

MOST_VALUES = 2_000  # of a file, with every alias expanded
LARGEST = 64 << 10  # bytes
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecPart:
    """One value of a file, with its place in it. `file` is what the person called it."""

    file: str
    node: YamlNode
    name: str  # the key in front of it

    @property
    def line(self) -> int:
        return self.node.line

    def wrong(self, said: str) -> UnusableError:
        return UnusableError(
            sentence("{file}, line {line}: {wrong}", file=self.file, line=self.line, wrong=said)
        )

    @contextmanager
    def located(self) -> Iterator[None]:
        """Say the line of whatever is refused within."""
        try:
            yield
        except UnusableError as refusal:
            raise self.wrong(said_by(refusal)) from refusal

    def fields(self, known: Sequence[str] = ()) -> "dict[str, SpecPart]":
        """Return its values by key. Raises UnusableError with the line of a key that is unknown or repeated."""
        if not isinstance(self.node, MapNode):
            raise self.wrong(sentence("`{name}` must consist of `key: value` lines.", name=self.name))
        found: dict[str, SpecPart] = {}
        for key, value in self.node.pairs:
            if not isinstance(key, ScalarNode) or key.kind == "merge":
                raise self._at(key).wrong(sentence("A key must be a word."))
            at = SpecPart(file=self.file, node=value, name=key.text[:_SHOWN])
            if known and key.text not in known:
                raise self._at(key).wrong(
                    sentence("`{key}` is not known here. Known: {known}.", key=at.name, known=as_code(known))
                )
            if key.text in found:
                raise self._at(key).wrong(sentence("`{key}` is given twice.", key=at.name))
            found[key.text] = at
        return found

    def items(self) -> "list[SpecPart]":
        if not isinstance(self.node, ListNode):
            raise self.wrong(sentence("`{name}` must be a list.", name=self.name))
        return [SpecPart(file=self.file, node=one, name=self.name) for one in self.node.items]

    def text(self) -> str:
        """Return a text, or a number as it is written."""
        if not isinstance(self.node, ScalarNode) or self.node.kind not in ("str", "int", "float"):
            raise self.wrong(sentence("`{name}` must be a text or a number.", name=self.name))
        if "\x00" in self.node.text:
            raise self.wrong(sentence("`{name}` has a null character.", name=self.name))
        return self.node.text

    def words(self) -> tuple[str, ...]:
        return tuple(one.text() for one in self.items())

    def texts(self) -> dict[str, str]:
        return {key: one.text() for key, one in self.fields().items()}

    def is_true(self) -> bool:
        if not isinstance(self.node, ScalarNode) or self.node.kind != "bool":
            raise self.wrong(sentence("`{name}` must be true or false.", name=self.name))
        return self.node.text.lower() == "true"

    def _at(self, node: YamlNode) -> "SpecPart":
        return SpecPart(file=self.file, node=node, name=self.name)


def whole(content: bytes, file: str) -> SpecPart:
    """Return the only document of a file. Raises UnusableError with the line of what is no YAML, or too much of it."""
    start = SpecPart(file=file, node=ScalarNode(line=1, column=1, text="", kind="null"), name=file)
    if len(content) > LARGEST:
        raise start.wrong(sentence("It is larger than {limit} KiB.", limit=LARGEST >> 10))
    try:
        found = documents(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        node = ScalarNode(line=line, column=1, text="", kind="null")
        raise SpecPart(file=file, node=node, name=file).wrong(sentence("It is not UTF-8 text.")) from error
    except YamlError as error:
        node = ScalarNode(line=error.line, column=error.column, text="", kind="null")
        raise SpecPart(file=file, node=node, name=file).wrong(str(error)) from error
    if len(found) != 1:
        raise start.wrong(sentence("It has {count} documents, and must have one.", count=len(found)))
    (top,) = found
    if top.size > MOST_VALUES:
        raise start.wrong(sentence("It has more than {most} values, counting every alias.", most=MOST_VALUES))
    return SpecPart(file=file, node=top, name=file)
