"""Gates between a plan and its steps: pure judgements, each with a reason that people are shown."""
