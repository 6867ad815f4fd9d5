-- Code and data that stand in turns: where, what they are, and which of them were replaced by a later version.
CREATE TABLE artifacts (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('code', 'json', 'sql')),
    language TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    start INTEGER NOT NULL,  -- span in the turn's content
    "end" INTEGER NOT NULL,
    superseded_by TEXT,
    PRIMARY KEY (tenant, entity, id),
    FOREIGN KEY (tenant, entity, turn_id) REFERENCES turns (tenant, entity, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX artifacts_turn ON artifacts (tenant, entity, turn_id);
CREATE INDEX artifacts_session ON artifacts (tenant, entity, session_id, kind);
