"""What a worker may still do once it is set up: read programs, and write its own folders.

Landlock (linux/landlock.h, ABI 1 to 7) bounds the files, a seccomp filter (linux/seccomp.h) the
system calls; both hold for all that the worker starts and cannot be undone. Called by ctypes: glibc
has no wrappers, and neither layer needs privileges. Around them is bubblewrap (workers.bubblewrap).
"""

import ctypes
import ctypes.util
import errno
import os
import platform
import struct
import sys
import sysconfig
from pathlib import Path

# Calls that no page needs; setsid and setpgid would leave the group that is killed.
# System call numbers: asm/unistd_64.h, asm-generic/unistd.h.
_CALLS: dict[str, dict[str, int]] = {
    "x86_64": {
        "socket": 41, "ptrace": 101, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
        "reboot": 169, "kexec_load": 246, "init_module": 175, "finit_module": 313,
        "delete_module": 176, "unshare": 272, "setns": 308, "perf_event_open": 298, "bpf": 321,
        "keyctl": 250, "add_key": 248, "request_key": 249, "process_vm_readv": 310,
        "process_vm_writev": 311, "userfaultfd": 323, "io_uring_setup": 425, "open_by_handle_at": 304,
        "seccomp": 317, "setsid": 112, "setpgid": 109,
        "shmget": 29, "shmat": 30, "shmctl": 31, "shmdt": 67, "semget": 64, "semop": 65, "semctl": 66,
        "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240,
        "memfd_create": 319, "execveat": 322, "name_to_handle_at": 303, "kcmp": 312,
        "fanotify_init": 300, "kexec_file_load": 320, "syslog": 103, "acct": 163, "swapon": 167,
        "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "quotactl": 179,
    },
    "aarch64": {
        "socket": 198, "ptrace": 117, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
        "reboot": 142, "kexec_load": 104, "init_module": 105, "finit_module": 273,
        "delete_module": 106, "unshare": 97, "setns": 268, "perf_event_open": 241, "bpf": 280,
        "keyctl": 219, "add_key": 217, "request_key": 218, "process_vm_readv": 270,
        "process_vm_writev": 271, "userfaultfd": 282, "io_uring_setup": 425, "open_by_handle_at": 265,
        "seccomp": 277, "setsid": 157, "setpgid": 154,
        "shmget": 194, "shmat": 196, "shmctl": 195, "shmdt": 197, "semget": 190, "semop": 193,
        "semctl": 191, "semtimedop": 192, "msgget": 186, "msgsnd": 189, "msgrcv": 188, "msgctl": 187,
        "mq_open": 180, "memfd_create": 279, "execveat": 281, "name_to_handle_at": 264, "kcmp": 272,
        "fanotify_init": 262, "kexec_file_load": 294, "syslog": 116, "acct": 89, "swapon": 224,
        "sethostname": 161, "setdomainname": 162, "quotactl": 60,
    },
}  # fmt: skip
# These have one number everywhere: newer ways to mount, to take others' files, and to run memory.
_EVERYWHERE = {
    "pidfd_open": 434, "pidfd_getfd": 438, "open_tree": 428, "move_mount": 429, "fsopen": 430,
    "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "io_uring_enter": 426,
    "io_uring_register": 427, "memfd_secret": 447, "process_madvise": 440, "open_tree_attr": 467,
}  # fmt: skip
_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
# Flags of clone(2) that make a namespace: of mounts, cgroups, names, IPC, users, processes, network.
_NAMESPACES = (
    0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
)
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE, _TRUNCATE, _IOCTL = 1 << 1, 1 << 14, 1 << 15
# Access rights to files by ABI: 1 has 13, 2 adds REFER, 3 TRUNCATE, 5 IOCTL_DEV.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_ALL_TCP = 0b11
# Where programs, libraries, fonts and Tesseract's data are; nothing of /etc but what they need.
_PROGRAMS = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc/ld.so.cache", "/etc/fonts",
    "/etc/alternatives", "/etc/localtime", "/proc/self", "/proc/meminfo", "/proc/cpuinfo",
    "/sys/devices/system/cpu",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


class Unavailable(Exception):
    """A layer that this kernel or machine does not have."""


