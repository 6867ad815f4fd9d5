-- Named queries in common SQL. Every query of personal rows filters by tenant and entity.

-- name: schema_version
-- The newest migration that was applied.
SELECT coalesce(max(version), 0) AS version FROM schema_migrations;

-- name: meta_get
-- One value of the store's own settings.
SELECT value FROM meta WHERE key = :key;

-- name: meta_put
-- Set one value of the store's own settings.
INSERT INTO meta (key, value) VALUES (:key, :value)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: meta_delete
-- Remove one value of the store's own settings.
DELETE FROM meta WHERE key = :key;

-- name: meta_put_new
-- Set a value unless there is one.
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO NOTHING;

-- name: entities_ensure
-- Know an entity, and that it was active now.
INSERT INTO entities (tenant, entity, first_seen, last_seen, revision)
VALUES (:tenant, :entity, :now, :now, :revision)
ON CONFLICT (tenant, entity) DO UPDATE
SET last_seen = CASE WHEN excluded.last_seen > last_seen THEN excluded.last_seen ELSE last_seen END;

-- name: entities_list
-- Entities of a tenant by name, with what they have.
SELECT e.entity AS name, e.first_seen, e.last_seen,
    (SELECT count(*) FROM turns t WHERE t.tenant = e.tenant AND t.entity = e.entity) AS turns,
    (SELECT count(*) FROM facts f WHERE f.tenant = e.tenant AND f.entity = e.entity AND f.status = 'current') AS facts,
    (SELECT count(*) FROM sessions s WHERE s.tenant = e.tenant AND s.entity = e.entity) AS sessions
FROM entities e
WHERE e.tenant = :tenant AND (:after IS NULL OR e.entity > :after)
ORDER BY e.entity LIMIT :limit;

-- name: search_extent
-- How much an entity has that can be searched, how often that changed, by which model, whether any of its facts was
-- superseded, whether anything may always be true of it, and whether its memory is on.
SELECT e.passages, e.terms, e.revision, e.vectors_changed, EXISTS (
    SELECT 1 FROM facts f WHERE f.tenant = :tenant AND f.entity = :entity AND f.status = 'historical'
) AS superseded, EXISTS (
    SELECT 1 FROM facts f WHERE f.tenant = :tenant AND f.entity = :entity AND f.status = 'current'
        AND (f.pinned OR f.type = 'identity')
) OR EXISTS (
    SELECT 1 FROM profile_entries w
    WHERE w.tenant = :tenant AND w.entity = :entity AND w.removed_at IS NULL AND w.fact_id IS NULL
) AS standing, coalesce(p.memory, 1) AS memory, (
    SELECT v.model FROM vectors v WHERE v.tenant = :tenant AND v.entity = :entity LIMIT 1
) AS model
FROM entities e
LEFT JOIN preferences p ON p.tenant = e.tenant AND p.entity = e.entity
WHERE e.tenant = :tenant AND e.entity = :entity;

-- name: entities_count
-- How many rows of each kind an entity has.
SELECT
    (SELECT count(*) FROM turns WHERE tenant = :tenant AND entity = :entity) AS turns,
    (SELECT count(*) FROM facts WHERE tenant = :tenant AND entity = :entity AND status = 'current') AS facts,
    (SELECT count(*) FROM sessions WHERE tenant = :tenant AND entity = :entity) AS sessions,
    (SELECT count(*) FROM summaries WHERE tenant = :tenant AND entity = :entity) AS summaries,
    (SELECT count(*) FROM passages WHERE tenant = :tenant AND entity = :entity) AS passages,
    (SELECT count(*) FROM vectors WHERE tenant = :tenant AND entity = :entity) AS vectors,
    (SELECT count(*) FROM jobs WHERE tenant = :tenant AND entity = :entity AND state <> 'done') AS jobs,
    (SELECT count(*) FROM receipts WHERE tenant = :tenant AND entity = :entity) AS receipts;

-- name: entities_count_passages
-- Keep the number of an entity's passages and of their terms.
UPDATE entities SET passages = passages + :passages, terms = terms + :terms
WHERE tenant = :tenant AND entity = :entity;

-- name: entities_vectors_changed
-- Tell caches that vectors of an entity changed.
UPDATE entities SET vectors_changed = vectors_changed + 1 WHERE tenant = :tenant AND entity = :entity;

-- name: sessions_by_name
-- The session that a client gave this name.
SELECT * FROM sessions WHERE tenant = :tenant AND entity = :entity AND name = :name;

-- name: sessions_get
-- One session.
SELECT * FROM sessions WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: sessions_insert
-- Open a session.
INSERT INTO sessions (tenant, entity, id, name, parent_id, started_at, last_at)
VALUES (:tenant, :entity, :id, :name, :parent_id, :now, :now);

