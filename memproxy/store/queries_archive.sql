-- Named queries of what is taken away and brought back whole: rows of an entity, a page at a time, as they are.

-- name: archive_entity
-- When an entity was first and last seen.
SELECT first_seen, last_seen FROM entities WHERE tenant = :tenant AND entity = :entity;

-- name: archive_preferences
-- What an entity decided, and when.
SELECT excluded_tags, learning, memory, patterns, updated_at FROM preferences
WHERE tenant = :tenant AND entity = :entity;

-- name: archive_sessions
-- Sessions in the order they were opened.
SELECT id, name, parent_id, turns, started_at, last_at, active_at, dropped_seq FROM sessions
WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_turns
-- Turns, session after session, each in its order.
SELECT id, session_id, seq, role, name, content, time, complete, learn, timezone, topic, label, recorded_at FROM turns
WHERE tenant = :tenant AND entity = :entity AND (session_id, seq) > (:after, :after_seq)
ORDER BY session_id, seq LIMIT :limit;

-- name: archive_facts
-- Facts of whatever status, in the order they were made.
SELECT * FROM facts WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_summaries
-- Summaries in the order they were made.
SELECT id, session_id, text, started_at, ended_at, created_at, kind, first_seq, last_seq FROM summaries
WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_artifacts
-- Where code and data stand, in the order they were noted.
SELECT id, session_id, turn_id, kind, language, name, description, start, "end", superseded_by FROM artifacts
WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_contradictions
-- Contradictions in the order they arose.
SELECT id, fact_id, stated_id, kind, status, decision, note, held_value, repeat_count, gate_path, gate_similarity,
    gate_reason, created_at, updated_at, resolved_at FROM contradictions
WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_collisions
-- Collisions in the order they were found.
SELECT id, family, subject, status, kept_side, note, created_at, updated_at, settled_at FROM collisions
WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_profile_entries
-- Entries of the profile in the order they were written.
SELECT id, field, key, value, fact_id, recorded_at, removed_at FROM profile_entries
WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_denied
-- That something was denied, in order.
SELECT id, denied_at FROM denied WHERE tenant = :tenant AND entity = :entity AND id > :after ORDER BY id LIMIT :limit;

-- name: archive_entity_put
-- Know an entity, since and until when.
INSERT INTO entities (tenant, entity, first_seen, last_seen, revision)
VALUES (:tenant, :entity, :first_seen, :last_seen, :revision)
ON CONFLICT (tenant, entity) DO UPDATE
SET first_seen = CASE WHEN excluded.first_seen < first_seen THEN excluded.first_seen ELSE first_seen END,
    last_seen = CASE WHEN excluded.last_seen > last_seen THEN excluded.last_seen ELSE last_seen END;

-- name: archive_preferences_put
-- Bring back what an entity decided, unless it decided since.
INSERT INTO preferences (tenant, entity, excluded_tags, learning, memory, patterns, updated_at)
VALUES (:tenant, :entity, :excluded_tags, :learning, :memory, :patterns, :updated_at) ON CONFLICT DO NOTHING;

-- name: archive_sessions_put
-- Bring back a session.
INSERT INTO sessions (tenant, entity, id, name, parent_id, turns, started_at, last_at, active_at, dropped_seq)
VALUES (:tenant, :entity, :id, :name, :parent_id, :turns, :started_at, :last_at, :active_at, :dropped_seq)
ON CONFLICT DO NOTHING;

-- name: archive_turns_put
-- Bring back a turn.
INSERT INTO turns (tenant, entity, id, session_id, seq, role, name, content, time, complete, learn, text_key, timezone,
    topic, label, recorded_at)
VALUES (:tenant, :entity, :id, :session_id, :seq, :role, :name, :content, :time, :complete, :learn, :text_key,
    :timezone, :topic, :label, :recorded_at)
ON CONFLICT DO NOTHING;

-- name: archive_facts_put
-- Bring back a fact.
INSERT INTO facts (tenant, entity, id, text, type, tag, slot, significance, confidence, source_role, quote, turn_id,
    status, valid_from, valid_until, recorded_at, updated_at, superseded_at, superseded_by, reference_time, started_at,
    reinforced_count, recall_count, recalled_at, pinned, thread_status, emotional_weight, emotional_valence,
    content_key, slot_key, lifetime, expires_at, reinforced_at, said_at, engagement)
VALUES (:tenant, :entity, :id, :text, :type, :tag, :slot, :significance, :confidence, :source_role, :quote, :turn_id,
    :status, :valid_from, :valid_until, :recorded_at, :updated_at, :superseded_at, :superseded_by, :reference_time,
    :started_at, :reinforced_count, :recall_count, :recalled_at, :pinned, :thread_status, :emotional_weight,
    :emotional_valence, :content_key, :slot_key, :lifetime, :expires_at, :reinforced_at, :said_at, :engagement)
ON CONFLICT DO NOTHING;

-- name: archive_changes_put
-- Bring back an entry of a fact's history.
INSERT INTO fact_changes (tenant, entity, fact_id, number, time, kind, reason, before, after)
VALUES (:tenant, :entity, :fact_id, :number, :time, :kind, :reason, :before, :after) ON CONFLICT DO NOTHING;

-- name: archive_summaries_put
-- Bring back a summary.
INSERT INTO summaries (tenant, entity, id, session_id, text, started_at, ended_at, created_at, kind, first_seq, last_seq)
VALUES (:tenant, :entity, :id, :session_id, :text, :started_at, :ended_at, :created_at, :kind, :first_seq, :last_seq)
ON CONFLICT DO NOTHING;

-- name: archive_artifacts_put
-- Bring back where code or data stands.
INSERT INTO artifacts (tenant, entity, id, session_id, turn_id, kind, language, name, description, start, "end",
    superseded_by)
