"""``ordito --version``: what starting the program costs."""

from __future__ import annotations

from benchmarks.measure import ordito, python, run, verdict

MOST = 60
"""Milliseconds that ``ordito --version`` may take."""


def main() -> None:
    """Print the CPU time of ``ordito --version`` and of Python alone, the best of seven each."""
    bare = min(run([python(), "-c", "pass"]).cpu for _ in range(7))
    own = min(run(ordito("--version")).cpu for _ in range(7))
    print("start-up (user+system CPU, best of 7)")
    print(f"  python -c pass    {bare * 1000:7.1f} ms")
    print(f"  ordito --version  {own * 1000:7.1f} ms   {verdict('version', round(own * 1000, 1), MOST, 'ms')}")
