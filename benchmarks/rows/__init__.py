"""One file for each row of the score-card that is measured here."""
