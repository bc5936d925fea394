"""What the models reach, measured: `python -m results` writes docs/results.md.

Benchmarks are about speed and stand in `benchmarks/`.
"""
