"""Every backend keeps the contract."""

from __future__ import annotations

import pytest

from placet.testing.backends import BackendContract, Rig

pytestmark = pytest.mark.anyio


class TestBubblewrap(BackendContract):
    @pytest.fixture
    def rig(self, bubblewrap: Rig) -> Rig:  # type: ignore[override]
        return bubblewrap


class TestLandlock(BackendContract):
    @pytest.fixture
    def rig(self, landlock: Rig) -> Rig:  # type: ignore[override]
        return landlock
