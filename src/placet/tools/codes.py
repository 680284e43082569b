"""The words that programs read in a result that is an error; the model reads the sentence."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Why a call has no ordinary result."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    TOO_LARGE_TO_SHOW = "TOO_LARGE_TO_SHOW"
    TOO_MANY_ASKS = "TOO_MANY_ASKS"
    NOT_WIDER = "NOT_WIDER"
    ALREADY_REJECTED = "ALREADY_REJECTED"
    APPROVAL_REJECTED = "APPROVAL_REJECTED"
    APPROVAL_CANCELLED = "APPROVAL_CANCELLED"
    APPROVAL_UNAVAILABLE = "APPROVAL_UNAVAILABLE"
    DENIED = "DENIED"
    ABORTED_BEFORE_DISPATCH = "ABORTED_BEFORE_DISPATCH"
    ABORTED = "ABORTED"
    TOOL_NOT_STARTED = "TOOL_NOT_STARTED"
    TOOL_OUTCOME_UNKNOWN = "TOOL_OUTCOME_UNKNOWN"
    TOOL_FAILED = "TOOL_FAILED"
    INVALID_TOOL_OUTPUT = "INVALID_TOOL_OUTPUT"
    BLOCKED = "BLOCKED"


class Unused(StrEnum):
    """Why a granted call was not started after all; the person is told."""

    DIGEST = "digest"
    USED = "used"
    EXPIRED = "expired"
    TOOL = "tool"
    FILE_CHANGED = "file-changed"
    JOBS_RUNNING = "jobs-running"
    GUARD = "guard"