def confine(own: Path, seen: Path) -> list[str]:
    """Takes what can be taken for this process and its children, and says which layers hold.

    own is the folder that it may write, seen the one that it may read; all others can be read only
    where programs are.
    """
    layers = []
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        layers.append("no_new_privs")
    for name, layer in (("landlock", _landlock), ("seccomp", _seccomp)):
        try:
            layer(libc, own, seen)
            layers.append(name)
        except Unavailable:
            continue
    return layers


def _landlock(libc: ctypes.CDLL, own: Path, seen: Path) -> None:
    abi = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if abi < 1:
        raise Unavailable("landlock")
    rights = _RIGHTS[max(known for known in _RIGHTS if known <= abi)]
    # struct landlock_ruleset_attr: handled_access_fs, handled_access_net (from ABI 4), scoped.
    # From ABI 6, scoped: no signals and no abstract sockets to what is outside.
    attributes = struct.pack("QQQ", rights, _ALL_TCP, 0b11)[
        : 24 if abi >= 6 else 16 if abi >= 4 else 8
    ]
    ruleset = libc.syscall(
        _LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    )
    if ruleset < 0:
        raise Unavailable("landlock")
    try:
        reading = _EXECUTE | _READ_FILE | _READ_DIR
        for path in [*_PROGRAMS, *_python()]:
            _allow(libc, ruleset, Path(path), reading & rights)
        for device in _DEVICES:
            _allow(libc, ruleset, Path(device), (_READ_FILE | _WRITE_FILE | _IOCTL) & rights)
        # What is seen may be the store's own files, by another name: not even appended to.
        _allow(libc, ruleset, seen, (_READ_FILE | _READ_DIR) & rights)
        # All but making devices and sockets, and running what was written there.
        _allow(libc, ruleset, own, rights & ~(_EXECUTE | 1 << 6 | 1 << 9 | 1 << 11 | _IOCTL))
        if libc.syscall(_LANDLOCK_RESTRICT, ruleset, ctypes.c_uint32(0)) != 0:
            raise Unavailable("landlock")
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not path.is_dir():
            rights &= _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL
        # struct landlock_path_beneath_attr, packed: allowed_access, parent_fd.
        rule = struct.pack("=Qi", rights, handle)
        if libc.syscall(_LANDLOCK_ADD, ruleset, 1, rule, ctypes.c_uint32(0)) != 0:
            raise Unavailable("landlock")
    finally:
        os.close(handle)


def _python() -> list[str]:
    """Where this Python, its packages and the commands are, also those of a checkout."""
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
    commands = os.environ.get("PATH", "").split(os.pathsep)
    # An installation from a checkout is on no path: a finder knows where it is.
    own = str(Path(__file__).parents[1])
    return sorted({own, *places, *(p for p in [*sys.path, *commands] if p)})


def _seccomp(libc: ctypes.CDLL, own: Path, seen: Path) -> None:
    machine = platform.machine()
    if machine not in _CALLS:
        raise Unavailable("seccomp")
    denied = sorted([*_CALLS[machine].values(), *_EVERYWHERE.values()])
    # struct sock_filter {u16 code; u8 jt; u8 jf; u32 k}: load, compare, return.
    load, equal, at_least, some_of, back = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, deny, kill = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
    # Its flags lie in memory, where a filter cannot look; glibc then takes clone.
    unknown = 0x00050000 | errno.ENOSYS
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, _AUDIT_ARCH[machine]),
        (back, 0, 0, kill),
        (load, 0, 0, 0),
    ]
    if machine == "x86_64":
        # x32 calls have numbers of their own: none is made here.
        program += [(at_least, 0, 1, 0x40000000), (back, 0, 0, kill)]
    # After them come five steps, then the denial.
    for at, number in enumerate(denied):
        program.append((equal, len(denied) - at + 4, 0, number))
    program += [
        (equal, 5, 0, _CLONE3),
        (equal, 0, 2, _CLONE[machine]),
        # The low half of the first argument (struct seccomp_data).
        (load, 0, 0, 16),
        (some_of, 1, 0, _NAMESPACES),
        (back, 0, 0, allow),
        (back, 0, 0, deny),
        (back, 0, 0, unknown),
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code)
    # struct sock_fprog {u16 len; sock_filter *filter}.
    filters = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(program), ctypes.addressof(buffer))
    )
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, filters, 0, 0) != 0:
        raise Unavailable("seccomp")
