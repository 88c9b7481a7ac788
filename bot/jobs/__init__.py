"""Jobs that run by themselves: due commands, confirmed plans, watched launches, reminders, retention."""
