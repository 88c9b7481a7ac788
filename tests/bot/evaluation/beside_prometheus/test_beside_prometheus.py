"""The shipped rules and public rule files in a live Prometheus and in our rule loop: the same alerts at each moment."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import settings

from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.processes import find_program, free_port
from demo.parts.prometheus import PrometheusServer
from tests.bot.evaluation.beside_prometheus.followed import EVERY, Difference, Followed
from tests.bot.evaluation.beside_prometheus.played_page import PlayedPage
from tests.bot.evaluation.beside_prometheus.rule_set import SHARED, rule_files, series
from tests.bot.evaluation.beside_prometheus.severed_link import SeveredLink
from tests.support.examples import SOAK
from tests.support.routing import a_router
