-- When a fact was last said: by the clock of the conversation, whenever it was learned, and whenever what it tells of was.

ALTER TABLE facts ADD COLUMN said_at TEXT;
UPDATE facts SET said_at = coalesce(
    (SELECT t.time FROM turns t WHERE t.tenant = facts.tenant AND t.entity = facts.entity AND t.id = facts.turn_id),
    CASE WHEN reference_time < recorded_at THEN reference_time ELSE recorded_at END
);

-- A view keeps the columns it was made with.
DROP VIEW fact_rows;
CREATE VIEW fact_rows AS
SELECT f.*, (
    SELECT p.model FROM passages p
    WHERE p.tenant = f.tenant AND p.entity = f.entity AND p.kind = 'fact' AND p.owner_id = f.id AND p.ordinal = 0
) AS embedding_model
FROM facts f;