-- name: sessions_touch
-- Note that a session went on, and where its history stands.
UPDATE sessions SET head = coalesce(:head, head), last_at = CASE WHEN :now > last_at THEN :now ELSE last_at END
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: sessions_speak
-- Note that somebody speaks in a session now.
UPDATE sessions SET active_at = :now WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: sessions_resting
-- Open sessions in which nobody spoke since a moment, those that rest longest first, of all entities.
SELECT tenant, entity, id FROM sessions WHERE active_at <= :since ORDER BY active_at LIMIT :limit;

-- name: sessions_close
-- Close a session, unless somebody spoke in it since that moment.
UPDATE sessions SET active_at = NULL
WHERE tenant = :tenant AND entity = :entity AND id = :id AND active_at <= :since;

-- name: sessions_drop
-- Note up to which turn of a session requests carry none any more.
UPDATE sessions SET dropped_seq = max(dropped_seq, :seq) WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: sessions_measure
-- How much was said in a session after one of its turns, and with how many credentials.
SELECT count(*) AS turns, coalesce(sum(role = 'user'), 0) AS own, coalesce(sum(length(content)), 0) AS characters,
    count(DISTINCT CASE WHEN role = 'user' THEN coalesce(credential, '') END) AS credentials,
    max(CASE WHEN role = 'user' THEN credential END) AS credential, coalesce(max(seq), 0) AS newest
FROM turns WHERE tenant = :tenant AND entity = :entity AND session_id = :id AND seq > :after;

-- name: sessions_list
-- Sessions, the most recent first.
SELECT * FROM sessions
WHERE tenant = :tenant AND entity = :entity
    AND (:after IS NULL OR (last_at, id) < (SELECT s.last_at, s.id FROM sessions s
        WHERE s.tenant = :tenant AND s.entity = :entity AND s.id = :after))
ORDER BY last_at DESC, id DESC LIMIT :limit;

-- name: sessions_put_mark
-- Remember which conversation a history key belongs to; the newest wins.
INSERT INTO history_marks (tenant, entity, key, session_id, seq, kind, created_at, thread)
VALUES (:tenant, :entity, :key, :session_id, :seq, :kind, :now, :thread)
ON CONFLICT (tenant, entity, key) DO UPDATE
SET session_id = excluded.session_id, seq = excluded.seq, kind = excluded.kind, created_at = excluded.created_at,
    thread = excluded.thread;

-- name: turns_next_seq
-- Count one more turn of a session; its place.
UPDATE sessions SET turns = turns + 1, last_at = CASE WHEN :time > last_at THEN :time ELSE last_at END
WHERE tenant = :tenant AND entity = :entity AND id = :session_id
RETURNING turns AS seq;

-- name: sessions_extend
-- Count further turns of a session, and note where its history stands now; how many turns it has with them.
UPDATE sessions SET turns = turns + :count, head = :head,
    last_at = CASE WHEN :time > last_at THEN :time ELSE last_at END
WHERE tenant = :tenant AND entity = :entity AND id = :session_id
RETURNING turns;

-- name: turns_insert
-- Store one turn.
INSERT INTO turns (tenant, entity, id, session_id, seq, role, name, content, time, complete, learn, credential,
    text_key, timezone, topic, label, recorded_at)
VALUES (:tenant, :entity, :id, :session_id, :seq, :role, :name, :content, :time, :complete, :learn, :credential,
    :text_key, :timezone, :topic, :label, :recorded_at);

-- name: turns_get
-- One turn.
SELECT * FROM turns WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: turns_list
-- Turns in the order they were said, after the given one.
SELECT * FROM turns
WHERE tenant = :tenant AND entity = :entity
    AND (:session_id IS NULL OR session_id = :session_id)
    AND (:after IS NULL OR (time, session_id, seq) > (SELECT a.time, a.session_id, a.seq FROM turns a
        WHERE a.tenant = :tenant AND a.entity = :entity AND a.id = :after))
ORDER BY time, session_id, seq LIMIT :limit;

-- name: turns_span
-- The turns of a session from one place to another, in order.
SELECT * FROM turns
WHERE tenant = :tenant AND entity = :entity AND session_id = :session_id AND seq BETWEEN :first AND :last ORDER BY seq;

-- name: turns_pending
-- Turns of a session that wait for extraction with this credential (or with none), in order.
SELECT * FROM turns
WHERE tenant = :tenant AND entity = :entity AND session_id = :session_id AND learn = 'pending'
    AND credential IS :credential
ORDER BY seq;

-- name: turns_before
-- The assistant's turn before a place in a session.
SELECT * FROM turns
WHERE tenant = :tenant AND entity = :entity AND session_id = :session_id AND seq < :seq AND role = 'assistant'
ORDER BY seq DESC LIMIT 1;

-- name: turns_names
-- The names of an entity's speakers: from one to the next in the index, however many turns each has.
WITH RECURSIVE found(name) AS (
    SELECT min(name) FROM turns WHERE tenant = :tenant AND entity = :entity AND name IS NOT NULL
    UNION ALL
    SELECT (SELECT min(t.name) FROM turns t WHERE t.tenant = :tenant AND t.entity = :entity AND t.name > found.name)
    FROM found WHERE found.name IS NOT NULL
)
SELECT name FROM found WHERE name IS NOT NULL;

