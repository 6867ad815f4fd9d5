-- What is known of a person in structured form. Nothing is overwritten: an entry that is set anew closes the one before.
CREATE TABLE profile_entries (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    field TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,    -- JSON: a text, or a record of texts
    fact_id TEXT,           -- the fact that says so; NULL: written by hand
    recorded_at TEXT NOT NULL,
    removed_at TEXT,
    PRIMARY KEY (tenant, entity, id),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity),
    FOREIGN KEY (tenant, entity, fact_id) REFERENCES facts (tenant, entity, id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX profile_current ON profile_entries (tenant, entity, field, key) WHERE removed_at IS NULL;
CREATE INDEX profile_fact ON profile_entries (tenant, entity, fact_id) WHERE fact_id IS NOT NULL;
