"""What only the client side has: seats, components and design tokens."""

from __future__ import annotations

from pydantic import BaseModel, Field

from placet.cordis.inspect.catalogue import catalogue
from placet.cordis.inspect.directory import Asked
from placet.cordis.inspect.provider import Method, Platform, Provider, UnknownKey
from placet.session.ids import SessionId


class Root(Asked):
    """Where to look."""

    root: str | None = Field(None, description="A seat, or the first words of several; all in short if left out.")


class SeatRow(BaseModel):
    """A seat, with its contract where a root was named."""

    name: str
    kind: str
    scope: str
    risk: str
    summary: str
    contract: str | None = None
    types: dict[str, str] | None = None
    example: str | None = None


class RequestedRoot(BaseModel):
    """The root as it was asked for, and whether there is a seat at or below it."""

    name: str
    available: bool


class Seats(BaseModel):
    """The seats at or below the root."""

    requestedRoot: RequestedRoot | None = None
    slots: list[SeatRow]


class TokenRow(BaseModel):
    """A design token."""

    name: str
    summary: str
    type: str


class Tokens(BaseModel):
    """The tokens that a plugin can give other values."""

    tokens: list[TokenRow]


class ComponentName(Asked):
    """Which component."""

    component: str | None = Field(None, description="The name of a component; all of them if left out.")


class ComponentRow(BaseModel):
    """A component, the types of its properties, and how it is used."""

    name: str
    summary: str
    props: dict[str, str]
    example: str


class Components(BaseModel):
    """The components of the page that a client half can use."""

    components: list[ComponentRow]


async def list_sub_tree(asked: Root, _session: SessionId) -> Seats:
    """All seats in short, or those of a root with their contracts (N7)."""
    book, root = catalogue(Platform.CLIENT), asked.root
    rows = []
    for name, seat in book.seats.items():
        row = SeatRow(name=name, kind=seat.kind, scope=seat.scope, risk=seat.risk, summary=seat.summary)
        if root is not None and f"{name}.".startswith(f"{root}."):
            types = book.types_of(seat)
            row = row.model_copy(update={"contract": seat.contract, "types": types, "example": seat.example})
        if root is None or row.contract is not None:
            rows.append(row)
    requested = None if root is None else RequestedRoot(name=root, available=bool(rows))
    return Seats(requestedRoot=requested, slots=rows)


async def list_tokens(_asked: Asked, _session: SessionId) -> Tokens:
    """All tokens."""
    tokens = catalogue(Platform.CLIENT).tokens
    return Tokens(
        tokens=[TokenRow(name=name, summary=token.summary, type=token.type) for name, token in tokens.items()]
    )


async def list_components(asked: ComponentName, _session: SessionId) -> Components:
    """All components, or one."""
    known = catalogue(Platform.CLIENT).components
    if asked.component is not None and asked.component not in known:
        raise UnknownKey(f"there is no component called {asked.component!r}; there are: {', '.join(known)}")
    return Components(
        components=[
            ComponentRow(name=name, summary=each.summary, props=dict(each.props), example=each.example)
            for name, each in known.items()
            if asked.component in (None, name)
        ]
    )


SLOTS = Provider(
    Platform.CLIENT,
    "Slots",
    "The seats in the page where a client half can put its views.",
    (Method("listSubTree", "All seats in short; with `root` the contracts of those.", Root, Seats, list_sub_tree),),
)
THEME = Provider(
    Platform.CLIENT,
    "Theme",
    "The design tokens that a client half can give other values.",
    (Method("listTokens", "All tokens with their kinds.", Asked, Tokens, list_tokens),),
)
COMPONENTS = Provider(
    Platform.CLIENT,
    "Component",
    "The page's own components, which a client half uses in place of HTML.",
    (
        Method(
            "listComponents",
            "All components with their properties and examples; with `component` that one.",
            ComponentName,
            Components,
            list_components,
        ),
    ),
)
