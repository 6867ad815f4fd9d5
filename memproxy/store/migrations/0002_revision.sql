-- An entity's revision grows whenever anything of what recall reads is changed or removed, by whomever; additions leave
-- it. A copy in memory that has the same revision lacks at most what was added after it was made.

ALTER TABLE entities ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX passages_entity ON passages (tenant, entity, id);

CREATE TRIGGER passages_changed AFTER UPDATE OF kind, owner_id, ordinal, start, "end", terms ON passages BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = NEW.tenant AND entity = NEW.entity;
END;
CREATE TRIGGER passages_removed AFTER DELETE ON passages BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = OLD.tenant AND entity = OLD.entity;
END;
CREATE TRIGGER turns_changed AFTER UPDATE OF session_id, seq, role, name, content, time ON turns BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = NEW.tenant AND entity = NEW.entity;
END;
CREATE TRIGGER facts_changed
AFTER UPDATE OF text, status, confidence, source_role, turn_id, reference_time, recorded_at ON facts
WHEN OLD.text <> NEW.text OR OLD.status <> NEW.status OR OLD.confidence <> NEW.confidence
    OR OLD.source_role <> NEW.source_role OR OLD.turn_id IS NOT NEW.turn_id
    OR OLD.reference_time IS NOT NEW.reference_time OR OLD.recorded_at <> NEW.recorded_at
BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = NEW.tenant AND entity = NEW.entity;
END;
CREATE TRIGGER summaries_changed AFTER UPDATE ON summaries BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = NEW.tenant AND entity = NEW.entity;
END;
CREATE TRIGGER vectors_changed AFTER UPDATE ON vectors BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = NEW.tenant AND entity = NEW.entity;
END;
CREATE TRIGGER vectors_removed AFTER DELETE ON vectors BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = OLD.tenant AND entity = OLD.entity;
END;