-- name: turns_name
-- Give the nameless turn at a place in a session its speaker's name.
UPDATE turns SET name = :name
WHERE tenant = :tenant AND entity = :entity AND session_id = :session_id AND seq = :seq AND name IS NULL;

-- name: turns_at
-- The turn at a place in a session.
SELECT * FROM turns
WHERE tenant = :tenant AND entity = :entity AND session_id = :session_id AND seq = :seq;

-- name: turns_replace
-- Say anew what a turn says.
UPDATE turns SET content = :content, complete = :complete, text_key = :text_key
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: turns_with_letters
-- Turns in which some letters stand, whatever their case.
SELECT * FROM turns
WHERE tenant = :tenant AND entity = :entity AND lower(content) LIKE '%' || lower(:letters) || '%'
ORDER BY id DESC LIMIT :limit;

-- name: turns_revive
-- Offer a session's turns to extraction again whose job had died.
UPDATE turns SET learn = 'pending'
WHERE tenant = :tenant AND entity = :entity AND session_id = :session_id AND learn = 'dead';

-- name: turns_delete
-- Remove one turn.
DELETE FROM turns WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: passages_of
-- The passages of one turn, fact or summary.
SELECT id, terms FROM passages
WHERE tenant = :tenant AND entity = :entity AND kind = :kind AND owner_id = :owner_id;

-- name: passages_of_entity
-- Passages of an entity, a step at a time.
SELECT id, terms FROM passages WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: passages_from
-- Passages of everybody, a step at a time (to build indexes).
SELECT id, tenant, entity, terms FROM passages WHERE id > :after ORDER BY id LIMIT :limit;

-- name: passages_after
-- The ids of an entity's passages that were stored after one of them.
SELECT id FROM passages WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: passages_delete
-- Remove one passage.
DELETE FROM passages WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: passages_delete_until
-- Remove an entity's passages up to one of them.
DELETE FROM passages WHERE tenant = :tenant AND entity = :entity AND id <= :last;

-- name: vectors_put
-- Store a passage's vector.
INSERT INTO vectors (tenant, entity, passage_id, model, dimensions, vector)
VALUES (:tenant, :entity, :passage_id, :model, :dimensions, :vector)
ON CONFLICT (tenant, entity, passage_id) DO UPDATE
SET model = excluded.model, dimensions = excluded.dimensions, vector = excluded.vector;

-- name: vectors_delete
-- Remove a passage's vector.
DELETE FROM vectors WHERE tenant = :tenant AND entity = :entity AND passage_id = :passage_id;

-- name: vectors_delete_all
-- Remove all vectors of an entity.
DELETE FROM vectors WHERE tenant = :tenant AND entity = :entity;

-- name: vectors_models
-- The models whose vectors are stored. Each is found by the one before it: to group all passages would read them all.
WITH RECURSIVE m (model) AS (
    SELECT min(model) FROM passages
    UNION ALL
    SELECT (SELECT min(p.model) FROM passages p WHERE p.model > m.model) FROM m WHERE m.model IS NOT NULL
)
SELECT m.model, v.dimensions
FROM m
CROSS JOIN passages p ON p.id = (SELECT min(o.id) FROM passages o WHERE o.model = m.model)
CROSS JOIN vectors v ON v.tenant = p.tenant AND v.entity = p.entity AND v.passage_id = p.id;

-- name: vectors_from
-- One model's vectors of everybody, a step at a time (to build indexes).
SELECT p.id AS passage_id, v.tenant, v.entity, v.vector
FROM passages p
JOIN vectors v ON v.tenant = p.tenant AND v.entity = p.entity AND v.passage_id = p.id
WHERE p.model = :model AND p.id > :after AND v.dimensions = :dimensions
ORDER BY p.id LIMIT :limit;

-- name: vector_indexes
-- Every vector index.
SELECT model, dimensions, name, stale FROM vector_indexes;

-- name: vector_index
-- The vector index of one model.
SELECT name, stale FROM vector_indexes WHERE model = :model AND dimensions = :dimensions;

-- name: vector_indexes_put
-- Note that a vector index is complete.
INSERT INTO vector_indexes (model, dimensions, name, stale) VALUES (:model, :dimensions, :name, 0)
ON CONFLICT (model, dimensions) DO UPDATE SET name = excluded.name, stale = 0;

-- name: vector_indexes_stale
-- Note that no vector index can be relied on.
UPDATE vector_indexes SET stale = 1;

-- name: vector_indexes_drop
-- Forget the vector index of one model.
DELETE FROM vector_indexes WHERE model = :model AND dimensions = :dimensions;

-- name: vector_indexes_forget
-- Forget all vector indexes.
DELETE FROM vector_indexes;

