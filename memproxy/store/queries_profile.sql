-- What is known of a person in structured form.

-- name: profile_current
-- The entries that hold: written by hand, or said by a fact that is current.
SELECT p.* FROM profile_entries p
LEFT JOIN facts f ON f.tenant = p.tenant AND f.entity = p.entity AND f.id = p.fact_id
WHERE p.tenant = :tenant AND p.entity = :entity AND p.removed_at IS NULL
  AND (p.fact_id IS NULL OR f.status = 'current')
ORDER BY p.field, p.id;

-- name: profile_by_hand
-- The entries that hold and were written by hand.
SELECT * FROM profile_entries
WHERE tenant = :tenant AND entity = :entity AND removed_at IS NULL AND fact_id IS NULL
ORDER BY field, id;

-- name: profile_history
-- All entries that ever held, the newest first, but for those of facts that are not to be shown.
SELECT p.* FROM profile_entries p
LEFT JOIN facts f ON f.tenant = p.tenant AND f.entity = p.entity AND f.id = p.fact_id
WHERE p.tenant = :tenant AND p.entity = :entity AND (:field IS NULL OR p.field = :field)
  AND (:after IS NULL OR p.id < :after)
  AND (p.fact_id IS NULL OR f.status NOT IN ('forgotten', 'quarantined'))
ORDER BY p.id DESC LIMIT :limit;

-- name: profile_get
-- The entry under a key, whoever says it.
SELECT * FROM profile_entries
WHERE tenant = :tenant AND entity = :entity AND field = :field AND key = :key AND removed_at IS NULL;

-- name: profile_add
-- An entry that holds from now on.
INSERT INTO profile_entries (tenant, entity, id, field, key, value, fact_id, recorded_at)
VALUES (:tenant, :entity, :id, :field, :key, :value, :fact_id, :now);

-- name: profile_close
-- The entry under a key holds no more.
UPDATE profile_entries SET removed_at = :now
WHERE tenant = :tenant AND entity = :entity AND field = :field AND key = :key AND removed_at IS NULL;

-- name: erase_profile
-- Erasure: the profile.
DELETE FROM profile_entries WHERE tenant = :tenant AND entity = :entity;
