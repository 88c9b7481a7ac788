"""PagerDuty: incidents as events of its Events API, version 2."""
