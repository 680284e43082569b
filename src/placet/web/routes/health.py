"""Who is there: the server proves itself before anybody sends it anything."""

from typing import Annotated

from fastapi import APIRouter, Query

from placet.web.desk import DeskDep
from placet.web.rights import Right, needs
from placet.web.wire import Health

router = APIRouter(tags=["health"])

Nonce = Annotated[str | None, Query(pattern=r"^[A-Za-z0-9_-]{16,128}$", description="base64url, made by the sender")]


@router.get("/healthz", dependencies=[needs(Right.OPEN)])
async def health(desk: DeskDep, nonce: Nonce = None) -> Health:
    """Say that this is placet; with a nonce, prove it by the key that pages pinned when they were linked."""
    proof = None if nonce is None else desk.server_key.proof(nonce, desk.instance)
    return Health(version=desk.services.installation.version, instance=desk.instance, proof=proof)
