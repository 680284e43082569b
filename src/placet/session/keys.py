"""The keys of this room's events, one function per key. Other rooms name their own keys."""

from __future__ import annotations

from .codec import escape

JOBS = ("job:", "job-ended:")
RUNS = ("requested:", "settled:")
PAIRS = (("asked:", "decided:"), ("turn:", "end:"), ("started:", "result:"), ("put:", "message:"), JOBS, RUNS)
"""Key prefixes whose open ends a store finds at once, whatever the length of the log."""

MAX_KEY = 512


def created() -> str:
    return "created"


def removed(session: str) -> str:
    return f"removed:{session}"


def turn(number: int) -> str:
    return f"turn:{number}"


def abort(turn: int) -> str:
    return f"abort:{turn}"


def end(turn: int) -> str:
    return f"end:{turn}"


def step(turn: int, step: int) -> str:
    return f"step:{turn}.{step}"


def step_end(turn: int, step: int) -> str:
    return f"step-end:{turn}.{step}"


def assistant(turn: int, step: int) -> str:
    return f"assistant:{turn}.{step}"


def model_failed(turn: int, step: int, attempt: int) -> str:
    return f"model-failed:{turn}.{step}.{attempt}"


def call(turn: int, step: int, position: int) -> str:
    return f"call:{turn}.{step}.{position}"


def started(turn: int, step: int, position: int) -> str:
    return f"started:{turn}.{step}.{position}"


def result(turn: int, step: int, position: int) -> str:
    return f"result:{turn}.{step}.{position}"


def job(job: str) -> str:
    return f"job:{job}"


def job_ended(job: str) -> str:
    return f"job-ended:{job}"


def requested(run: str) -> str:
    return f"requested:{run}"


def settled(run: str) -> str:
    return f"settled:{run}"


def put(message: str) -> str:
    return f"put:{escape(message)}"


def take(turn: int, step: int) -> str:
    return f"take:{turn}.{step}"


def message(message: str) -> str:
    return f"message:{escape(message)}"


def client(kind: str, key: str) -> str:
    """The key of what people send: kind and the client's own key, so that sending it again changes nothing."""
    return f"{kind}:{escape(key)}"