-- name: vectors_model
-- The model whose vectors an entity is searched by.
SELECT model FROM vectors WHERE tenant = :tenant AND entity = :entity LIMIT 1;

-- name: reembedding_models
-- How many passages each model's vectors are of.
SELECT model, count(*) AS passages FROM passages WHERE model IS NOT NULL GROUP BY model;

-- name: reembedding_next
-- Somebody who has vectors of a model.
SELECT tenant, entity FROM passages WHERE model = :model ORDER BY id DESC LIMIT 1;

-- name: reembedding_behind
-- Whether an entity has vectors of another model.
SELECT 1 AS found FROM passages
WHERE tenant = :tenant AND entity = :entity AND model IS NOT NULL AND model <> :model LIMIT 1;

-- name: reembedding_left
-- How many passages an entity has whose vector of a model is not in place.
SELECT count(*) AS passages FROM passages
WHERE tenant = :tenant AND entity = :entity AND (model IS NULL OR model <> :model);

-- name: reembedding_staged
-- How many vectors of a model wait to take their place.
SELECT count(*) AS passages FROM vectors_next WHERE model = :model;

-- name: reembedding_staged_of
-- How many vectors of a model wait to take their place for an entity.
SELECT count(*) AS passages FROM passages p JOIN vectors_next n ON n.passage_id = p.id
WHERE p.tenant = :tenant AND p.entity = :entity AND n.model = :model;

-- name: reembedding_unstaged
-- Passages of an entity that have no vector of a model, neither in place nor waiting, a step at a time.
SELECT p.id FROM passages p
WHERE p.tenant = :tenant AND p.entity = :entity AND p.id > :after AND (p.model IS NULL OR p.model <> :model)
    AND NOT EXISTS (SELECT 1 FROM vectors_next n WHERE n.passage_id = p.id AND n.model = :model)
ORDER BY p.id LIMIT :limit;

-- name: reembedding_stage
-- Keep a passage's vector of another model, if the passage is still there.
INSERT INTO vectors_next (passage_id, model, dimensions, vector)
SELECT p.id, :model, :dimensions, :vector FROM passages p
WHERE p.tenant = :tenant AND p.entity = :entity AND p.id = :passage_id
ON CONFLICT (passage_id) DO UPDATE
SET model = excluded.model, dimensions = excluded.dimensions, vector = excluded.vector;

-- name: reembedding_waiting
-- An entity's vectors of a model that wait to take their place.
SELECT p.id AS passage_id, n.dimensions, n.vector
FROM passages p JOIN vectors_next n ON n.passage_id = p.id
WHERE p.tenant = :tenant AND p.entity = :entity AND n.model = :model;

-- name: reembedding_put
-- Put an entity's waiting vectors in the place of the old ones.
INSERT INTO vectors (tenant, entity, passage_id, model, dimensions, vector)
SELECT p.tenant, p.entity, p.id, n.model, n.dimensions, n.vector
FROM passages p JOIN vectors_next n ON n.passage_id = p.id
WHERE p.tenant = :tenant AND p.entity = :entity AND n.model = :model
ON CONFLICT (tenant, entity, passage_id) DO UPDATE
SET model = excluded.model, dimensions = excluded.dimensions, vector = excluded.vector;

-- name: reembedding_note
-- Note for all of an entity's passages whose vectors they have now.
UPDATE passages SET model = :model WHERE tenant = :tenant AND entity = :entity AND (model IS NULL OR model <> :model);

-- name: reembedding_forget
-- Forget an entity's waiting vectors.
DELETE FROM vectors_next
WHERE passage_id IN (SELECT id FROM passages WHERE tenant = :tenant AND entity = :entity);

-- name: reembedding_sweep
-- Forget all waiting vectors.
DELETE FROM vectors_next;

-- name: facts_insert
-- Store a fact; nothing happens where a current one says the same.
INSERT INTO facts (tenant, entity, id, text, type, tag, slot, significance, confidence, source_role, quote, turn_id,
    status, valid_from, valid_until, recorded_at, updated_at, superseded_at, superseded_by, reference_time, started_at,
    reinforced_count, recall_count, pinned, thread_status, emotional_weight, emotional_valence, content_key, slot_key,
    lifetime, expires_at, reinforced_at, recalled_at, said_at, engagement)
VALUES (:tenant, :entity, :id, :text, :type, :tag, :slot, :significance, :confidence, :source_role, :quote, :turn_id,
    :status, :valid_from, :valid_until, :recorded_at, :updated_at, :superseded_at, :superseded_by, :reference_time,
    :started_at, :reinforced_count, :recall_count, :pinned, :thread_status, :emotional_weight, :emotional_valence,
    :content_key, :slot_key, :lifetime, :expires_at, :reinforced_at, :recalled_at, :said_at, :engagement)
ON CONFLICT (tenant, entity, content_key) WHERE status = 'current' DO NOTHING;

