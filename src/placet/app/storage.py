"""Opening the store, with every way in which that fails as one line."""

import logging

from placet.app.errors import Refused
from placet.app.places import Places
from placet.app.program import program
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.session.errors import StoreDamaged, StoreError, StoreFormat, StoreFull, StoreLocked
from placet.session.store import Store

logger = logging.getLogger(__name__)


async def open_store(places: Places, *, clock: Clock = SYSTEM_CLOCK) -> Store:
    """The store of this installation; raises `Refused` with one line for one that cannot be used."""
    from placet.session.stores.sqlite import SqliteStore

    try:
        store = await SqliteStore.open(places.database, clock=clock)
    except StoreError as error:
        raise refusal(error, places) from error
    if store.dropped is not None:
        logger.warning("%s", store.dropped)
    return store


def dropped_from(store: Store) -> str | None:
    """What was dropped from the end of the store when it was opened, as a sentence; None where it was whole."""
    dropped: str | None = getattr(store, "dropped", None)  # of a store in a file; others have no torn end
    return dropped


def refusal(error: StoreError, places: Places) -> Refused:
    """What a failing store means for the person: what, why, what to do."""
    match error:
        case StoreDamaged():
            return Refused(
                str(error)[0].upper() + str(error)[1:],
                why="It is never loaded in part",
                hint=f"See all damage with: {program()} log verify. Restore {places.database} from a copy, or move it"
                " away to begin anew",
            )
        case StoreFormat():
            return Refused(str(error)[0].upper() + str(error)[1:])
        case StoreLocked():
            return Refused(
                f"The store {places.database} is locked",
                why="Another program has held it for too long",
                hint="End that program, then try again",
            )
        case StoreFull():
            return Refused(
                f"The disk that holds {places.database} is full",
                why="Nothing was recorded, so nothing was done",
                hint="Free some space, then try again",
            )
        case _:
            return Refused(f"The store {places.database} cannot be used", why=str(error))
