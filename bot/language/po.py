"""Catalogues of translations in gettext's `.po` files, read as they are: nothing is compiled or kept twice.

Source: the GNU gettext manual, "The Format of PO Files" and "The Format of GNU MO Files".
"""

import ast
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from gettext import GNUTranslations
from io import BytesIO

_LINE = re.compile(r'(?P<word>msgctxt|msgid_plural|msgid|msgstr(?:\[(?P<form>\d)\])?)?\s*(?P<text>".*")')
_MAGIC = 0x950412DE


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A message and its translation, one per plural form. The entry of an empty id describes the catalogue."""

    id: str
    plural: str = ""
    context: str = ""
    said: tuple[str, ...]

    @property
    def key(self) -> str:
        """The key of gettext, without the plural."""
        return f"{self.context}\x04{self.id}" if self.context else self.id


def entries_of(content: str) -> list[Translation]:
    """Return the entries of a `.po` file, without those that have no translation. Raises ValueError with the line."""
    found: list[Translation] = []
    for block in re.split(r"\n\s*\n", content):
        texts: dict[str, str] = {}
        word = ""
        for line in block.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            match = _LINE.fullmatch(line.strip())
            if match is None or not (match["word"] or word) or match["word"] in texts:
                raise ValueError(f"not a line of a catalogue: {line}")
            word = match["word"] or word
            texts[word] = texts.get(word, "") + _unquoted(match["text"])
        if texts:
            found.append(_entry(texts))
    return [one for one in found if all(one.said)]


def translations_of(entries: Iterable[Translation]) -> GNUTranslations:
    """Return the entries as gettext's translations. The plural rule is that of the entry with an empty id."""
    pairs = {f"{one.key}\0{one.plural}" if one.plural else one.key: "\0".join(one.said) for one in entries}
    ids, said = zip(*((id.encode(), pairs[id].encode()) for id in sorted(pairs)), strict=True)
    at = 28 + 16 * len(ids)
    indexes = list[bytes]()
    for texts in (ids, said):
        for one in texts:
            indexes.append(struct.pack("<II", len(one), at))
            at += len(one) + 1
    head = struct.pack("<IIIIIII", _MAGIC, 0, len(ids), 28, 28 + 8 * len(ids), 0, 0)
    return GNUTranslations(BytesIO(head + b"".join(indexes) + b"".join(one + b"\0" for one in (*ids, *said))))


def _entry(texts: dict[str, str]) -> Translation:
    forms = sorted(word for word in texts if word.startswith("msgstr"))
    if "msgid" not in texts or not forms:
        raise ValueError(f"an entry needs msgid and msgstr: {texts}")
    if ("msgid_plural" in texts) != (forms != ["msgstr"]):
        raise ValueError(f"msgid_plural and msgstr[0] go together: {texts['msgid']}")
    return Translation(
        id=texts["msgid"],
        plural=texts.get("msgid_plural", ""),
        context=texts.get("msgctxt", ""),
        said=tuple(texts[form] for form in forms),
    )


def _unquoted(text: str) -> str:
    try:
        return str(ast.literal_eval(text))
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"not a quoted text: {text}") from error