-- name: facts_write
-- Write all fields of a fact that exists.
UPDATE facts SET text = :text, type = :type, tag = :tag, slot = :slot, significance = :significance,
    confidence = :confidence, source_role = :source_role, quote = :quote, turn_id = :turn_id, status = :status,
    valid_from = :valid_from, valid_until = :valid_until, recorded_at = :recorded_at, updated_at = :updated_at,
    superseded_at = :superseded_at, superseded_by = :superseded_by, reference_time = :reference_time,
    started_at = :started_at, reinforced_count = :reinforced_count, recall_count = :recall_count, pinned = :pinned,
    thread_status = :thread_status, emotional_weight = :emotional_weight, emotional_valence = :emotional_valence,
    content_key = :content_key, slot_key = :slot_key, lifetime = :lifetime, expires_at = :expires_at,
    reinforced_at = :reinforced_at, recalled_at = :recalled_at, said_at = :said_at, engagement = :engagement
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: facts_get
-- One fact, whatever its status.
SELECT * FROM fact_rows WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: facts_with_content_key
-- Facts that say the same thing, whatever their status, the newest first.
SELECT * FROM fact_rows WHERE tenant = :tenant AND entity = :entity AND content_key = :content_key ORDER BY id DESC;

-- name: facts_with_slot
-- Current facts that fill a slot, the newest first.
SELECT * FROM fact_rows WHERE tenant = :tenant AND entity = :entity AND slot = :slot AND status = 'current'
ORDER BY id DESC;

-- name: facts_with_attribute
-- Facts that fill an attribute of one value or ever did, in the order they were made.
SELECT * FROM fact_rows WHERE tenant = :tenant AND entity = :entity AND slot_key = :slot_key ORDER BY id;

-- name: facts_said_again
-- When a fact was last said.
UPDATE facts SET said_at = :said_at
WHERE tenant = :tenant AND entity = :entity AND id = :id AND (said_at IS NULL OR said_at < :said_at);

-- name: vectors_of_facts
-- Every fact that is indexed, with its vector, if it has one of the model.
SELECT p.owner_id, v.vector
FROM passages p
LEFT JOIN vectors v ON v.tenant = :tenant AND v.entity = :entity AND v.passage_id = p.id AND v.model = :model
WHERE p.tenant = :tenant AND p.entity = :entity AND p.kind = 'fact' AND p.ordinal = 0;

-- name: facts_single_valued
-- Current facts of attributes that have one value at a time.
SELECT * FROM fact_rows WHERE tenant = :tenant AND entity = :entity AND slot_key IS NOT NULL AND status = 'current'
ORDER BY id;

-- name: facts_light
-- Id, text and slot of every current fact.
SELECT id, text, slot FROM facts WHERE tenant = :tenant AND entity = :entity AND status = 'current' ORDER BY id;

-- name: facts_hidden
-- The words of a turn's facts that must not be shown.
SELECT coalesce(quote, text) AS words FROM facts
WHERE tenant = :tenant AND entity = :entity AND turn_id = :turn_id AND status IN ('forgotten', 'quarantined')
ORDER BY id;

-- name: facts_forgotten_elsewhere
-- The words of forgotten facts of other turns, but for those that this turn says anew.
SELECT f.quote, f.text FROM facts f
WHERE f.tenant = :tenant AND f.entity = :entity AND f.status = 'forgotten'
  AND (f.turn_id IS NULL OR f.turn_id <> :turn_id)
  AND NOT EXISTS (
    SELECT 1 FROM facts c
    WHERE c.tenant = f.tenant AND c.entity = f.entity AND c.turn_id = :turn_id AND c.status = 'current'
      AND (c.content_key = f.content_key OR c.quote = f.quote)
  )
ORDER BY f.id;

-- name: facts_delete
-- Remove a fact with its history.
DELETE FROM facts WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: facts_unlink
-- Let no fact point to a fact that is removed.
UPDATE facts SET superseded_by = NULL WHERE tenant = :tenant AND entity = :entity AND superseded_by = :id;

-- name: facts_reinforced_in
-- Note that a session said a fact again; nothing happens the second time.
INSERT INTO fact_reinforcements (tenant, entity, fact_id, session_id, time)
VALUES (:tenant, :entity, :fact_id, :session_id, :now)
ON CONFLICT DO NOTHING;

-- name: facts_add_change
-- Write down what happened to a fact.
INSERT INTO fact_changes (tenant, entity, fact_id, number, time, kind, reason, before, after)
SELECT :tenant, :entity, :fact_id, coalesce(max(number), 0) + 1, :time, :kind, :reason, :before, :after
FROM fact_changes WHERE tenant = :tenant AND entity = :entity AND fact_id = :fact_id;

-- name: facts_changes
-- What happened to a fact, in order.
SELECT * FROM fact_changes WHERE tenant = :tenant AND entity = :entity AND fact_id = :fact_id ORDER BY number;

