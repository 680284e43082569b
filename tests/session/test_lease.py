"""Who holds a lease, and whether that process lives."""

from __future__ import annotations

import os
import subprocess
import sys

from placet.session.lease import alive, holder


def test_this_process_is_alive_under_its_own_name() -> None:
    assert holder() == holder()
    assert alive(holder())
    assert holder().startswith(f"{os.getpid()}:")


def test_another_start_time_or_boot_is_another_process() -> None:
    pid, start, boot = holder().split(":", 2)
    assert not alive(f"{pid}:{int(start) + 1}:{boot}")
    assert not alive(f"{pid}:{start}:another-boot")


def test_a_holder_nobody_can_read_is_dead() -> None:
    for text in ("", "nonsense", "1", "::", "-1:2:3", "١:1:1"):
        assert not alive(text)


def test_a_process_that_was_killed_is_dead_even_before_it_was_waited_for() -> None:
    code = "from placet.session.lease import holder; print(holder(), flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment()
    )
    with child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert name.startswith(f"{child.pid}:") and alive(name)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not alive(name)  # a zombie
    assert not alive(name)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
