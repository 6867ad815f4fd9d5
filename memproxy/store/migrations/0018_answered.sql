-- Writes that came with an Idempotency-Key, and what was answered: asked again, the same is answered again.
CREATE TABLE answered (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,   -- '' for what is of no entity
    key TEXT NOT NULL,      -- keyed hash of the caller's key and the Idempotency-Key
    request TEXT NOT NULL,  -- keyed hash of the request
    status INTEGER,         -- NULL: under way, or given up
    body BLOB,              -- NULL: something that it may have told of was forgotten or erased since
    words INTEGER NOT NULL, -- whether the answer says anything that was ever said
    time TEXT NOT NULL,
    PRIMARY KEY (tenant, entity, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answered_time ON answered (time);