-- name: facts_hide_span
-- Keep where an erased fact stood in its turn, without its words.
INSERT INTO hidden_spans (tenant, entity, turn_id, start, "end") VALUES (:tenant, :entity, :turn_id, :start, :end)
ON CONFLICT DO NOTHING;

-- name: facts_hidden_spans
-- Where erased facts stood in a turn.
SELECT start, "end" FROM hidden_spans WHERE tenant = :tenant AND entity = :entity AND turn_id = :turn_id ORDER BY start;

-- name: contradictions_insert
-- Something was said against a fact.
INSERT INTO contradictions (tenant, entity, id, fact_id, stated_id, kind, status, gate_path, gate_similarity,
    gate_reason, created_at, updated_at)
VALUES (:tenant, :entity, :id, :fact_id, :stated_id, :kind, 'open', :gate_path, :gate_similarity, :gate_reason, :now,
    :now);

-- name: contradictions_repeat
-- It was said again: counted; when it was first seen stays.
UPDATE contradictions SET repeat_count = repeat_count + 1, updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND fact_id = :fact_id AND stated_id = :stated_id;

-- name: contradictions_get
-- One contradiction with the texts of both sides.
SELECT c.*, f.text AS stored, s.text AS stated, f.slot
FROM contradictions c
JOIN facts f ON f.tenant = c.tenant AND f.entity = c.entity AND f.id = c.fact_id
JOIN facts s ON s.tenant = c.tenant AND s.entity = c.entity AND s.id = c.stated_id
WHERE c.tenant = :tenant AND c.entity = :entity AND c.id = :id
  AND f.status <> 'forgotten' AND s.status <> 'forgotten';

-- name: contradictions_counts
-- How many contradictions there are of each status.
SELECT status, count(*) AS number FROM contradictions WHERE tenant = :tenant AND entity = :entity GROUP BY status;

-- name: contradictions_set_status
-- Hold, resolve or open a contradiction again.
UPDATE contradictions SET status = :status, decision = :decision, note = coalesce(:note, note),
    held_value = :held_value, resolved_at = :resolved_at, updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: contradictions_lapse
-- What was held on a value that is no longer the fact's is open again.
UPDATE contradictions SET status = 'open', held_value = NULL, updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND fact_id = :fact_id AND status = 'held'
  AND NOT EXISTS (
    SELECT 1 FROM facts f WHERE f.tenant = contradictions.tenant AND f.entity = contradictions.entity
      AND f.id = contradictions.fact_id AND f.status = 'current' AND f.content_key = contradictions.held_value
  );

-- name: contradictions_overtaken
-- What was noticed in passing has been learned since: decided by what the person said.
UPDATE contradictions SET status = 'resolved', decision = 'user_stated', resolved_at = :now, updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND fact_id = :fact_id AND kind = 'inline' AND status <> 'resolved';

-- name: collisions_list
-- Collisions, the newest first.
SELECT * FROM collisions WHERE tenant = :tenant AND entity = :entity ORDER BY id DESC;

-- name: collisions_get
-- One collision.
SELECT * FROM collisions WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: collisions_raise
-- Open a collision; one that was settled is not raised again.
INSERT INTO collisions (tenant, entity, id, family, subject, status, created_at, updated_at)
VALUES (:tenant, :entity, :id, :family, :subject, 'open', :now, :now)
ON CONFLICT (tenant, entity, family, subject) DO UPDATE SET status = 'open', updated_at = :now
WHERE collisions.status = 'resolved';

-- name: collisions_set_status
-- Settle a collision, or note that it is gone.
UPDATE collisions SET status = :status, kept_side = coalesce(:kept_side, kept_side), note = coalesce(:note, note),
    settled_at = coalesce(:settled_at, settled_at), updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: facts_all
-- Every fact of an entity, in the order they were made.
SELECT * FROM fact_rows WHERE tenant = :tenant AND entity = :entity ORDER BY id;

-- name: facts_changes_since
-- What happened to an entity's facts after a moment, the last first.
SELECT * FROM fact_changes WHERE tenant = :tenant AND entity = :entity AND time > :time
ORDER BY fact_id, number DESC;

-- name: facts_due
-- Current facts whose time has come, of anybody.
SELECT tenant, entity, id, expires_at FROM facts
WHERE status = 'current' AND expires_at IS NOT NULL AND expires_at <= :now AND pinned = 0
ORDER BY expires_at LIMIT :limit;

-- name: facts_next_due
-- When the next fact's time comes.
SELECT min(expires_at) AS due FROM facts WHERE status = 'current' AND expires_at IS NOT NULL AND pinned = 0;

-- name: summaries_insert
-- Store a summary.
INSERT INTO summaries (tenant, entity, id, session_id, text, started_at, ended_at, created_at, kind, first_seq, last_seq)
VALUES (:tenant, :entity, :id, :session_id, :text, :started_at, :ended_at, :created_at, :kind, :first_seq, :last_seq);

