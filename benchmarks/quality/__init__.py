"""The quality of our decisions on public data sets, beside a simple baseline each: `python -m benchmarks.quality`."""
