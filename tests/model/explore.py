"""Breadth-first exploration of every reachable state of a model, with shortest traces and a fair-liveness check."""
# ruff: noqa: E501, RUF012 - one move per line, budgets as keywords: the file is read like a table
from __future__ import annotations

import argparse
import sys
import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One atomic move. `fair` steps happen sooner or later if they stay possible; the others (faults, whims) need not."""

    label: str
    state: Any
    fair: bool = True


class Model:
    """What a model must provide. `fixes` names the rules of the design that can be switched off one by one."""

    title = ""
    fixes: tuple[str, ...] = ()
    scenarios: dict[str, dict[str, Any]] = {"default": {}}
    shown_by: dict[str, str] = {}                        # for --needed: the scenario that shows best why a fix is needed
    witnesses: dict[str, Callable[[Any], bool]] = {}     # things that must be reachable in some scenario: a model that does nothing is no proof

    def __init__(self, on: Iterable[str], **budget: Any) -> None:
        self.on = frozenset(on)
        for name in self.fixes:
            setattr(self, name, name in self.on)
        for name, value in budget.items():
            setattr(self, name, value)

    def initial(self) -> Any: raise NotImplementedError
    def steps(self, s: Any) -> list[Step]: raise NotImplementedError
    def broken(self, s: Any) -> list[str]: raise NotImplementedError
    def goal(self, s: Any) -> bool: raise NotImplementedError


@dataclass
class Report:
    states: int = 0
    moves: int = 0
    seconds: float = 0.0
    complete: bool = True
    violations: dict[str, list[str]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


def explore(model: Model, *, first: bool = False, limit: int = 3_000_000, seconds: float = 55.0) -> Report:
    """Visit every state; for each broken invariant keep the shortest trace; then look for states with no fair way to the goal."""
    began = time.monotonic()
    start = model.initial()
    ids = {start: 0}
    states = [start]
    parent, label = array("i", [-1]), [""]
    src, dst = array("i"), array("i")
    report = Report()

    def trace(i: int) -> list[str]:
        out = []
        while i > 0:
            out.append(label[i])
            i = parent[i]
        return out[::-1]

    at = 0
    hoped = dict(model.witnesses)
    while at < len(states):
        s = states[at]
        for name in model.broken(s):
            report.violations.setdefault(name, trace(at))
        if report.violations and first:
            break
        for name in [n for n, test in hoped.items() if test(s)]:
            report.seen.add(name)
            del hoped[name]
        for step in model.steps(s):
            report.moves += 1
            j = ids.get(step.state)
            if j is None:
                j = ids[step.state] = len(states)
                states.append(step.state)
                parent.append(at)
                label.append(step.label)
            if step.fair and j != at:
                src.append(at)
                dst.append(j)
        at += 1
        if at % 4096 == 0 and (len(states) > limit or time.monotonic() - began > seconds):
            report.complete = False
            break
    if report.complete and not (first and report.violations):
        stuck = _stuck(model, states, src, dst)
        if stuck >= 0:
            report.violations["LIVENESS: a fair run never reaches the goal"] = [*trace(stuck), f"... stuck for good: {_short(states[stuck])}"]
    report.states, report.seconds = len(states), time.monotonic() - began
    return report


def _stuck(model: Model, states: list[Any], src: array[int], dst: array[int]) -> int:
    """The first state from which fair steps alone cannot reach the goal (in a finite graph: a strongly fair run misses it), or -1."""
    n = len(states)
    count = array("i", bytes(4 * (n + 1)))
    for d in dst:
        count[d + 1] += 1
    for i in range(n):
        count[i + 1] += count[i]
    fill, back = array("i", count), array("i", bytes(4 * len(dst)))
    for a, d in zip(src, dst, strict=False):
        back[fill[d]] = a
        fill[d] += 1
    good = bytearray(n)
    todo = [i for i, s in enumerate(states) if model.goal(s)]
    for i in todo:
        good[i] = 1
    while todo:
        d = todo.pop()
        for k in range(count[d], count[d + 1]):
            if not good[back[k]]:
                good[back[k]] = 1
                todo.append(back[k])
    return good.find(0)


def _short(s: Any) -> str:
    fields = getattr(s, "_fields", ())
    return " ".join(f"{k}={v}" for k, v in zip(fields, s, strict=False) if v not in (None, False, 0, "no")) if fields else str(s)


def show(title: str, report: Report, verbose: bool, limit: bool = False) -> None:
    verdict = "LIMIT SHOWN (expected)" if limit and report.violations else "VIOLATED" if report.violations else "PASS" if report.complete else "PASS (bounded: not all states visited)"
    print(f"{title}: {verdict}  {report.states} states, {report.moves} moves, {report.seconds:.1f} s")
    for name, steps in report.violations.items():
        print(f"   ! {name}  ({len(steps)} steps)")
        if verbose:
            for k, text in enumerate(steps, 1):
                print(f"      {k:2}. {text}")
    sys.stdout.flush()


def main(kind: type[Model], argv: list[str] | None = None) -> int:
    """No option: the design as it should be must pass (a scenario called limit shows what no rule can prevent). --as-written: no fix. --without FIX: all but one. --needed: each in turn."""
    cli = argparse.ArgumentParser(description=(sys.modules[kind.__module__].__doc__ or "").splitlines()[0])
    cli.add_argument("--as-written", action="store_true", help="switch every fix off; show each violation with its shortest trace")
    cli.add_argument("--without", action="append", default=[], choices=kind.fixes, metavar="FIX", help=f"one of {', '.join(kind.fixes)}")
    cli.add_argument("--needed", action="store_true", help="for each fix: all others on, this one off, expect a violation")
    cli.add_argument("--scenario", choices=list(kind.scenarios))
    cli.add_argument("--quiet", action="store_true", help="no traces")
    args = cli.parse_args(argv)
    chosen = {k: v for k, v in kind.scenarios.items() if args.scenario in (None, k)}
    bad = 0
    if args.needed:
        for fix in kind.fixes:
            for name, budget in sorted(chosen.items(), key=lambda kv: kv[0] != kind.shown_by.get(fix)):
                if budget.get("limit"):
                    continue
                report = explore(kind(set(kind.fixes) - {fix}, **budget), first=True, seconds=40)
                if report.violations:
                    show(f"without {fix} [{name}]", report, not args.quiet)
                    break
            else:
                bad += 1
                print(f"without {fix}: no violation found in any scenario")
        return 1 if bad else 0
    seen: set[str] = set()
    on = set() if args.as_written else set(kind.fixes) - set(args.without)
    for name, budget in chosen.items():
        report = explore(kind(on, **budget))
        limit = bool(budget.get("limit"))
        show(f"{kind.title} [{name}]", report, not args.quiet, limit)
        bad += bool(report.violations) != limit or not report.complete
        seen |= report.seen
    if not (args.as_written or args.without or args.scenario):
        for name in kind.witnesses.keys() - seen:
            bad += 1
            print(f"{kind.title}: NEVER REACHED: {name}")
    return 1 if bad else 0