-- name: summaries_get
-- One summary.
SELECT * FROM summaries WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: summaries_list
-- Summaries, the most recent conversation first.
SELECT * FROM summaries
WHERE tenant = :tenant AND entity = :entity
    AND (:after_time IS NULL OR (ended_at, id) < (:after_time, :after_id))
ORDER BY ended_at DESC, id DESC LIMIT :limit;

-- name: summaries_of_session
-- The summaries of one session, in the order of the turns they tell of.
SELECT * FROM summaries WHERE tenant = :tenant AND entity = :entity AND session_id = :session_id
ORDER BY first_seq, last_seq, id;

-- name: summaries_old
-- Summaries of conversations that ended before a moment, but for those in which something weighty was said with feeling.
SELECT s.tenant, s.entity, s.id FROM summaries s
WHERE s.ended_at < :before AND NOT EXISTS (
    SELECT 1 FROM turns t JOIN facts f ON f.tenant = t.tenant AND f.entity = t.entity AND f.turn_id = t.id
    WHERE t.tenant = s.tenant AND t.entity = s.entity AND t.session_id = s.session_id
        AND f.status IN ('current', 'historical', 'expired')
        AND f.emotional_weight >= :weight AND f.significance >= :significance
)
ORDER BY s.ended_at LIMIT :limit;

-- name: summaries_delete
-- Remove one summary.
DELETE FROM summaries WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: jobs_insert
-- Store a job.
INSERT INTO jobs (tenant, entity, id, kind, session_id, state, run_after, credential, created_at, updated_at)
VALUES (:tenant, :entity, :id, :kind, :session_id, 'pending', :run_after, :credential, :now, :now);

-- name: jobs_same
-- The job that already waits to do the same.
SELECT * FROM jobs
WHERE tenant = :tenant AND entity = :entity AND kind = :kind AND session_id IS :session_id
    AND credential IS :credential AND state IN ('pending', 'waiting')
ORDER BY id LIMIT 1;

-- name: jobs_reschedule
-- Move a waiting job in time.
UPDATE jobs SET run_after = :run_after, updated_at = :now WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: jobs_get
-- A job by its id alone, of whatever entity.
SELECT * FROM jobs WHERE id = :id;

-- name: jobs_start
-- Give a job to a worker for the time of a lease.
UPDATE jobs SET state = 'running', attempts = attempts + 1, worker = :worker, lease_until = :lease_until,
    updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: jobs_renew
-- Prolong the lease of a job that is still this attempt's.
UPDATE jobs SET lease_until = :lease_until, updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND id = :id AND state = 'running' AND attempts = :attempts;

-- name: jobs_end
-- End this attempt at a job, unless the job is not this attempt's any more.
UPDATE jobs SET state = :state, run_after = :run_after, error = :error, attempts = attempts - :uncounted,
    lease_until = NULL, worker = NULL, updated_at = :now
WHERE tenant = :tenant AND entity = :entity AND id = :id AND state = 'running' AND attempts = :attempts;

-- name: jobs_replay
-- Bring a dead job back.
UPDATE jobs SET state = 'pending', attempts = 0, run_after = :now, error = NULL, updated_at = :now
WHERE id = :id AND state = 'dead';

-- name: jobs_counts
-- How many jobs are in each state.
SELECT state, count(*) AS jobs FROM jobs GROUP BY state;

-- name: jobs_make_due
-- Let every debounced job run now.
UPDATE jobs SET run_after = :now WHERE state = 'pending' AND run_after > :now;

-- name: jobs_next_due
-- When the next job is due, or the next lease runs out.
SELECT min(CASE WHEN state = 'running' THEN lease_until ELSE run_after END) AS due FROM jobs
WHERE state IN ('pending', 'waiting', 'running');

-- name: jobs_prune
-- Remove jobs done long ago.
DELETE FROM jobs WHERE state = 'done' AND updated_at < :before;

-- name: receipts_insert
-- Store a receipt.
INSERT INTO receipts (tenant, entity, request_id, session_id, turn_key, time, block, tokens)
VALUES (:tenant, :entity, :request_id, :session_id, :turn_key, :time, :block, :tokens);

-- name: receipts_insert_item
-- Store one line of a receipt.
INSERT INTO receipt_items (tenant, entity, request_id, ordinal, kind, owner_id, section, text, score, reasons)
VALUES (:tenant, :entity, :request_id, :ordinal, :kind, :owner_id, :section, :text, :score, :reasons);

-- name: receipts_settle
-- Say which conversation a request stands in.
UPDATE receipts SET session_id = :session_id
WHERE tenant = :tenant AND entity = :entity AND request_id = :request_id AND session_id IS NULL;

-- name: receipts_get
-- A receipt by its request id alone; the caller checks whose it is.
SELECT * FROM receipts WHERE request_id = :request_id;

-- name: receipts_items
-- The lines of a receipt.
SELECT * FROM receipt_items WHERE tenant = :tenant AND entity = :entity AND request_id = :request_id ORDER BY ordinal;

