"""Which asks of a session are open, kept in step with its log."""

from __future__ import annotations

from collections.abc import Mapping

from placet.approval.events import ASKED, DECIDED
from placet.session.event import Event
from placet.session.ids import AskId

OpenAsks = Mapping[AskId, Event]


class OpenAsksFold:
    """The asks without a decision, each with its event, oldest first."""

    def start(self) -> OpenAsks:
        """Return no asks."""
        return {}

    def step(self, state: OpenAsks, event: Event) -> OpenAsks:
        """Add an ask, or take one away that was decided."""
        if event.type == ASKED:
            return {**state, AskId(event.data["id"]): event}
        if event.type == DECIDED and event.data["id"] in state:
            return {ask: asked for ask, asked in state.items() if ask != event.data["id"]}
        return state


OPEN_ASKS = OpenAsksFold()
