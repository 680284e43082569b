"""How a finished command reads: the text for the model, the value for programs."""

from __future__ import annotations

from typing import Any

from placet.sandbox.execution.output import SPILL, Captured
from placet.sandbox.process import Facts, Run


def rendered(run: Run, *, timeout_ms: float, offers: bool) -> str:
    """Return output and markers in their fixed order (C4); `offers` says that a wider mode can be asked for."""
    parts = [run.stdout.text.rstrip("\n"), *_spilled("stdout", run.stdout)] if run.stdout.text else []
    if run.stderr.text:
        parts += ["[stderr]\n" + run.stderr.text.rstrip("\n"), *_spilled("stderr", run.stderr)]
    if not parts:
        parts.append("(no output)")
    return "\n".join([*parts, *markers(run, timeout_ms=timeout_ms, offers=offers)])


def _spilled(name: str, captured: Captured) -> list[str]:
    """Return the line that says where the dropped part is, if output was dropped (C7)."""
    if not captured.truncated:
        return []
    if captured.spill_path is None:
        return [f"[{name}: what was dropped was not kept]"]
    much = f"the first {SPILL >> 20} MiB" if captured.spill_truncated else "the whole"
    return [f"[{name}: read_file reads {much} of it, by lines, from {captured.spill_path}]"]


def markers(run: Run, *, timeout_ms: float, offers: bool) -> list[str]:
    """Return the marker lines: denial, hint, time-out, a bound that was passed, and last how it ended."""
    lines = []
    if run.sandbox.denied:
        lines.append(f"[sandbox: file access denied under {run.sandbox.mode} mode]")
        lines.append(HINT if offers else FINAL)
    if run.timed_out:
        lines.append(f"[timed out after {timeout_ms:g}ms]")
    if run.exceeded is not None:
        lines.append(f"[ended by placet: {run.exceeded}]")
    if run.signal is not None:
        lines.append(f"[killed by signal: {run.signal}]")
    elif run.exit_code is not None:
        lines.append(f"[exit code: {run.exit_code}]")
    return lines


HINT = (
    "[sandbox: you may ask once: send this exact command again now, with sandbox_permissions set to the narrowest wider"
    " mode that suffices and a one-sentence justification; a person is asked to allow it]"
)
FINAL = "[sandbox: nobody can be asked for more access here, so this denial is final]"


def value(run: Run, *, timeout_ms: float) -> dict[str, Any]:
    """Return the canonical value of a foreground run."""
    return {
        "kind": "foreground",
        "exitCode": run.exit_code,
        "signal": run.signal,
        "timedOut": run.timed_out,
        "aborted": run.aborted,
        "timeoutMs": timeout_ms,
        "stdout": _stream(run.stdout),
        "stderr": _stream(run.stderr),
        "sandbox": _facts(run.sandbox),
    }


def _stream(captured: Captured) -> dict[str, Any]:
    told: dict[str, Any] = {"text": captured.text, "truncated": captured.truncated}
    if captured.dropped_bytes:
        told["droppedBytes"] = captured.dropped_bytes
    if captured.replaced_bytes:
        told["replacedBytes"] = captured.replaced_bytes
    if captured.spill_path is not None:
        told["spillPath"] = str(captured.spill_path)
    return told


def _facts(facts: Facts) -> dict[str, Any]:
    told: dict[str, Any] = {"mode": facts.mode.value, "denied": facts.denied}
    if facts.path is not None:
        told["path"] = facts.path
    if facts.enforcement is not None:
        told["enforcement"] = facts.enforcement.value
    if facts.runner_failed is not None:
        told["runnerFailed"] = facts.runner_failed
    return told
