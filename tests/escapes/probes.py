"""Runs inside a sandbox, with the system's Python: tries to reach out, and prints what came of each try.

One line of JSON at the end: {name: "ok" | name of the error}. It needs nothing but the standard library. It refuses to
run where no arena was made for it, for some of these tries do harm when nothing stops them.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import socket
import stat
import struct
import sys

arena = json.loads(sys.argv[1])
OUT, WS, PID, FD, PORT = arena["outside"], arena["workspace"], arena["pid"], arena["fd"], arena["port"]
if os.readlink("/proc/self/ns/mnt") == arena["namespace"] and not arena["private"]:
    sys.exit("no arena: this would run in the machine's own mount namespace")

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
found = {}
IS_X86 = os.uname().machine == "x86_64"


def attempt(name, act):
    try:
        act()
        found[name] = "ok"
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno, str(error.errno))
    except Exception as error:
        found[name] = type(error).__name__


def in_child(name, act):
    """For what changes the process itself."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            attempt(name, act)
            os.write(write, found[name].encode())
        finally:
            os._exit(0)
    os.close(write)
    found[name] = os.read(read, 100).decode() or "died"
    os.close(read)
    os.waitpid(pid, 0)


def call(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def set_flags(path):
    handle = os.open(path, os.O_RDONLY)
    old = struct.unpack("i", fcntl.ioctl(handle, 0x80086601, b"\0" * 4))[0]
    fcntl.ioctl(handle, 0x40086602, struct.pack("i", old))


def out(name):
    return os.path.join(OUT, name)


def put(path, flags=os.O_WRONLY, **more):
    handle = os.open(path, flags, 0o644, **more)
    os.write(handle, b"changed")
    os.close(handle)


def read(path):
    with open(path, "rb") as file:
        if not file.read():
            raise OSError(errno.ENODATA, "")


def mount(source, target, kind, flags):
    if libc.mount(source, target, kind, ctypes.c_ulong(flags), None) < 0:
        raise OSError(ctypes.get_errno(), "")


def connect(address, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as end:
        end.connect(address)


NEW = os.O_CREAT | os.O_WRONLY

attempt("write: workspace", lambda: put(WS + "/new", NEW))
attempt("write: temp", lambda: put(os.environ["TMPDIR"] + "/new", NEW))
attempt("write: existing file", lambda: put(out("file")))
attempt("write: append", lambda: put(out("file"), os.O_WRONLY | os.O_APPEND))
attempt("write: truncate", lambda: os.truncate(out("file"), 0))
attempt("write: open to read with truncation", lambda: os.close(os.open(out("file"), os.O_RDONLY | os.O_TRUNC)))
attempt("write: new file", lambda: put(out("new"), NEW))
attempt("write: home", lambda: put(os.environ["HOME"] + "/new", NEW))
attempt("write: unnamed file", lambda: put(OUT, os.O_TMPFILE | os.O_WRONLY))
attempt("tree: mkdir", lambda: os.mkdir(out("folder2")))
attempt("tree: rmdir", lambda: os.rmdir(out("folder")))
attempt("tree: unlink", lambda: os.unlink(out("gone")))
attempt("tree: symlink", lambda: os.symlink("x", out("link")))
attempt("tree: fifo", lambda: os.mkfifo(out("fifo2")))
attempt("tree: rename", lambda: os.rename(out("gone"), out("gone2")))
attempt("tree: rename in", lambda: os.rename(out("gone"), WS + "/gone"))
attempt("tree: rename out", lambda: os.rename(WS + "/mine", out("mine")))
attempt("tree: link in", lambda: os.link(out("file"), WS + "/linked"))
attempt("tree: link out", lambda: os.link(WS + "/mine", out("mine")))
attempt("way: symlink to a file", lambda: put(WS + "/to-file"))
attempt("way: symlink to a folder", lambda: put(WS + "/to-outside/new", NEW))
attempt("way: /proc/self/root", lambda: put("/proc/self/root" + out("file")))
attempt("way: /proc/PID/root", lambda: put(f"/proc/{PID}/root" + out("file")))
attempt("way: /proc/PID/cwd", lambda: put(f"/proc/{PID}/cwd/file"))
attempt("way: /proc/PID/fd", lambda: put(f"/proc/{PID}/fd/{FD}"))
attempt("way: hard link made before", lambda: put(WS + "/hard"))
attempt("way: fifo outside", lambda: put(out("fifo"), os.O_WRONLY | os.O_NONBLOCK))
attempt("meta: mode", lambda: os.chmod(out("meta"), 0o600))
attempt("meta: times", lambda: os.utime(out("meta"), (1, 1)))
attempt("meta: attribute", lambda: os.setxattr(out("meta"), "user.x", b"1"))
attempt("meta: owner", lambda: os.chown(out("meta"), os.getuid(), os.getgid()))
attempt("meta: flags", lambda: set_flags(out("meta")))
attempt("write: inherited descriptor", lambda: os.write(FD, b"changed"))
attempt("write: shared memory", lambda: put(f"/dev/shm/placet-{os.getpid()}", NEW))
attempt("device: disk", lambda: os.close(os.open("/dev/vda", os.O_RDWR)))
attempt("device: control group", lambda: put("/sys/fs/cgroup/cgroup.procs", os.O_WRONLY))
attempt("device: node", lambda: os.mknod(WS + "/node", stat.S_IFCHR | 0o600, os.makedev(1, 5)))
attempt("device: kernel log", lambda: os.close(os.open("/dev/kmsg", os.O_WRONLY)))
attempt("device: core pattern", lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))
attempt("device: sysfs", lambda: os.close(os.open("/sys/kernel/mm/transparent_hugepage/enabled", os.O_WRONLY)))
attempt("device: terminal", lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
attempt("device: pseudo terminals", lambda: os.close(os.open(arena["terminal"], os.O_RDWR)))
attempt("device: what is typed in a terminal", lambda: os.close(os.open(arena["terminal"], os.O_RDONLY | os.O_NOCTTY)))
attempt("device: what is on the disk", lambda: os.close(os.open("/dev/vda", os.O_RDONLY)))
in_child("mount: writable root", lambda: mount(None, b"/", None, 32 | 4096))
in_child("mount: bind", lambda: mount(OUT.encode(), (WS + "/sub").encode(), None, 4096))
in_child("mount: umount", lambda: call(166 if IS_X86 else 39, b"/mnt", 2))
in_child("mount: new namespace", lambda: call(272 if IS_X86 else 97, 0x10000000 | 0x20000))
in_child("mount: open_tree", lambda: call(428, -100, OUT.encode(), 1))
in_child("mount: enter namespace", lambda: call(308 if IS_X86 else 268, os.open(f"/proc/{PID}/ns/mnt", os.O_RDONLY), 0))
attempt("process: signal", lambda: os.kill(PID, 0))
attempt("process: limit", lambda: resource.prlimit(PID, resource.RLIMIT_CORE, (0, 0)))
attempt("process: trace", lambda: call(101 if IS_X86 else 117, 0x4206, PID, None, None))
attempt("process: memory", lambda: os.close(os.open(f"/proc/{PID}/mem", os.O_RDWR)))
attempt("process: environment", lambda: read(f"/proc/{PID}/environ"))
attempt("process: take a descriptor", lambda: call(438, os.pidfd_open(PID), FD, 0))
attempt("server: environment", lambda: read(f"/proc/{arena['server']}/environ"))
attempt("server: signal", lambda: os.kill(arena["server"], 0))
attempt("server: limit", lambda: resource.prlimit(arena["server"], resource.RLIMIT_CORE, (0, 0)))
attempt("socket: pathname", lambda: connect(out("socket")))
attempt("socket: abstract", lambda: connect("\0" + arena["abstract"]))
attempt("socket: /run", lambda: connect("/run/placet-test.socket"))
attempt(
    "socket: datagram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", out("box"))
)
attempt("socket: in the temp directory", lambda: connect("/tmp/placet-arena.socket"))
attempt(
    "socket: datagram to loopback",
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.1", PORT)),
)
attempt("socket: stream pair", lambda: socket.socketpair())
attempt("socket: loopback", lambda: socket.create_connection(("127.0.0.1", PORT), 2).close())
attempt("process: priority", lambda: os.setpriority(os.PRIO_PROCESS, arena["server"], 19))
attempt("process: limits", lambda: call(302 if IS_X86 else 261, arena["server"], 7, struct.pack("QQ", 64, 64), None))
attempt("process: memory of the machine", lambda: call(30 if IS_X86 else 196, arena["segment"], None, 0))
attempt(
    "server: lock its file",
    lambda: fcntl.flock(os.open(arena["state"] + "/placet.db", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB),
)
attempt("kernel: io_uring", lambda: call(425, 2, None))
attempt("kernel: bpf", lambda: call(321 if IS_X86 else 280, 0, struct.pack("IIIII", 2, 4, 4, 1, 0) + b"\0" * 44, 64))
attempt("kernel: key ring", lambda: call(250 if IS_X86 else 219, 0, -3, 0))
attempt("kernel: terminal injection", lambda: fcntl.ioctl(0, 0x5412, b"x"))
attempt("kernel: set host name", lambda: call(170 if IS_X86 else 161, b"x", 1))


def by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + b"\0" * 128, 136)
    call(303 if IS_X86 else 264, -100, out("file").encode(), handle, ctypes.byref(ctypes.c_int()), 0)
    os.write(call(304 if IS_X86 else 265, os.open(WS, os.O_RDONLY), handle, os.O_WRONLY), b"changed")


attempt("kernel: open by handle", by_handle)
attempt("secret: state directory", lambda: os.stat(arena["state"] + "/placet.db"))
attempt("secret: key of the person", lambda: read(os.environ["HOME"] + "/.ssh/id_test"))
print(json.dumps(found))
