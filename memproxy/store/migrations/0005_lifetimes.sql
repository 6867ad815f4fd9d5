-- How long a fact stands, when it was last said, and its single-valued slot: no two current facts of an entity fill one.

ALTER TABLE facts ADD COLUMN slot_key TEXT;  -- the slot, where it has one value at a time
ALTER TABLE facts ADD COLUMN lifetime TEXT NOT NULL DEFAULT 'lasting'
    CHECK (lifetime IN ('lasting', 'temporary', 'momentary'));
ALTER TABLE facts ADD COLUMN expires_at TEXT;
ALTER TABLE facts ADD COLUMN reinforced_at TEXT;
ALTER TABLE facts ADD COLUMN engagement REAL;
CREATE UNIQUE INDEX facts_slot_key ON facts (tenant, entity, slot_key)
WHERE status = 'current' AND slot_key IS NOT NULL;
CREATE INDEX facts_expiring ON facts (expires_at) WHERE status = 'current' AND expires_at IS NOT NULL;

-- A view keeps the columns it was made with.
DROP VIEW fact_rows;
CREATE VIEW fact_rows AS
SELECT f.*, (
    SELECT p.model FROM passages p
    WHERE p.tenant = f.tenant AND p.entity = f.entity AND p.kind = 'fact' AND p.owner_id = f.id AND p.ordinal = 0
) AS embedding_model
FROM facts f;