VALUES (:tenant, :entity, :id, :session_id, :turn_id, :kind, :language, :name, :description, :start, :end,
    :superseded_by)
ON CONFLICT DO NOTHING;

-- name: archive_contradictions_put
-- Bring back a contradiction.
INSERT INTO contradictions (tenant, entity, id, fact_id, stated_id, kind, status, decision, note, held_value,
    repeat_count, gate_path, gate_similarity, gate_reason, created_at, updated_at, resolved_at)
VALUES (:tenant, :entity, :id, :fact_id, :stated_id, :kind, :status, :decision, :note, :held_value, :repeat_count,
    :gate_path, :gate_similarity, :gate_reason, :created_at, :updated_at, :resolved_at)
ON CONFLICT DO NOTHING;

-- name: archive_collisions_put
-- Bring back a collision.
INSERT INTO collisions (tenant, entity, id, family, subject, status, kept_side, note, created_at, updated_at,
    settled_at)
VALUES (:tenant, :entity, :id, :family, :subject, :status, :kept_side, :note, :created_at, :updated_at, :settled_at)
ON CONFLICT DO NOTHING;

-- name: archive_profile_entries_put
-- Bring back an entry of the profile.
INSERT INTO profile_entries (tenant, entity, id, field, key, value, fact_id, recorded_at, removed_at)
VALUES (:tenant, :entity, :id, :field, :key, :value, :fact_id, :recorded_at, :removed_at) ON CONFLICT DO NOTHING;

-- name: archive_denied_put
-- Bring back that something was denied.
INSERT INTO denied (tenant, entity, id, denied_at) VALUES (:tenant, :entity, :id, :denied_at) ON CONFLICT DO NOTHING;

-- name: archive_session_head
-- Note where a session's history stands, and nothing else.
UPDATE sessions SET head = :head WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: archive_turns_unindexed
-- Turns that have no passage, in the order of their ids.
SELECT t.* FROM turns t
WHERE t.tenant = :tenant AND t.entity = :entity AND t.id > :after AND NOT EXISTS (
    SELECT 1 FROM passages p
    WHERE p.tenant = :tenant AND p.entity = :entity AND p.kind = 'turn' AND p.owner_id = t.id
)
ORDER BY t.id LIMIT :limit;

-- name: archive_facts_unindexed
-- Current facts that have no passage, in the order of their ids.
SELECT f.* FROM fact_rows f
WHERE f.tenant = :tenant AND f.entity = :entity AND f.id > :after AND f.status = 'current' AND NOT EXISTS (
    SELECT 1 FROM passages p
    WHERE p.tenant = :tenant AND p.entity = :entity AND p.kind = 'fact' AND p.owner_id = f.id
)
ORDER BY f.id LIMIT :limit;

-- name: archive_summaries_unindexed
-- Summaries of conversations that have no passage, in the order of their ids.
SELECT s.* FROM summaries s
WHERE s.tenant = :tenant AND s.entity = :entity AND s.id > :after AND s.kind = 'conversation' AND NOT EXISTS (
    SELECT 1 FROM passages p
    WHERE p.tenant = :tenant AND p.entity = :entity AND p.kind = 'summary' AND p.owner_id = s.id
)
ORDER BY s.id LIMIT :limit;

-- name: archive_pending_sessions
-- Sessions with turns that wait to be learned from, and need no credential for it.
SELECT DISTINCT session_id FROM turns
WHERE tenant = :tenant AND entity = :entity AND learn = 'pending' AND credential IS NULL ORDER BY session_id;

-- name: archive_sessions_grow
-- A session that is there went on elsewhere: the places that were given out there are given out.
UPDATE sessions SET turns = max(turns, :turns), last_at = max(last_at, :last_at)
WHERE tenant = :tenant AND entity = :entity AND id = :id;

-- name: archive_words_put
-- Bring back a keyed hash of what was denied.
INSERT INTO denied_words (tenant, entity, denied_id, hash, size) VALUES (:tenant, :entity, :denied_id, :hash, :size)
ON CONFLICT DO NOTHING;

-- name: archive_repeated_put
-- Bring back that a session said a fact again.
INSERT INTO fact_reinforcements (tenant, entity, fact_id, session_id, time)
VALUES (:tenant, :entity, :fact_id, :session_id, :time) ON CONFLICT DO NOTHING;

-- name: archive_spans_put
-- Bring back where something stood that is not to be recalled.
INSERT INTO hidden_spans (tenant, entity, turn_id, start, "end") VALUES (:tenant, :entity, :turn_id, :start, :end)
ON CONFLICT DO NOTHING;

-- name: archive_marks_put
-- Know a conversation again by what was said up to a turn.
INSERT INTO history_marks (tenant, entity, key, session_id, seq, kind, created_at)
VALUES (:tenant, :entity, :key, :session_id, :seq, 'said', :created_at) ON CONFLICT DO NOTHING;

-- name: archive_tags
-- The tags of an entity's facts, but for forgotten ones.
SELECT DISTINCT tag FROM facts WHERE tenant = :tenant AND entity = :entity AND status <> 'forgotten' ORDER BY tag;

-- name: archive_timeline
-- Facts of a known moment that hold or happened, in the order of these moments.
SELECT id, text, coalesce(valid_from, reference_time) AS moment FROM facts
WHERE tenant = :tenant AND entity = :entity AND status IN ('current', 'historical')
    AND coalesce(valid_from, reference_time) IS NOT NULL AND NOT (valid_until IS NOT NULL AND valid_until IS valid_from)
    AND (coalesce(valid_from, reference_time), id) > (:after, :after_id)
ORDER BY moment, id LIMIT :limit;
