-- What is written into a profile by hand stands in blocks: a change of it is a change of what recall reads.
CREATE TRIGGER profile_changed AFTER UPDATE OF removed_at ON profile_entries WHEN NEW.fact_id IS NULL BEGIN
    UPDATE entities SET revision = revision + 1 WHERE tenant = NEW.tenant AND entity = NEW.entity;
END;
