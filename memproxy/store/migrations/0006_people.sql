-- What people decide about their memory: what is not to be learned, and what they never want to hear of again.

CREATE TABLE preferences (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    excluded_tags TEXT NOT NULL,  -- JSON
    learning INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    patterns INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT, WITHOUT ROWID;

-- Statements that were denied. Of their words nothing is kept but keyed hashes.
CREATE TABLE denied (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    denied_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, id),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT, WITHOUT ROWID;

CREATE TABLE denied_words (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    denied_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,  -- of how many content words; 0: of all its characters
    PRIMARY KEY (tenant, entity, denied_id, hash),
    FOREIGN KEY (tenant, entity, denied_id) REFERENCES denied (tenant, entity, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
