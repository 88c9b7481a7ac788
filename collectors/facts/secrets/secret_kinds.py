"""All patterns of secrets, by kind, in the order in which a text is searched for them."""

from collections.abc import Mapping, Sequence

from collectors.facts.secrets.command_lines import COMMAND_LINES
from collectors.facts.secrets.known_places import ADDRESSES, HEADERS, PRIVATE_KEYS
from collectors.facts.secrets.named_values import NAMED
from collectors.facts.secrets.secret_pattern import SecretPattern
from collectors.facts.secrets.secret_values import is_mixed
from collectors.facts.secrets.vendor_tokens import MIXED_TOKENS, TOKENS

PATTERNS: Mapping[str, Sequence[SecretPattern]] = {
    "private keys": PRIVATE_KEYS,
    "addresses": ADDRESSES,
    "headers": HEADERS,
    "tokens": (
        *(SecretPattern(one) for one in TOKENS),
        *(SecretPattern(one, is_mixed) for one in MIXED_TOKENS),
    ),
    "command lines": COMMAND_LINES,
    **NAMED,
}
