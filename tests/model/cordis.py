"""Cordis: one plugin with two packages, two pages, consent, decline, stop, undefine, crashes, verdicts, outcome messages.

Both packages have both halves. An attempt is a run number. `st` is the status of the newest attempt as the log gives it, `active` the run
whose host half the log holds to be alive, `hosts` the processes that really live. An update keeps the old run alive until its own start.
"""
# ruff: noqa: E501, RUF012, C408 - one move per line, budgets as keywords: the file is read like a table
from __future__ import annotations

from typing import NamedTuple

from .explore import Model, Step, main

FLIGHT = ("open", "consented", "starting", "client")
FINAL = ("rejected", "failed", "cancelled", "stopped")


class P(NamedTuple):
    """A page: the card that it shows, its click on the way, code that it fetched, code that it runs, its verdict on the way."""

    card: int = 0
    click: str = ""
    click_run: int = 0
    fetched: int = 0
    runs: int = 0
    verdict: str = ""
    verdict_run: int = 0
    drives: int = 0                      # the page whose consent won: as written it drives the start and the load


class S(NamedTuple):
    # the log
    run: int = 0                         # newest attempt
    pkg: int = 0
    st: str = ""
    cur: int = 0
    nxt: int = 0
    active: int = 0
    active_pkg: int = 0
    consents: frozenset = frozenset()    # packages
    future: bool = False
    allowed: frozenset = frozenset()     # runs that had consent when they were accepted or answered
    declined: frozenset = frozenset()    # runs recorded as declined or cancelled
    removed: bool = False
    never: bool = False                  # approval policy
    out: tuple = ()                      # per run the outcome message: "", owed, inbox, claimed, told, twice, lost
    # the world
    hosts: frozenset = frozenset()
    spawning: int = 0                    # the start of this run is on its way to the spawn
    slot: str = ""                       # an operation that takes more than one move: undefine, or (as written) a stop and what it saw
    up: bool = True
    pages: tuple = (P(), P())
    sin: str = ""
    crashed: int = 0                     # the attempt that was under way when the server died
    crash: int = 0
    hostcrash: int = 0
    reload: int = 0
    stop: int = 0
    undef: int = 0
    abort: int = 0
    knob: int = 0
    clicks: int = 0
    loads: int = 0


