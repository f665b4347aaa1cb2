"""Programs are bounded, and only those that a block started."""

import resource
import subprocess
import time

import psutil
from visualproof_server.reading.children import ProgramLimits, within

ENDLESS = (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY)


def test_only_what_the_block_starts_is_bounded_and_killed() -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        before = psutil.Process(other.pid).rlimit(resource.RLIMIT_AS)
        with within(ProgramLimits(1, 7, 900)):
            program = subprocess.Popen(["sleep", "60"])
            process = psutil.Process(program.pid)
            end = time.monotonic() + 10
            while process.rlimit(resource.RLIMIT_CPU) != (7, 8):
                assert time.monotonic() < end
                time.sleep(0.01)
            assert process.rlimit(resource.RLIMIT_AS) == (900 * 1024**2,) * 2
            program.wait(timeout=10)
        assert other.poll() is None
        assert psutil.Process(other.pid).rlimit(resource.RLIMIT_AS) == before
        assert psutil.Process(other.pid).rlimit(resource.RLIMIT_CPU) == ENDLESS
    finally:
        other.kill()
        other.wait()
