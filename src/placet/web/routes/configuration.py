"""What this installation is: shown in settings and in the head of the page."""

from anyio import to_thread
from fastapi import APIRouter

from placet.web.desk import DeskDep
from placet.web.gestures.creation import is_new
from placet.web.rights import Right, needs
from placet.web.views import damage
from placet.web.views.permissions import options
from placet.web.wire import Config, ModelChoice, NoticeView, Person

router = APIRouter(tags=["configuration"])


@router.get("/api/config", dependencies=[needs(Right.READ)])
async def config(desk: DeskDep) -> Config:
    """Return the facts of this installation; none of them is a secret."""
    facts = desk.services.installation
    found = await damage.notices(desk.services.store)
    return Config(
        version=facts.version,
        instance=desk.instance,
        person=Person(name=facts.person, account=facts.account),
        rehearsal=facts.rehearsal,
        model=facts.model,
        models=[ModelChoice(name=m.name, label=m.label, real=m.real) for m in facts.models],
        presets=options(),
        default_preset=facts.default_preset,
        sandbox=dict(facts.sandbox),
        home=str(facts.home),
        suggested_cwd=str(facts.suggested_cwd),
        suggested_is_new=await to_thread.run_sync(is_new, facts.suggested_cwd),
        notices=[*(NoticeView(level=level, code=code, text=text) for level, code, text in facts.notices), *found],
    )
