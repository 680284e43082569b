"""The rigs of the sandbox's own tests."""

from tests.sandbox.conftest import bubblewrap, confined, landlock

__all__ = ["bubblewrap", "confined", "landlock"]
