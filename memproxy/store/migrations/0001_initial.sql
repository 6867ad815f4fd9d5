-- The first schema. Every key begins with tenant and entity; ids are time-ordered hex made by the program;
-- times are UTC text of fixed width (2026-11-30T06:55:52.123456Z), so that they sort as they are.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE entities (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    first_seen TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    passages INTEGER NOT NULL DEFAULT 0,  -- how many are indexed, and
    terms INTEGER NOT NULL DEFAULT 0,     -- how many terms they have together (for the average length)
    vectors_changed INTEGER NOT NULL DEFAULT 0,  -- grows with every change of its vectors, so that caches notice
    PRIMARY KEY (tenant, entity)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT,
    parent_id TEXT,  -- the session it branched off
    head TEXT,       -- history key of its newest known message
    turns INTEGER NOT NULL DEFAULT 0,
    started_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, id),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT;
CREATE UNIQUE INDEX sessions_name ON sessions (tenant, entity, name) WHERE name IS NOT NULL;
CREATE INDEX sessions_last ON sessions (tenant, entity, last_at);

CREATE TABLE history_marks (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    key TEXT NOT NULL,  -- keyed hash of a conversation up to one message
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, key),
    FOREIGN KEY (tenant, entity, session_id) REFERENCES sessions (tenant, entity, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX history_marks_session ON history_marks (tenant, entity, session_id);

CREATE TABLE turns (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    name TEXT,
    content TEXT NOT NULL,
    time TEXT NOT NULL,
    complete INTEGER NOT NULL DEFAULT 1,
    learn TEXT NOT NULL CHECK (learn IN ('no', 'pending', 'done', 'dead')),
    credential TEXT,   -- fingerprint of the caller's credential, where a borrowed one may learn from this turn
    text_key TEXT NOT NULL,  -- keyed hash of the normalised content
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, id),
    UNIQUE (tenant, entity, session_id, seq),
    FOREIGN KEY (tenant, entity, session_id) REFERENCES sessions (tenant, entity, id)
) STRICT;
CREATE INDEX turns_time ON turns (tenant, entity, time, session_id, seq);
CREATE INDEX turns_text ON turns (tenant, entity, session_id, text_key);
CREATE INDEX turns_learn ON turns (tenant, entity, session_id, learn, seq) WHERE learn IN ('pending', 'dead');

CREATE TABLE facts (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    type TEXT NOT NULL,
    tag TEXT NOT NULL,
    slot TEXT,
    significance INTEGER NOT NULL,
    confidence REAL NOT NULL,
    source_role TEXT NOT NULL,
    quote TEXT,
    turn_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('current', 'historical', 'expired', 'quarantined', 'forgotten')),
    valid_from TEXT,
    valid_until TEXT,
    recorded_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    superseded_at TEXT,
    superseded_by TEXT,
    reference_time TEXT,
    started_at TEXT,
    reinforced_count INTEGER NOT NULL DEFAULT 0,
    recall_count INTEGER NOT NULL DEFAULT 0,
    recalled_at TEXT,
    pinned INTEGER NOT NULL DEFAULT 0,
    thread_status TEXT,
    emotional_weight REAL,
    emotional_valence TEXT,
    content_key TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, id),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT;
CREATE UNIQUE INDEX facts_current ON facts (tenant, entity, content_key) WHERE status = 'current';
CREATE INDEX facts_content ON facts (tenant, entity, content_key, status);
CREATE INDEX facts_slot ON facts (tenant, entity, slot) WHERE slot IS NOT NULL;
CREATE INDEX facts_turn ON facts (tenant, entity, turn_id) WHERE turn_id IS NOT NULL;

-- Append-only: what happened to each fact, and why.
CREATE TABLE fact_changes (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    number INTEGER NOT NULL,  -- 1, 2, 3 … for each fact
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    before TEXT NOT NULL,  -- JSON of the fields that changed
    after TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, fact_id, number),
    FOREIGN KEY (tenant, entity, fact_id) REFERENCES facts (tenant, entity, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE fact_reinforcements (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, fact_id, session_id),
    FOREIGN KEY (tenant, entity, fact_id) REFERENCES facts (tenant, entity, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Where erased facts stood in their turns, without their words: those spans are not recalled any more.
CREATE TABLE hidden_spans (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    PRIMARY KEY (tenant, entity, turn_id, start, "end"),
    FOREIGN KEY (tenant, entity, turn_id) REFERENCES turns (tenant, entity, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE summaries (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT,
    text TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, id),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT;
CREATE INDEX summaries_ended ON summaries (tenant, entity, ended_at);
CREATE INDEX summaries_session ON summaries (tenant, entity, session_id);

-- Pieces of turns, facts and summaries: the unit that is searched. Ids are never used again, so that a vector which
-- comes late cannot meet another passage.
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('turn', 'fact', 'summary')),
    owner_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    terms TEXT NOT NULL,
    model TEXT,  -- the model whose vector it has
    UNIQUE (tenant, entity, kind, owner_id, ordinal),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT;
CREATE INDEX passages_model ON passages (model, id);

CREATE TABLE vectors (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    passage_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    vector BLOB NOT NULL,  -- float32, little-endian, unit length
    PRIMARY KEY (tenant, entity, passage_id)
) STRICT, WITHOUT ROWID;

-- Which accelerator tables hold the vectors of which model; stale ones are not asked until they are rebuilt.
CREATE TABLE vector_indexes (
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    name TEXT NOT NULL,
    stale INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (model, dimensions)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('pending', 'waiting', 'running', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    run_after TEXT NOT NULL,
    lease_until TEXT,
    worker TEXT,
    error TEXT,
    credential TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, id),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT;
CREATE INDEX jobs_due ON jobs (state, run_after);
CREATE INDEX jobs_session ON jobs (tenant, entity, kind, session_id, state);
CREATE INDEX jobs_id ON jobs (id);

CREATE TABLE receipts (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    request_id TEXT NOT NULL,
    session_id TEXT,
    turn_key TEXT,
    time TEXT NOT NULL,
    block TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    redacted INTEGER NOT NULL DEFAULT 0,  -- a source was forgotten or erased: the block's text is gone
    PRIMARY KEY (tenant, entity, request_id),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT;
CREATE UNIQUE INDEX receipts_request ON receipts (request_id);
CREATE INDEX receipts_turn ON receipts (tenant, entity, turn_key, time) WHERE turn_key IS NOT NULL;
CREATE INDEX receipts_time ON receipts (time);

CREATE TABLE receipt_items (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    request_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    section TEXT NOT NULL,
    text TEXT NOT NULL,
    score REAL NOT NULL,
    reasons TEXT NOT NULL,  -- JSON
    PRIMARY KEY (tenant, entity, request_id, ordinal),
    FOREIGN KEY (tenant, entity, request_id) REFERENCES receipts (tenant, entity, request_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_items_owner ON receipt_items (tenant, entity, kind, owner_id);

CREATE TABLE usage (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    day TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, entity, day, purpose),
    FOREIGN KEY (tenant, entity) REFERENCES entities (tenant, entity)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_day ON usage (day, purpose);

-- Facts with the model of their vector.
CREATE VIEW fact_rows AS
SELECT f.*, (
    SELECT p.model FROM passages p
    WHERE p.tenant = f.tenant AND p.entity = f.entity AND p.kind = 'fact' AND p.owner_id = f.id AND p.ordinal = 0
) AS embedding_model
FROM facts f;