-- name: receipts_redact
-- Drop the block of a receipt whose source is gone.
UPDATE receipts SET block = '', redacted = 1 WHERE tenant = :tenant AND entity = :entity AND request_id = :request_id;

-- name: receipts_redact_items
-- Drop the words of a forgotten or erased source from all receipts.
UPDATE receipt_items SET text = ''
WHERE tenant = :tenant AND entity = :entity AND kind = :kind AND owner_id = :owner_id;

-- name: receipts_prune_old
-- Remove receipts older than they are kept.
DELETE FROM receipts WHERE time < :before;

-- name: receipts_prune_many
-- Remove the oldest receipts beyond the number that is kept.
DELETE FROM receipts WHERE request_id IN (SELECT request_id FROM receipts ORDER BY time DESC LIMIT -1 OFFSET :keep);

-- name: placed_put
-- Store a part of a conversation's blocks, or that it was used again; nothing for an entity that is not known.
INSERT INTO placed (tenant, entity, kind, key, text, tokens, items, used_at)
SELECT tenant, entity, :kind, :key, :text, :tokens, :items, :used_at
FROM entities WHERE tenant = :tenant AND entity = :entity
ON CONFLICT (tenant, entity, kind, key) DO UPDATE
SET text = excluded.text, tokens = excluded.tokens, items = excluded.items, used_at = excluded.used_at;

-- name: placed_remove
-- Remove one part.
DELETE FROM placed WHERE tenant = :tenant AND entity = :entity AND kind = :kind AND key = :key;

-- name: placed_prune
-- Remove parts that were not used for long.
DELETE FROM placed WHERE used_at < :before;

-- name: erase_placed
-- All parts of an entity.
DELETE FROM placed WHERE tenant = :tenant AND entity = :entity;

-- name: usage_add
-- Count model calls.
INSERT INTO usage (tenant, entity, day, purpose, calls, input_tokens, output_tokens)
VALUES (:tenant, :entity, :day, :purpose, :calls, :input_tokens, :output_tokens)
ON CONFLICT (tenant, entity, day, purpose) DO UPDATE
SET calls = usage.calls + excluded.calls, input_tokens = usage.input_tokens + excluded.input_tokens,
    output_tokens = usage.output_tokens + excluded.output_tokens;

-- name: usage_today
-- Calls of all entities on a day.
SELECT coalesce(sum(calls), 0) AS calls FROM usage WHERE day = :day AND purpose = :purpose;

-- name: usage_list
-- An entity's use of models, the newest day first.
SELECT day, purpose, calls, input_tokens, output_tokens FROM usage
WHERE tenant = :tenant AND entity = :entity
    AND (:after_day IS NULL OR day < :after_day OR (day = :after_day AND purpose > :after_purpose))
ORDER BY day DESC, purpose LIMIT :limit;

-- name: erase_hidden_spans
-- Erasure: where erased facts stood.
DELETE FROM hidden_spans WHERE tenant = :tenant AND entity = :entity;

-- name: erase_fact_changes
-- Erasure: the history of facts.
DELETE FROM fact_changes WHERE tenant = :tenant AND entity = :entity;

-- name: erase_fact_reinforcements
-- Erasure: which sessions repeated facts.
DELETE FROM fact_reinforcements WHERE tenant = :tenant AND entity = :entity;

-- name: erase_contradictions
-- Erasure: what was said against facts.
DELETE FROM contradictions WHERE tenant = :tenant AND entity = :entity;

-- name: erase_collisions
-- Erasure: facts that exclude each other.
DELETE FROM collisions WHERE tenant = :tenant AND entity = :entity;

-- name: erase_facts
-- Erasure: facts.
DELETE FROM facts WHERE tenant = :tenant AND entity = :entity;

-- name: erase_receipt_items
-- Erasure: lines of receipts.
DELETE FROM receipt_items WHERE tenant = :tenant AND entity = :entity;

-- name: erase_receipts
-- Erasure: receipts.
DELETE FROM receipts WHERE tenant = :tenant AND entity = :entity;

-- name: erase_jobs
-- Erasure: background work.
DELETE FROM jobs WHERE tenant = :tenant AND entity = :entity;

-- name: erase_summaries
-- Erasure: summaries.
DELETE FROM summaries WHERE tenant = :tenant AND entity = :entity;

-- name: erase_turns
-- Erasure: turns.
DELETE FROM turns WHERE tenant = :tenant AND entity = :entity;

-- name: erase_marks
-- Erasure: keys of conversations.
DELETE FROM history_marks WHERE tenant = :tenant AND entity = :entity;

-- name: erase_sessions
-- Erasure: sessions.
DELETE FROM sessions WHERE tenant = :tenant AND entity = :entity;

-- name: erase_usage
-- Erasure: use of models.
DELETE FROM usage WHERE tenant = :tenant AND entity = :entity;

-- name: erase_entity
-- Erasure: the entity itself.
DELETE FROM entities WHERE tenant = :tenant AND entity = :entity;