class Cordis(Model):
    title = "cordis"
    fixes = ("one_cas", "attempt_checked", "settle_on_restart", "server_drives", "any_page_loads", "host_death_settles", "drop_stale",
             "undefine_takes_slot", "outcome_with_settle", "claim_with_message", "abort_keeps_outcomes")
    scenarios = {
        "races": dict(runs=1, stop=1, undef=1, clicks=2, loads=1, telling=True),
        "stop": dict(runs=2, stop=1, clicks=1),
        "undefine": dict(runs=2, undef=1),
        "crash": dict(runs=1, crash=2, clicks=1, telling=True),
        "crash2": dict(runs=2, crash=1),
        "hosts": dict(runs=1, hostcrash=1, reload=1, stop=1, loads=1),
        "messages": dict(runs=1, crash=1, abort=1, stop=1, telling=True),
        "policy": dict(runs=2, knob=1),
    }
    shown_by = {"settle_on_restart": "crash", "server_drives": "hosts", "any_page_loads": "hosts", "host_death_settles": "hosts",
                "drop_stale": "hosts", "outcome_with_settle": "messages", "claim_with_message": "messages", "abort_keeps_outcomes": "messages"}
    runs = 2
    clicks = loads = 0                   # how often the second page clicks, and loads a run that is running already
    telling = False                      # follow the outcome messages to the agent; else they count as told at once
    crash = hostcrash = reload = stop = undef = abort = knob = 0

    def initial(self) -> S:
        return S(out=("",) * (self.runs + 1), crash=self.crash, hostcrash=self.hostcrash, reload=self.reload, stop=self.stop,
                 undef=self.undef, abort=self.abort, knob=self.knob, clicks=self.clicks, loads=self.loads)

    @staticmethod
    def page(s: S, i: int, **change: object) -> S:
        pages = list(s.pages)
        pages[i] = pages[i]._replace(**change)
        return s._replace(pages=tuple(pages))

    @staticmethod
    def message(s: S, run: int, state: str) -> S:
        out = list(s.out)
        out[run] = state
        return s._replace(out=tuple(out))

    def settle(self, s: S, st: str) -> S:
        """cordis/settled (or declined, stopped) of the newest attempt, and the outcome message that the agent is owed for it."""
        owes = s.st in FLIGHT
        s = s._replace(st=st)
        if st in ("rejected", "cancelled"):
            s = s._replace(declined=s.declined | {s.run})
        if not self.telling:
            return self.message(s, s.run, "told") if owes else s
        return self.message(s, s.run, "inbox" if self.outcome_with_settle else "owed") if owes else s

    def retract(self, s: S, run: int) -> S:
        """Kill the host half of `run` and tell the pages. A page that has only fetched the code has nothing to unload yet."""
        pages = tuple(p._replace(runs=0) if p.runs == run else p for p in s.pages)
        gone = s._replace(hosts=s.hosts - {run}, pages=pages)
        return gone._replace(active=0, active_pkg=0) if s.active == run else gone

    # ---- the server -----------------------------------------------------------------------------------------------------------

    def server(self, s: S) -> list[Step]:
        moves: list[Step] = []
        run, st = s.run, s.st
        if st == "consented" and not (s.slot == "undefine" and self.undefine_takes_slot) and not s.removed:
            driver = next((i for i, p in enumerate(s.pages) if p.drives == run), None)
            if self.server_drives or driver is not None:
                t = self.retract(s, s.active) if s.active else s
                if s.crashed == run:
                    t = t._replace(sin="a run started by itself after a restart")
                moves.append(Step(f"server appends cordis/started run-{run}, old run retracted", t._replace(st="starting", spawning=run)))
        if s.spawning:
            ok = st == "starting" and s.spawning == run and not s.removed
            if ok or not self.attempt_checked:
                moves.append(Step(f"server spawns the host half of run-{s.spawning}", s._replace(hosts=s.hosts | {s.spawning}, spawning=0)))
                if ok:
                    moves.append(Step(f"host half of run-{run} fails to start", self.settle(s._replace(spawning=0), "failed"), False))
            else:
                moves.append(Step(f"server sees that run-{s.spawning} was ended, spawns nothing", s._replace(spawning=0)))
        if st == "starting" and run in s.hosts:
            moves.append(Step(f"host half of run-{run} is ready", s._replace(st="client", active=run, active_pkg=s.pkg)))
        if s.active and s.active not in s.hosts:
            noticed = (s.st == "running" and s.active == run) or self.host_death_settles
            if noticed:
                t = self.retract(s, s.active)
                moves.append(Step("server notices that the host half died", self.settle(t, "failed") if s.active == run and st in ("client", "running") else t))
        if st == "starting" and run not in s.hosts and not s.spawning:
            moves.append(Step("server notices that the host half died while starting", self.settle(s, "failed")))
        for n in range(1, run + 1):
            if s.out[n] == "owed":
                moves.append(Step(f"server puts the outcome of run-{n} into the agent's inbox", self.message(s, n, "inbox")))
            if s.out[n] == "inbox":
                if self.claim_with_message:
                    moves.append(Step(f"agent claims the outcome of run-{n} and appends user/message", self.message(s, n, "told")))
                else:
                    moves.append(Step(f"agent claims the outcome of run-{n}", self.message(s, n, "claimed")))
            if s.out[n] == "claimed":
                moves.append(Step(f"agent appends user/message for run-{n}", self.message(s, n, "told")))
        if s.slot.startswith("stop:"):
            moves.append(Step(f"server stops by what it saw ({s.slot[5:]})", self.stopped(s, s.slot[5:])._replace(slot="")))
        if s.slot == "undefine":
            gone = s._replace(removed=True, consents=frozenset(), future=False, slot="")
            moves.append(Step("server appends cordis/undefined", gone))
        return moves

    def stopped(self, s: S, seen: str) -> S:
        """Stop of what is there. Processes die before the log says so."""
        if seen == "open":
            t = self.settle(s, "cancelled")
            return self.retract(t, t.active) if t.active and self.one_cas else t
        if seen in FLIGHT:
            t = self.retract(s, s.run)
            t = self.retract(t, t.active) if t.active else t
            return self.settle(t, "stopped")
        if s.active:
            mine = s.active == s.run
            t = self.retract(s, s.active)
            return t._replace(st="stopped") if mine else t
        return s

    def agent(self, s: S) -> list[Step]:
        moves: list[Step] = []
        if s.run < self.runs and s.st not in FLIGHT and not s.removed and not (s.slot and self.undefine_takes_slot):
            for pkg in (1, 2):
                need = not (s.future or pkg in s.consents)
                if need and s.never:
                    continue                                     # refused at once: rejected; nothing is armed
                n = s.run + 1
                t = s._replace(run=n, pkg=pkg, nxt=pkg, st="open" if need else "consented", allowed=s.allowed if need else s.allowed | {n})
                if not need:
                    t = self.page(t, 0, drives=n)
                mode = "run" if s.cur in (0, pkg) else "update"
                moves.append(Step(f"agent: cordis_run pkg-{pkg} {mode} -> run-{n} {'awaiting-approval' if need else 'starting'}", t, False))
        if s.abort and "inbox" in s.out:
            out = s.out if self.abort_keeps_outcomes else tuple("lost" if x == "inbox" else x for x in s.out)
            moves.append(Step("a person stops the agent's turn; its inbox is cleared", s._replace(out=out, abort=s.abort - 1), False))
        return moves

    def hands(self, s: S) -> list[Step]:
        """Stop and remove, from the panel or by the model's tools."""
        moves: list[Step] = []
        busy = s.removed or s.slot
        if s.stop and not busy and (s.st in FLIGHT or s.active):
            less = s._replace(stop=s.stop - 1)
            if self.one_cas:
                moves.append(Step(f"stop: {s.st}", self.stopped(less, s.st), False))
            else:
                moves.append(Step(f"stop: server looks and sees {s.st}", less._replace(slot="stop:" + s.st), False))
        if s.undef and not busy:
            t = self.stopped(s._replace(undef=s.undef - 1), s.st)
            moves.append(Step("undefine: request cancelled, run stopped", t._replace(slot="undefine"), False))
        return moves

    # ---- the pages ------------------------------------------------------------------------------------------------------------

    def at_page(self, s: S, i: int) -> list[Step]:
        p, name, moves = s.pages[i], f"page {i}", []
        if s.up and s.st == "open" and p.card != s.run and not s.removed and (i == 0 or s.clicks):
            moves.append(Step(f"{name} shows the card of run-{s.run}", self.page(s, i, card=s.run), i == 0))
        if p.card and not p.click and (i == 0 or s.clicks):
            for click in ("single", "double", "decline"):
                t = self.page(s._replace(clicks=s.clicks - i), i, card=0, click=click, click_run=p.card)
                moves.append(Step(f"{name}: {click} for run-{p.card}", t, i == 0))
        if p.click and s.up:
            t = self.page(s, i, click="", click_run=0)
            if s.st == "open" and s.run == p.click_run and not s.removed and not (s.slot == "undefine" and self.undefine_takes_slot):
                if p.click == "decline":
                    t = self.settle(t, "rejected")
                else:
                    t = t._replace(st="consented", consents=s.consents | {s.pkg}, future=s.future or p.click == "double", allowed=s.allowed | {s.run})
                    t = self.page(t, i, drives=s.run)
                moves.append(Step(f"server: {p.click} of {name} wins", t))
            else:
                moves.append(Step(f"server: {p.click} of {name} is too late, and it is told so", t))
        if s.up and s.active and s.st in ("client", "running") and s.active == s.run and p.runs != s.active and p.fetched != s.active and not p.verdict:
            driver = p.drives == s.run or self.any_page_loads
            if s.st == "client" and driver:
                moves.append(Step(f"{name} fetches the client half of run-{s.run}", self.page(s, i, fetched=s.run), True))
            elif s.st == "running" and s.loads:
                moves.append(Step(f"{name}: load here", self.page(s._replace(loads=s.loads - 1), i, fetched=s.run), False))
        if p.fetched:
            for word in ("ok", "failed"):
                t = self.page(s, i, fetched=0, runs=p.fetched if word == "ok" else 0, verdict=word, verdict_run=p.fetched)
                if p.fetched in s.declined and p.fetched not in s.allowed:
                    t = t._replace(sin="a page ran code of a declined run")
                moves.append(Step(f"{name} evaluates run-{p.fetched}: {word}", t, word == "ok"))
        if p.verdict and s.up:
            moves.append(self.verdict(s, i))
        if self.drop_stale and s.up and p.runs and p.runs != s.active:
            moves.append(Step(f"{name} learns that run-{p.runs} is not active, unloads it", self.page(s, i, runs=0)))
        if self.drop_stale and s.up and p.fetched and p.fetched != s.active:
            moves.append(Step(f"{name} throws away the code of run-{p.fetched}", self.page(s, i, fetched=0)))
        if s.reload:
            moves.append(Step(f"{name} is reloaded", s._replace(reload=s.reload - 1, pages=tuple(P() if k == i else q for k, q in enumerate(s.pages))), False))
        return moves

    def verdict(self, s: S, i: int) -> Step:
        p = s.pages[i]
        t = self.page(s, i, verdict="", verdict_run=0)
        alive = p.verdict_run in s.hosts
        fits = s.st == "client" and p.verdict_run == s.run == s.active and not s.removed
        if not fits or (not alive and self.host_death_settles):
            if self.drop_stale and p.verdict_run != s.active:
                t = self.page(t, i, runs=0)
            return Step(f"server: verdict of page {i} on run-{p.verdict_run} is not accepted", t)
        if p.verdict == "failed":
            return Step(f"server: run-{s.run} failed in page {i}", self.settle(self.retract(t, s.run), "failed"))
        if not alive:
            t = t._replace(sin="an attempt settled as running although its host half was dead")
        return Step(f"server: run-{s.run} runs", self.settle(t._replace(cur=s.pkg, nxt=0), "running"))

    # ---- faults ---------------------------------------------------------------------------------------------------------------

    def faults(self, s: S) -> list[Step]:
        moves: list[Step] = []
        if s.crash and s.up:
            out = tuple("lost" if x in ("owed", "claimed") else x for x in s.out)
            pages = tuple(p._replace(drives=0) for p in s.pages)
            moves.append(Step("SERVER CRASH (all host halves die with it)", s._replace(up=False, hosts=frozenset(), spawning=0, slot="", out=out, pages=pages, crash=s.crash - 1,
                                                                                        crashed=s.run if s.st == "consented" else s.crashed), False))
        if s.hostcrash and s.hosts and s.up:
            moves.append(Step("a host half dies", s._replace(hosts=frozenset(), hostcrash=s.hostcrash - 1), False))
        if s.knob:
            moves.append(Step("policy becomes never", s._replace(never=True, knob=s.knob - 1), False))
        return moves

    def restart(self, s: S) -> S:
        """Nothing starts by itself. With `settle_on_restart` what was under way is ended in the log; open requests stay open."""
        s = s._replace(up=True)
        if not self.settle_on_restart:
            return s
        if s.st in ("consented", "starting", "client"):
            s = self.settle(s, "failed")
        elif s.st == "running" and s.active == s.run:
            s = s._replace(st="stopped")
        return s._replace(active=0, active_pkg=0)

    def steps(self, s: S) -> list[Step]:
        moves = [m for i in (0, 1) for m in self.at_page(s, i)] + self.faults(s)
        if s.up:
            moves += self.server(s) + self.agent(s) + self.hands(s)
        else:
            moves.append(Step("server restarts", self.restart(s)))
        return moves

    # ---- what must hold -------------------------------------------------------------------------------------------------------

    def broken(self, s: S) -> list[str]:
        bad = [s.sin] if s.sin else []
        if len(s.hosts) > 1:
            bad.append("a plugin has two physical runs")
        if s.hosts - s.allowed:
            bad.append("host code runs without a committed consent")
        if any(p.runs and p.runs not in s.allowed for p in s.pages):
            bad.append("page code runs without a committed consent")
        if s.hosts & s.declined:
            bad.append("a run is recorded as declined or cancelled while its code runs")
        if s.st in FINAL and s.run in s.hosts:
            bad.append(f"the attempt is recorded as {s.st} while its host half runs")
        if s.removed and s.hosts:
            bad.append("a removed plugin's code runs")
        if s.st == "running" and (s.cur, s.nxt) != (s.pkg, 0):
            bad.append("pointers are wrong after success")
        if s.st in (*FLIGHT, "rejected", "failed", "cancelled") and s.nxt != s.pkg and s.cur != s.pkg:
            bad.append("pointers are wrong after an attempt that did not succeed")
        if s.active and s.active_pkg != s.cur and s.st not in ("client", "failed", "stopped"):
            bad.append("the active run is not of the current package")
        if "lost" in s.out:
            bad.append("an outcome message is lost")
        return bad

    witnesses = {
        "an update ran": lambda s: s.st == "running" and s.run == 2 and s.cur == 2 and s.out[1:] == ("told", "told"),
        "a refused update left the old version running": lambda s: s.st == "rejected" and s.active == 1 and s.hosts == {1},
        "a double tick started the second package without a card": lambda s: s.future and s.run == 2 and s.st == "running" and s.pkg == 2,
        "consent survived a crash": lambda s: s.crash < 2 and s.run == 2 and s.st == "running" and s.pkg == 1 and 2 in s.allowed,
        "removed in the middle of a start": lambda s: s.removed and s.st == "stopped" and s.cur == 0,
    }

    def goal(self, s: S) -> bool:
        calm = s.up and s.st not in FLIGHT and not s.slot and not s.spawning and s.hosts == ({s.active} if s.active else set())
        return calm and all(x in ("", "told") for x in s.out) and all(p.runs in (0, s.active) and not p.fetched and not p.verdict for p in s.pages)


if __name__ == "__main__":
    raise SystemExit(main(Cordis))
