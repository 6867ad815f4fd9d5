-- Vectors as a table with row ids: new rows fill its pages, where those of a table without ids, split in the middle again
-- and again, stay half empty. The same rows, the same key.
CREATE TABLE vectors_in_order (
    tenant TEXT NOT NULL,
    entity TEXT NOT NULL,
    passage_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    vector BLOB NOT NULL,  -- float32, little-endian, unit length
    PRIMARY KEY (tenant, entity, passage_id)
) STRICT;
INSERT INTO vectors_in_order SELECT tenant, entity, passage_id, model, dimensions, vector FROM vectors
ORDER BY tenant, entity, passage_id;
DROP TABLE vectors;
ALTER TABLE vectors_in_order RENAME TO vectors;
CREATE TRIGGER vectors_changed AFTER UPDATE ON vectors BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = NEW.tenant AND entity = NEW.entity;
END;
CREATE TRIGGER vectors_removed AFTER DELETE ON vectors BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = OLD.tenant AND entity = OLD.entity;
END;
