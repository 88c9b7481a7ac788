"""Rows as JSON documents, including Labels, floats that JSON does not have, and sentences.

A sentence is its English where it stands, for programs that know no more; its template and arguments are beside the
row's own fields. A row of a program that did not store them has plain English.
"""

import json
from functools import lru_cache
from math import isfinite
from typing import Any, Final

import msgspec

from alerts.store import Row, TableDefinition
from bot.store.stored_sentences import sentences_of, stored_sentence
from collectors.facts.labels import Labels
from collectors.facts.sentences import Sentence
from collectors.facts.sentences_within import restored

_NAME = "$sentences"  # no field of a row can be called so
_KEY = f'"{_NAME}"'


class _Beside(msgspec.Struct):
    """What is beside the row's own fields."""

    said: Any = msgspec.field(name=_NAME, default=None)


_beside: Final = msgspec.json.Decoder(_Beside)


def encode(table: TableDefinition[Row], row: Row) -> str:
    """Return the row as JSON. NaN and infinities are written as Python's json does, because JSON has none."""
    said: dict[str, Any] = {}

    def hook(value: Any) -> Any:
        if isinstance(value, Sentence):
            said[str(value)] = stored_sentence(value)
            return str(value)
        if isinstance(value, Labels):
            return dict(value)
        raise NotImplementedError(f"cannot encode a {type(value).__name__}")

    if all(isfinite(value) for value in table.floats(row)):
        document = msgspec.json.encode(row, enc_hook=hook).decode()
    else:
        document = _dumped(msgspec.to_builtins(row, enc_hook=hook))
    return f"{document[:-1]},{_KEY}:{_dumped(said)}}}" if said else document


def decode(table: TableDefinition[Row], document: str) -> Row:
    """Return the row of a document. Raises msgspec.ValidationError if it is not a row of this table."""
    try:
        row: Row = _decoder(table.row).decode(document)
        beside = _beside.decode(document).said if _KEY in document else None
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # NaN or an infinity
        fields = json.loads(document)
        row = msgspec.convert(fields, type=table.row, dec_hook=_decode_labels)
        beside = fields.get(_NAME)
    said = sentences_of(beside) if beside else {}
    return restored(row, said) if said else row


class Documents:
    """Encodes and decodes the rows of one store.

    Of tables that are `read_often` it keeps the rows that were written or read last, by their document: one that still
    stands as it was written is not decoded again.
    """

    MOST = 256  # rows
    LONGEST = 32_768  # characters of a document of one that is kept

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Any] = {}  # the one that was used last is last

    def encode(self, table: TableDefinition[Row], row: Row) -> str:
        document = encode(table, row)
        if table.read_often:
            self._keep((table.name, document), row)
        return document

    def decode(self, table: TableDefinition[Row], document: str) -> Row:
        if not table.read_often:
            return decode(table, document)
        key = (table.name, document)
        row: Row = kept if (kept := self._kept.pop(key, None)) is not None else decode(table, document)
        self._keep(key, row)
        return row

    def _keep(self, key: tuple[str, str], row: Any) -> None:
        if len(key[1]) > self.LONGEST:
            return
        self._kept[key] = row
        if len(self._kept) > self.MOST:
            del self._kept[next(iter(self._kept))]


_dumped = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":")
).encode  # as msgspec and the migrations write


def _decode_labels(type_: type, value: Any) -> Any:
    if type_ is Labels:
        return Labels(value)
    raise NotImplementedError(f"cannot decode a {type_.__name__}")


@lru_cache(maxsize=64)
def _decoder(row: type[Row]) -> msgspec.json.Decoder[Row]:
    return msgspec.json.Decoder(row, dec_hook=_decode_labels)
