"""A Slack look-alike over real HTTP and WebSocket, strict where Slack is strict, with a page in the browser."""

from demo.slack.gestures.desk import Gesture, NotPossibleError
from demo.slack.lookalike import SlackLookalike
from demo.slack.state.messages import Message
from demo.slack.state.people import Person
from demo.slack.state.workspace import DEFAULT_SUBSCRIPTIONS, Manners

__all__ = [
    "DEFAULT_SUBSCRIPTIONS",
    "Gesture",
    "Manners",
    "Message",
    "NotPossibleError",
    "Person",
    "SlackLookalike",
]
