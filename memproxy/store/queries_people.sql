-- Named queries of what people decide about their memory.

-- name: preferences_get
-- What an entity decided.
SELECT * FROM preferences WHERE tenant = :tenant AND entity = :entity;

-- name: preferences_put
-- Keep what an entity decided.
INSERT INTO preferences (tenant, entity, excluded_tags, learning, memory, patterns, updated_at)
VALUES (:tenant, :entity, :excluded_tags, :learning, :memory, :patterns, :now)
ON CONFLICT (tenant, entity) DO UPDATE
SET excluded_tags = excluded.excluded_tags, learning = excluded.learning, memory = excluded.memory,
    patterns = excluded.patterns, updated_at = excluded.updated_at;

-- name: preferences_unlearn
-- What waits to be learned from is not learned from any more.
UPDATE turns SET learn = 'no' WHERE tenant = :tenant AND entity = :entity AND learn IN ('pending', 'dead');

-- name: denied_add
-- Note that something was denied.
INSERT INTO denied (tenant, entity, id, denied_at) VALUES (:tenant, :entity, :id, :now);

-- name: denied_add_word
-- Keep a keyed hash of what was denied.
INSERT INTO denied_words (tenant, entity, denied_id, hash, size) VALUES (:tenant, :entity, :denied_id, :hash, :size)
ON CONFLICT DO NOTHING;

-- name: denied_words
-- Every keyed hash of what an entity denied.
SELECT denied_id, hash, size FROM denied_words WHERE tenant = :tenant AND entity = :entity;

-- name: denied_list
-- What was denied, without its words, the newest first.
SELECT id, denied_at FROM denied
WHERE tenant = :tenant AND entity = :entity AND (:after IS NULL OR id < :after)
ORDER BY id DESC LIMIT :limit;

-- name: denied_remove
-- Deny no more.
DELETE FROM denied WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: facts_superseded_by
-- The facts whose place another one took, the newest first.
SELECT * FROM fact_rows WHERE tenant = :tenant AND entity = :entity AND superseded_by = :id ORDER BY id DESC;

-- name: facts_repeated_in
-- The sessions that said a fact again, in order.
SELECT session_id, time FROM fact_reinforcements
WHERE tenant = :tenant AND entity = :entity AND fact_id = :fact_id ORDER BY time, session_id;

-- name: facts_threads
-- Open threads: the weightiest first, then the oldest.
SELECT * FROM fact_rows
WHERE tenant = :tenant AND entity = :entity AND status = 'current' AND thread_status = 'open'
ORDER BY significance DESC, id LIMIT :limit;

-- name: facts_with_letters
-- Facts of any status in whose text some letters stand, whatever their case.
SELECT * FROM fact_rows
WHERE tenant = :tenant AND entity = :entity AND lower(text) LIKE '%' || lower(:letters) || '%' ORDER BY id;

-- name: erase_denied_words
-- Erasure: keyed hashes of what was denied.
DELETE FROM denied_words WHERE tenant = :tenant AND entity = :entity;

-- name: erase_denied
-- Erasure: what was denied.
DELETE FROM denied WHERE tenant = :tenant AND entity = :entity;

-- name: erase_preferences
-- Erasure: what the entity decided.
DELETE FROM preferences WHERE tenant = :tenant AND entity = :entity;

-- name: facts_with_feeling
-- Current facts that were said with feeling since a moment, the newest first.
SELECT * FROM fact_rows
WHERE tenant = :tenant AND entity = :entity AND status = 'current'
    AND emotional_valence IS NOT NULL AND emotional_valence <> 'neutral' AND coalesce(said_at, recorded_at) >= :since
ORDER BY coalesce(said_at, recorded_at) DESC, id DESC LIMIT :limit;

-- name: facts_noteworthy
-- Current facts that somebody may want to come back to, but for those written by hand; the weightiest first.
SELECT * FROM fact_rows
WHERE tenant = :tenant AND entity = :entity AND status = 'current' AND source_role <> 'user_explicit'
    AND (thread_status = 'open' OR tag = 'prediction' OR slot = 'prediction' OR significance >= 7
         OR (emotional_valence IS NOT NULL AND emotional_valence <> 'neutral'))
ORDER BY significance DESC, id DESC LIMIT :limit;

-- name: facts_engage
-- Count how far a fact was taken up when it came up: a running mean.
UPDATE facts SET engagement = round(coalesce(engagement, 0.0) * (1 - :share) + :taken * :share, 4)
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: answered_get
-- What was answered to a write, by its key.
SELECT request, status, body, time FROM answered WHERE tenant = :tenant AND entity = :entity AND key = :key;

-- name: answered_begin
-- A write is under way.
INSERT INTO answered (tenant, entity, key, request, status, body, words, time)
VALUES (:tenant, :entity, :key, :request, NULL, :body, :words, :now)
ON CONFLICT (tenant, entity, key) DO UPDATE
SET request = excluded.request, status = NULL, body = excluded.body, words = excluded.words, time = excluded.time;

-- name: answered_finish
-- Keep what was answered to a write, unless what it tells of went meanwhile.
UPDATE answered SET status = :status, body = CASE WHEN body IS NULL THEN NULL ELSE :body END
WHERE tenant = :tenant AND entity = :entity AND key = :key;

-- name: answered_give_up
-- A write was refused.
DELETE FROM answered WHERE tenant = :tenant AND entity = :entity AND key = :key AND status IS NULL;

-- name: answered_silence
-- Let go of the bodies of an entity's answers.
UPDATE answered SET body = NULL WHERE tenant = :tenant AND entity = :entity AND words AND body IS NOT NULL;

-- name: answered_prune
-- Remove answers from before a moment.
DELETE FROM answered WHERE time <= :before;

-- name: erase_answered
-- Erasure: what was answered to writes.
DELETE FROM answered WHERE tenant = :tenant AND entity = :entity;
