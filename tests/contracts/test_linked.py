"""What the best matches name is looked up too: from memory and from disk alike."""

from __future__ import annotations

import pytest

from memproxy.embedders.live import Embedders
from memproxy.events import Metrics
from memproxy.interfaces import Connection
from memproxy.model import Entity, Passage
from memproxy.recall.recall import PROPOSED, Recaller
from memproxy.recall.terms import index_terms
from memproxy.settings import Recall, Settings
from memproxy.store import entities, passages, sessions, turns
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_resident import NOW

ADA = Entity("Ada")
CHAIN = ("We bought the boat from an old man called Quirin Vos.", "These days Quirin and Tilde bake rye bread.")


async def say(conn: Connection, texts: list[str], entity: Entity = ADA) -> list[int]:
    """Store turns of one conversation; the ids of their passages."""
    await entities.ensure(conn, entity, NOW)
    session = await sessions.open_session(conn, entity, None, NOW)
    ids = []
    for number, text in enumerate(texts):
        turn = await turns.append(
            conn, entity, session.id, role="user", name=None, content=text, time=NOW, learn="no", text_key=str(number)
        )
        ids += await passages.add(
            conn, entity, [Passage("turn", turn.id, 0, 0, len(text), index_terms(text, "user", NOW), text)]
        )
    return ids


@pytest.mark.parametrize("room", [0, 10_000])
async def test_a_passage_without_a_word_of_the_question_is_found_by_a_name_in_its_best_match(
    db: SqliteDatabase, room: int
) -> None:
    filler = [f"Nothing but weather, note {n}." for n in range(PROPOSED + 20)]
    await db.write(lambda conn: say(conn, [CHAIN[0], *filler, CHAIN[1], "More weather."]))
    recaller = Recaller(db, Embedders(), Settings(recall=Recall(resident=room)), Metrics())
    async with recaller.asked("Who sold me my boat?", now=NOW, floor=False) as question:
        await recaller.find(ADA, question, floor=False)
        await recaller.settled()
        found = await recaller.find(ADA, question, floor=False)
    await recaller.close()
    assert [scored.candidate.text for scored in found.scored[:3] if "weather" not in scored.candidate.text] == list(
        CHAIN
    )
