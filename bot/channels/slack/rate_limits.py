"""Slack's rate limits: one message per second and channel, 50 edits and reads per minute.

A burst and the calls of a minute together stay below the limit per minute.
Source: https://docs.slack.dev/apis/web-api/rate-limits
"""

from datetime import timedelta

from bot.delivery.rate_limiter import RateLimit, RateLimits

_TIER_3 = RateLimit(every=timedelta(seconds=1.4), burst=7)

SLACK_RATE_LIMITS = RateLimits(
    channel=RateLimit(every=timedelta(seconds=1.05)),
    methods={
        "post": RateLimit(every=timedelta(seconds=0.25), burst=20),
        "edit": _TIER_3,
        "find": _TIER_3,
        "delete": _TIER_3,
    },
)
