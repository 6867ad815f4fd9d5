-- What a person said that goes against a fact which may not lose by itself: shown until somebody decides.
CREATE TABLE contradictions (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    fact_id TEXT NOT NULL,    -- what is believed
    stated_id TEXT NOT NULL,  -- what was said: a historical row that is true at no time until it is decided for
    kind TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'held', 'resolved')),
    decision TEXT CHECK (decision IN ('user_stated', 'stored', 'neither')),
    note TEXT,
    held_value TEXT,          -- content key of the fact when it was put on hold: a hold on another value is none
    repeat_count INTEGER NOT NULL DEFAULT 0,
    gate_path TEXT NOT NULL,
    gate_similarity REAL,
    gate_reason TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    resolved_at TEXT,
    PRIMARY KEY (tenant, entity, id),
    UNIQUE (tenant, entity, fact_id, stated_id),
    FOREIGN KEY (tenant, entity, fact_id) REFERENCES facts (tenant, entity, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant, entity, stated_id) REFERENCES facts (tenant, entity, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX contradictions_status ON contradictions (tenant, entity, status, id);
CREATE INDEX contradictions_stated ON contradictions (tenant, entity, stated_id);

-- Facts of different attributes that exclude each other (Moss is a cat, Moss is a dog), found by families of words.
CREATE TABLE collisions (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    family TEXT NOT NULL,
    subject TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'settled', 'resolved')),
    kept_side TEXT,
    note TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    settled_at TEXT,
    PRIMARY KEY (tenant, entity, id),
    UNIQUE (tenant, entity, family, subject),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT;
