"""Lines from Slack are restored as they were typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.slack.unescaping import unescape

# What Slack sends, and what was typed.
RESTORED = {
    "a plain line is unchanged": ("node cordon gpu-a04", "node cordon gpu-a04"),
    "a person becomes an id": ("owner is <@U0ANA00000|ana>", "owner is U0ANA00000"),
    "a person without a name too": ("owner is <@U0ANA00000>", "owner is U0ANA00000"),
    "a channel becomes an id": ("post <#C123|gpu-alerts>", "post C123"),
    "a group becomes an id": ("page <!subteam^S012|@sre>", "page S012"),
    "a host as a link": ("node show <http://gpu-a04.lab|gpu-a04.lab>", "node show gpu-a04.lab"),
    "a link that was typed": ("open <https://grafana/d/1>", "open https://grafana/d/1"),
    "a link with another text": ("open <https://a/|here>", "open https://a/"),
    "an address as a link": ("mail <mailto:ana@lab.org|ana@lab.org>", "mail ana@lab.org"),
    "entities": ("logs search a &amp;&amp; b &lt;c&gt;", "logs search a && b <c>"),
    "an entity that was typed is unchanged": ("say &amp;lt;", "say &lt;"),
    "smart quotes": ("silence add “a b” ‘c’", "silence add \"a b\" 'c'"),
    "a long dash before an option": ("node cordon x —reason y", "node cordon x --reason y"),
    "a short dash": ("node cordon x –reason y", "node cordon x --reason y"),
    "a long dash and a hyphen": ("node cordon x —-reason y", "node cordon x --reason y"),
    "the end of options": ("training launch — sh run.sh", "training launch -- sh run.sh"),
    "dashes within words are unchanged": ("a – b–c 1–2", "a -- b–c 1–2"),
    "odd and zero-width spaces": ("node\u00a0cordon\u3000x\u200b", "node cordon x"),
    "backticks around the line": ("`node cordon x`", "node cordon x"),
    "a code fence around the line": ("```node cordon x```", "node cordon x"),
    "backticks within are unchanged": ("run `a` and `b`", "run `a` and `b`"),
    "brackets that are not Slack's are unchanged": ("a <b> c", "a <b> c"),
    "an empty line": ("", ""),
}


@pytest.mark.parametrize(("received", "typed"), list(RESTORED.values()), ids=list(RESTORED))
def test_a_line_is_restored_as_it_was_typed(received: str, typed: str) -> None:
    assert unescape(received) == typed


@given(st.text())
def test_any_text_can_be_unescaped(text: str) -> None:
    line = unescape(text)
    assert line == line.strip()


@given(st.text("abcdef012 -./=:_\"'", max_size=40))
def test_plain_text_survives_slacks_escaping(typed: str) -> None:
    escaped = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert unescape(escaped) == typed.strip()
