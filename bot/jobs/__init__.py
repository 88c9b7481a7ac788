"""Background jobs: due commands, confirmed plans, watched launches, reminders, retention."""
