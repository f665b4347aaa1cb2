"""What the machine must have left before more work is taken."""

import shutil
import tempfile
from pathlib import Path

from visualproof_server.model.errors import VisualProofError, of_system

_RETRY_S = 15.0
# Bytes that must find room.
_PROBE = 1 << 16


class ResourceGuard:
    """Free memory and free disk (MB) under which uploads are refused; 0 asks for none."""

    def __init__(self, folder: Path, memory_mb: int, disk_mb: int) -> None:
        self._folder = folder
        self._memory_mb = memory_mb
        self._disk_mb = disk_mb

    def check(self) -> None:
        """Errors MEMORY_LOW, DISK_FULL."""
        free = available_memory_mb()
        if free is not None and free < self._memory_mb:
            raise VisualProofError(
                "MEMORY_LOW",
                f"{free} MB of memory are free; try again later.",
                retry_after_s=_RETRY_S,
            )
        self._check_writing()
        disk = shutil.disk_usage(self._folder).free // 10**6
        if disk < self._disk_mb:
            raise VisualProofError(
                "DISK_FULL", f"{disk} MB of disk are free; try again later.", retry_after_s=_RETRY_S
            )

    def _check_writing(self) -> None:
        """Writes and removes a little: a disk may be full to us, over a quota or read-only."""
        try:
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".probe-") as file:
                file.write(bytes(_PROBE))
        except OSError as error:
            raise of_system(error) or VisualProofError(
                "DISK_FULL", "The data folder cannot be written.", retry_after_s=_RETRY_S
            ) from None


def available_memory_mb() -> int | None:
    """What the kernel thinks can be given to new work, within this container (proc(5), cgroups(7));
    None where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = next((int(x.split()[1]) // 1024 for x in lines if x.startswith("MemAvailable")), None)
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return found
    if limit == "max" or found is None:
        return found
    return min(found, (int(limit) - used) // 1024**2)
