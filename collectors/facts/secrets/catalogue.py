"""All patterns of secrets, by kind, in the order in which a text is searched for them."""

from collections.abc import Mapping, Sequence

from collectors.facts.secrets.commands import COMMANDS
from collectors.facts.secrets.named_values import NAMED
from collectors.facts.secrets.pattern import SecretPattern
from collectors.facts.secrets.places import ADDRESSES, HEADERS, PRIVATE_KEYS
from collectors.facts.secrets.tokens import MIXED_TOKENS, TOKENS
from collectors.facts.secrets.values import is_mixed

PATTERNS: Mapping[str, Sequence[SecretPattern]] = {
    "private keys": PRIVATE_KEYS,
    "addresses": ADDRESSES,
    "headers": HEADERS,
    "tokens": (
        *(SecretPattern(one) for one in TOKENS),
        *(SecretPattern(one, is_mixed) for one in MIXED_TOKENS),
    ),
    "command lines": COMMANDS,
    **NAMED,
}
