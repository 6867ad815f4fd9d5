-- What went into a conversation and has to go in again, byte for byte, when its turns come back as history: the stable
-- part of the block (once a conversation) and the recalled part of each turn.
CREATE TABLE placed (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('stable', 'recalled')),
    key TEXT NOT NULL,  -- of the conversation, or of it up to the turn
    text TEXT NOT NULL,  -- empty: it was decided that nothing goes here
    tokens INTEGER NOT NULL,
    items TEXT NOT NULL,  -- JSON: the lines and where they came from
    used_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, kind, key),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT, WITHOUT ROWID;
CREATE INDEX placed_used ON placed (used_at);
