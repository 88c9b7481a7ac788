"""Rows as JSON documents, including Labels, floats that JSON does not have, and sentences.

A sentence is its English where it stands, for programs that know no more; its template and arguments are beside the
row's own fields. A row of a program that did not store them has plain English.
"""

import json
from functools import lru_cache
from math import isfinite
from typing import Any

import msgspec

from alerts.store import Row, TableDefinition
from bot.store.stored_sentences import sentences_of, stored_sentence
from collectors.facts.labels import Labels
from collectors.facts.sentences import Sentence
from collectors.facts.sentences_within import restored

_NAME = "$sentences"  # no field of a row can be called so
_KEY = f'"{_NAME}"'


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
        document = json.dumps(msgspec.to_builtins(row, enc_hook=hook), ensure_ascii=False)
    return f"{document[:-1]},{_KEY}:{json.dumps(said, ensure_ascii=False)}}}" if said else document


def decode(table: TableDefinition[Row], document: str) -> Row:
    """Return the row of a document. Raises msgspec.ValidationError if it is not a row of this table."""
    try:
        row: Row = _decoder(table.row).decode(document)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # NaN or an infinity
        row = msgspec.convert(json.loads(document), type=table.row, dec_hook=_decode_labels)
    if _KEY in document and (said := sentences_of(json.loads(document).get(_NAME))):
        row = restored(row, said)
    return row


def _decode_labels(type_: type, value: Any) -> Any:
    if type_ is Labels:
        return Labels(value)
    raise NotImplementedError(f"cannot decode a {type_.__name__}")


@lru_cache(maxsize=64)
def _decoder(row: type[Row]) -> msgspec.json.Decoder[Row]:
    return msgspec.json.Decoder(row, dec_hook=_decode_labels)
