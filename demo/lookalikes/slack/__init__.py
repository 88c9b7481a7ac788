"""A Slack look-alike over real HTTP and WebSocket, strict where Slack is strict, with a web page."""

from demo.lookalikes.slack.interactions.interaction import Interaction, NotPossibleError
from demo.lookalikes.slack.lookalike import SlackLookalike
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Person
from demo.lookalikes.slack.state.workspace import DEFAULT_SUBSCRIPTIONS, Options

__all__ = [
    "DEFAULT_SUBSCRIPTIONS",
    "Interaction",
    "Message",
    "NotPossibleError",
    "Options",
    "Person",
    "SlackLookalike",
]
