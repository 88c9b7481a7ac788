"""From alerts and topology to incidents: folding, causes, history."""
