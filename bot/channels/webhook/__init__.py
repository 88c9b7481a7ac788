"""Outgoing webhooks: incidents as Alertmanager's webhook receivers read them."""
