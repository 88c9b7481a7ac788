"""What cards and lines there should be, and the reason for each. Neutral views: any channel can render them."""
