"""The SQLite store keeps the contract of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from placet.session import Store
from placet.session.stores.sqlite import SqliteStore
from placet.testing.stores import OpenStore, StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        async def opened() -> Store:
            return await SqliteStore.open(tmp_path / "state" / "placet.db")

        return opened


class TestSqliteStoreWithoutIndexOfPairs(StoreContract):
    """The index only makes it fast: without it every answer is the same."""

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        async def opened() -> Store:
            return await SqliteStore.open(tmp_path / "state" / "placet.db", pairs=())

        return opened
