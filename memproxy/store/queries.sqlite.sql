-- What only SQLite understands: JSON arrays as row sources, FTS5, vec0, and their catalog.
-- CROSS JOIN keeps the order: from the array into the table by its key. Left to itself, SQLite may read a whole table
-- and look for each of its rows in the array.

-- name: meta_integrity
-- What is wrong with the file.
SELECT integrity_check AS problem FROM pragma_integrity_check WHERE integrity_check <> 'ok';

-- name: sessions_marks
-- The history marks with the given keys (a JSON array).
SELECT m.key, m.session_id, m.seq, m.kind, m.created_at, m.thread
FROM json_each(:keys) k
CROSS JOIN history_marks m ON m.tenant = :tenant AND m.entity = :entity AND m.key = k.value;

-- name: sessions_last_user_seq
-- The place of the last user turn of each given session (a JSON array); sessions without one are left out.
SELECT s.value AS session_id, max(t.seq) AS seq
FROM json_each(:sessions) s
CROSS JOIN turns t ON t.tenant = :tenant AND t.entity = :entity AND t.session_id = s.value AND t.role = 'user'
GROUP BY s.value;

-- name: turns_get_many
-- The turns with the given ids (a JSON array), in the order they were said.
SELECT t.* FROM json_each(:ids) i
CROSS JOIN turns t ON t.tenant = :tenant AND t.entity = :entity AND t.id = i.value
ORDER BY t.time, t.session_id, t.seq;

-- name: turns_find_many
-- The turns of a session with the given contents, times and roles (a JSON array of [key, time, role]), by their places
-- in that.
SELECT i.key AS place, (
    SELECT t.id FROM turns t
    WHERE t.tenant = :tenant AND t.entity = :entity AND t.session_id = :session_id
        AND t.text_key = json_extract(i.value, '$[0]')
        AND t.time = json_extract(i.value, '$[1]') AND t.role = json_extract(i.value, '$[2]')
    ORDER BY t.seq LIMIT 1
) AS id
FROM json_each(:said) i;

-- name: turns_waiting
-- How many of the given turns (a JSON array of ids) wait to be learned from.
SELECT count(*) AS number
FROM json_each(:ids) i
CROSS JOIN turns t ON t.tenant = :tenant AND t.entity = :entity AND t.id = i.value
WHERE t.learn = 'pending';

-- name: turns_set_learn
-- Note what became of turns (a JSON array of ids) in extraction.
UPDATE turns SET learn = :learn
WHERE tenant = :tenant AND entity = :entity AND id IN (SELECT value FROM json_each(:ids));

-- name: facts_get_many
-- The facts with the given ids (a JSON array), in their order.
SELECT f.* FROM json_each(:ids) i
CROSS JOIN fact_rows f ON f.tenant = :tenant AND f.entity = :entity AND f.id = i.value
ORDER BY i.key;

-- name: facts_with_content_keys
-- The facts with any of the given content keys (a JSON array), whatever their status.
SELECT f.*
FROM json_each(:keys) i
CROSS JOIN fact_rows f ON f.tenant = :tenant AND f.entity = :entity AND f.content_key = i.value;

-- name: facts_with_slots
-- The current facts that fill any of the given attributes (a JSON array).
SELECT f.*
FROM json_each(:slots) i
CROSS JOIN fact_rows f ON f.tenant = :tenant AND f.entity = :entity AND f.slot = i.value AND f.status = 'current';

-- name: facts_of_turns
-- The facts taken from the given turns (a JSON array of ids), whatever their status.
SELECT f.* FROM json_each(:turns) i
CROSS JOIN fact_rows f ON f.tenant = :tenant AND f.entity = :entity AND f.turn_id = i.value
ORDER BY f.id;

-- name: facts_standing
-- What is always true of a person: pinned facts, then those that say who the person is, the weightiest of each first.
SELECT * FROM fact_rows
WHERE tenant = :tenant AND entity = :entity AND status = 'current'
    AND (pinned OR type = 'identity') AND (pinned OR significance >= :significance)
ORDER BY pinned DESC, significance DESC, reinforced_count DESC, id DESC LIMIT :limit;

-- name: facts_list
-- Facts newest first, filtered by whatever is given (JSON arrays for lists; NULL filters nothing).
SELECT * FROM fact_rows
WHERE tenant = :tenant AND entity = :entity
    AND (:after IS NULL OR id < :after)
    AND status IN (SELECT value FROM json_each(:statuses))
    AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
    AND (:tags IS NULL OR tag IN (SELECT value FROM json_each(:tags)))
    AND (:slots IS NULL OR slot IN (SELECT value FROM json_each(:slots)))
    AND (:min_confidence IS NULL OR confidence >= :min_confidence)
    AND (:pinned IS NULL OR pinned = :pinned)
    AND (:source_role IS NULL OR source_role = :source_role)
    AND (:words IS NULL OR instr(
        -- ASCII is folded by making it lower case, at a tenth of the price: unless it has white space that is to be
        -- collapsed, which matters where there is a blank in what is looked for. (As many bytes as characters: ASCII.)
        CASE WHEN length(text) = length(CAST(text AS BLOB))
            AND (instr(:words, ' ') = 0 OR NOT (text GLOB '*[^ -~]*' OR instr(text, '  ')))
        THEN lower(text) ELSE fold(text) END, :words) > 0)
ORDER BY id DESC LIMIT :limit;

-- name: contradictions_list
-- Contradictions with the texts of both sides, the newest first (a JSON array of statuses).
SELECT c.*, f.text AS stored, s.text AS stated, f.slot
FROM contradictions c
JOIN facts f ON f.tenant = c.tenant AND f.entity = c.entity AND f.id = c.fact_id
JOIN facts s ON s.tenant = c.tenant AND s.entity = c.entity AND s.id = c.stated_id
WHERE c.tenant = :tenant AND c.entity = :entity AND (:after IS NULL OR c.id < :after)
  AND c.status IN (SELECT value FROM json_each(:statuses))
  AND f.status <> 'forgotten' AND s.status <> 'forgotten'
ORDER BY c.id DESC LIMIT :limit;

-- name: facts_count_recalled
-- One more recall of each given fact (a JSON array of ids).
UPDATE facts SET recall_count = recall_count + 1, recalled_at = :now
WHERE tenant = :tenant AND entity = :entity AND id IN (SELECT value FROM json_each(:ids));

-- name: jobs_claimable
-- The job to do next: due (or left behind by a worker whose lease ran out), its credential at hand, no other of its entity being done.
SELECT j.* FROM jobs j
WHERE ((j.state IN ('pending', 'waiting') AND j.run_after <= :now) OR (j.state = 'running' AND j.lease_until <= :now))
    AND (j.credential IS NULL OR j.credential IN (SELECT value FROM json_each(:credentials)))
    AND NOT EXISTS (
        SELECT 1 FROM jobs o
        WHERE o.tenant = j.tenant AND o.entity = j.entity AND o.id <> j.id
            AND o.state = 'running' AND o.lease_until > :now
    )
ORDER BY j.run_after, j.created_at, j.id LIMIT 1;

-- name: jobs_runnable
-- Whether a job is being done, or could be with the given credentials, now or once it is due.
SELECT 1 AS found FROM jobs
WHERE state IN ('pending', 'running')
    AND (credential IS NULL OR credential IN (SELECT value FROM json_each(:credentials)))
LIMIT 1;

-- name: jobs_list
-- Jobs newest first, of all entities or one, in the given states (a JSON array).
SELECT * FROM jobs
WHERE (:entity IS NULL OR (tenant = :tenant AND entity = :entity))
    AND state IN (SELECT value FROM json_each(:states))
    AND (:after IS NULL OR id < :after)
ORDER BY id DESC LIMIT :limit;

-- name: receipts_of_owner
-- The receipts that quote a fact, turn or summary.
SELECT DISTINCT request_id FROM receipt_items
WHERE tenant = :tenant AND entity = :entity AND kind = :kind AND owner_id = :owner_id;

-- name: text_index_exists
-- Whether the text index is there.
SELECT 1 AS found FROM sqlite_schema WHERE name = 'passage_index';

-- name: text_index_create
-- Make the text index: one token column, no copy of the text, no positions.
CREATE VIRTUAL TABLE passage_index
USING fts5(tokens, content='', columnsize=0, detail=none, tokenize='ascii');

-- name: text_index_counted
-- Let it tell how many passages hold a token, at half the price of looking for them. No data of its own.
CREATE VIRTUAL TABLE IF NOT EXISTS passage_index_terms USING fts5vocab('passage_index', 'row');

-- name: text_index_drop
-- Remove the text index.
DROP TABLE IF EXISTS passage_index;

-- name: text_index_add
-- Index one passage.
INSERT INTO passage_index (rowid, tokens) VALUES (:id, :tokens);

-- name: text_index_remove
-- Take one passage out of the index, by the very tokens it was added with.
INSERT INTO passage_index (passage_index, rowid, tokens) VALUES ('delete', :id, :tokens);

-- name: text_index_optimize
-- Merge all segments into one, without what was removed.
INSERT INTO passage_index (passage_index) VALUES ('optimize');

-- name: text_index_frequencies
-- In how many passages each token (a JSON array) occurs.
SELECT j.value AS token, coalesce((SELECT doc FROM passage_index_terms WHERE term = j.value), 0) AS passages
FROM json_each(:tokens) j;

-- name: text_index_postings
-- In how many passages each token (a JSON array) occurs; and in which, for the rarest that occur in at most so many
-- together. Of a rarest one that occurs in more: in which of the newest. A token is a word of FTS5's own syntax.
WITH counted AS MATERIALIZED (
    SELECT j.key AS place, j.value AS token,
        coalesce((SELECT doc FROM passage_index_terms WHERE term = j.value), 0) AS passages
    FROM json_each(:tokens) j
), added AS MATERIALIZED (
    SELECT token, passages,
        sum(passages) OVER (ORDER BY passages, place ROWS UNBOUNDED PRECEDING) AS together
    FROM counted WHERE passages > 0
)
SELECT token, passages, CASE
    WHEN together <= :most THEN (SELECT json_group_array(rowid) FROM passage_index WHERE passage_index MATCH token)
    WHEN together = passages THEN (
        SELECT json_group_array(id) FROM (
            SELECT rowid AS id FROM passage_index WHERE passage_index MATCH token ORDER BY rowid DESC LIMIT :most
        )
    )
END AS ids
FROM added;

-- name: search_eligible
-- Which of the given passages (a JSON array of ids) belong to the entity and may be proposed.
SELECT p.id
FROM json_each(:ids) i
CROSS JOIN passages p ON p.id = i.value AND +p.tenant = :tenant AND +p.entity = :entity
LEFT JOIN facts f ON p.kind = 'fact' AND f.tenant = :tenant AND f.entity = :entity AND f.id = p.owner_id
WHERE p.kind IN (SELECT value FROM json_each(:kinds))
    AND (p.kind <> 'fact' OR f.status IN (SELECT value FROM json_each(:statuses)));

-- name: search_candidates
-- The given passages (a JSON array of ids) as candidates: an array of arrays, each with the fields in their order, and an
-- array of their statuses. The entity's own only.
SELECT
    json_group_array(json_array(
        p.id, p.kind, p.owner_id, p.ordinal,
        substr(coalesce(t.content, f.text, s.text), p.start + 1, p."end" - p.start), p.terms,
        coalesce(t.session_id, ft.session_id, s.session_id), coalesce(t.seq, 0),
        coalesce(t.role, replace(f.source_role, '_explicit', ''), 'assistant'), coalesce(t.name, ft.name),
        coalesce(t.time, f.reference_time, f.recorded_at, s.ended_at),
        coalesce(f.confidence, 1.0), coalesce(t.id, f.turn_id)
    )) AS candidates,
    json_group_array(coalesce(f.status, 'current')) AS statuses
FROM json_each(:ids) i
CROSS JOIN passages p ON p.id = i.value AND +p.tenant = :tenant AND +p.entity = :entity
LEFT JOIN turns t ON p.kind = 'turn' AND t.tenant = :tenant AND t.entity = :entity AND t.id = p.owner_id
LEFT JOIN facts f ON p.kind = 'fact' AND f.tenant = :tenant AND f.entity = :entity AND f.id = p.owner_id
LEFT JOIN turns ft ON ft.tenant = :tenant AND ft.entity = :entity AND ft.id = f.turn_id
LEFT JOIN summaries s ON p.kind = 'summary' AND s.tenant = :tenant AND s.entity = :entity AND s.id = p.owner_id
WHERE coalesce(t.id, f.id, s.id) IS NOT NULL
    AND p.kind IN (SELECT value FROM json_each(:kinds))
    AND (p.kind <> 'fact' OR f.status IN (SELECT value FROM json_each(:statuses)));

-- name: passages_insert
-- Store passages (a JSON array of [kind, owner, ordinal, start, end, terms]) in their order; their ids.
INSERT INTO passages (tenant, entity, kind, owner_id, ordinal, start, "end", terms)
SELECT :tenant, :entity, json_extract(r.value, '$[0]'), json_extract(r.value, '$[1]'), json_extract(r.value, '$[2]'),
    json_extract(r.value, '$[3]'), json_extract(r.value, '$[4]'), json_extract(r.value, '$[5]')
FROM json_each(:rows) r
ORDER BY r.key
RETURNING id, kind, owner_id, ordinal;

-- name: passages_set_model
-- Note which model's vectors passages have (a JSON array of ids); the ids of those that are there.
UPDATE passages SET model = :model
WHERE tenant = :tenant AND entity = :entity AND id IN (SELECT value FROM json_each(:ids))
RETURNING id;

-- name: passages_extent
-- The first and the last id of any passage.
SELECT (SELECT min(id) FROM passages) AS first, (SELECT max(id) FROM passages) AS last;

-- name: vectors_sample
-- The vectors that one model made of passages of everybody (a JSON array of ids): to measure the model, not to show.
SELECT v.vector
FROM json_each(:ids) i
CROSS JOIN passages p ON p.id = i.value AND p.model = :model
CROSS JOIN vectors v ON v.tenant = p.tenant AND v.entity = p.entity AND v.passage_id = p.id
WHERE v.model = :model AND v.dimensions = :dimensions;

-- name: vectors_there
-- Which of the given passages (a JSON array of ids) have a vector.
SELECT v.passage_id FROM json_each(:ids) i
CROSS JOIN vectors v ON v.tenant = :tenant AND v.entity = :entity AND v.passage_id = i.value;

-- name: vectors_of_passages
-- The vectors that one model made of the given passages (a JSON array of ids): whose they are, and all of them in one.
SELECT json_group_array(v.passage_id) AS ids, CAST(group_concat(v.vector, '') AS BLOB) AS vectors
FROM json_each(:ids) i
CROSS JOIN vectors v ON v.tenant = :tenant AND v.entity = :entity AND v.passage_id = i.value
WHERE v.model = :model AND v.dimensions = :dimensions;

-- name: vectors_of_model
-- The same of all passages of an entity, so many at a time.
SELECT json_group_array(passage_id) AS ids, CAST(group_concat(vector, '') AS BLOB) AS vectors
FROM vectors
WHERE tenant = :tenant AND entity = :entity AND passage_id > :after
    AND passage_id <= (
        SELECT max(passage_id) FROM (
            SELECT passage_id FROM vectors WHERE tenant = :tenant AND entity = :entity AND passage_id > :after
            ORDER BY passage_id LIMIT :limit
        )
    )
    AND model = :model AND dimensions = :dimensions;

-- name: search_unembedded
-- Passages that have no vector, the newest first, and the model that is to make it: the one their entity is searched by,
-- else the given one. Only such of the given models (a JSON array).
SELECT id, model FROM (
    SELECT p.id, coalesce(
        (SELECT v.model FROM vectors v WHERE v.tenant = p.tenant AND v.entity = p.entity LIMIT 1), :model
    ) AS model
    FROM passages p WHERE p.model IS NULL
)
WHERE model IN (SELECT value FROM json_each(:models))
ORDER BY id DESC LIMIT :limit;

-- name: search_sources
-- What the embedding texts of passages (a JSON array of ids) are made of.
SELECT p.id, p.tenant, p.entity, p.kind,
    substr(coalesce(t.content, f.text, s.text), p.start + 1, p."end" - p.start) AS text,
    coalesce(t.role, replace(f.source_role, '_explicit', ''), 'assistant') AS role,
    coalesce(t.name, ft.name) AS name,
    coalesce(t.time, f.reference_time, f.recorded_at, s.ended_at) AS time
FROM json_each(:ids) i
CROSS JOIN passages p ON p.id = i.value
LEFT JOIN turns t ON p.kind = 'turn' AND t.tenant = p.tenant AND t.entity = p.entity AND t.id = p.owner_id
LEFT JOIN facts f ON p.kind = 'fact' AND f.tenant = p.tenant AND f.entity = p.entity AND f.id = p.owner_id
LEFT JOIN turns ft ON ft.tenant = p.tenant AND ft.entity = p.entity AND ft.id = f.turn_id
LEFT JOIN summaries s ON p.kind = 'summary' AND s.tenant = p.tenant AND s.entity = p.entity AND s.id = p.owner_id
ORDER BY i.key;

-- name: search_said_at
-- The same of the passages of turns at the given places (a JSON object: of each session id an array of places).
SELECT
    json_group_array(json_array(
        p.id, p.kind, p.owner_id, p.ordinal, substr(t.content, p.start + 1, p."end" - p.start), p.terms,
        t.session_id, t.seq, t.role, t.name, t.time, 1.0, t.id
    )) AS candidates
FROM json_each(:places) s
CROSS JOIN json_each(s.value) j
CROSS JOIN turns t ON t.tenant = :tenant AND t.entity = :entity AND t.session_id = s.key AND t.seq = j.value
CROSS JOIN passages p ON p.tenant = :tenant AND p.entity = :entity AND p.kind = 'turn' AND p.owner_id = t.id;

-- name: vec0_loaded
-- Whether this connection has the vector extension.
SELECT 1 AS found FROM pragma_module_list WHERE name = 'vec0';

-- name: vector_index_usable
-- The vec0 table of a model, where it is complete and this connection can ask it.
SELECT name FROM vector_indexes
WHERE model = :model AND dimensions = :dimensions AND NOT stale
    AND EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec0');

-- name: vec0_create
-- Make a vec0 table: one partition an entity, small chunks (the default reserves 1.5 MB for each entity).
CREATE VIRTUAL TABLE {table} USING vec0(
    passage_id INTEGER PRIMARY KEY,
    scope TEXT PARTITION KEY,
    embedding FLOAT[{dimensions}] DISTANCE_METRIC=cosine,
    chunk_size=8
);

-- name: vec0_index_partitions
-- Let inserts find an entity's chunks without reading all chunks.
CREATE INDEX {table}_partitions ON {table}_chunks (partition00);

-- name: vec0_drop
-- Remove a vec0 table.
DROP TABLE IF EXISTS {table};

-- name: vec0_add
-- Index one vector.
INSERT INTO {table} (passage_id, scope, embedding) VALUES (:passage_id, :scope, :vector);

-- name: vec0_remove
-- Take one vector out of an index.
DELETE FROM {table} WHERE passage_id = :passage_id;

-- name: vec0_clear
-- Take all vectors of an entity out of an index.
DELETE FROM {table} WHERE scope = :scope;

-- name: vec0_empty
-- Without the extension: delete the vectors a vec0 table holds, since it cannot be kept in step.
DELETE FROM {table}_vector_chunks00;

-- name: vec0_misplaced
-- Whether chunks have other row numbers than their index knows (VACUUM may change them).
SELECT 1 AS found FROM {table}_vector_chunks00 WHERE _rowid_ <> rowid LIMIT 1;

-- name: vec0_nearest
-- The k nearest of an entity by cosine distance, nearest first.
SELECT passage_id, distance FROM {table}
WHERE embedding MATCH :vector AND k = :k AND scope = :scope
ORDER BY distance;

-- name: placed_of_keys
-- The parts stored under any of the keys (a JSON array).
SELECT p.* FROM json_each(:keys) k
CROSS JOIN (SELECT 'stable' AS kind UNION ALL SELECT 'recalled') n
CROSS JOIN placed p ON p.tenant = :tenant AND p.entity = :entity AND p.kind = n.kind AND p.key = k.value;

-- name: placed_drop
-- Remove the parts that quote a source.
DELETE FROM placed WHERE tenant = :tenant AND entity = :entity AND EXISTS (
    SELECT 1 FROM json_each(items) i
    WHERE json_extract(i.value, '$.kind') = :kind AND json_extract(i.value, '$.id') = :owner_id
);

-- name: turns_visible
-- The pieces of turns (a JSON array of ids) that may be shown, in their order.
SELECT t.id AS turn_id, substr(t.content, p.start + 1, p."end" - p.start) AS text
FROM json_each(:ids) i
CROSS JOIN turns t ON t.tenant = :tenant AND t.entity = :entity AND t.id = i.value
CROSS JOIN passages p ON p.tenant = :tenant AND p.entity = :entity AND p.kind = 'turn' AND p.owner_id = t.id
ORDER BY t.session_id, t.seq, p.start;

-- name: artifacts_insert
-- Note a piece of code or data in a turn.
INSERT INTO artifacts (tenant, entity, id, session_id, turn_id, kind, language, name, description, start, "end")
VALUES (:tenant, :entity, :id, :session_id, :turn_id, :kind, :language, :name, :description, :start, :end);

-- name: artifacts_forget
-- Note no piece of a turn any more.
DELETE FROM artifacts WHERE tenant = :tenant AND entity = :entity AND turn_id = :turn_id;

-- name: artifacts_of_session
-- The pieces of a kind in a session that nothing has replaced, the newest first.
SELECT a.*, substr(t.content, a.start + 1, a."end" - a.start) AS content, t.time, t.role, t.seq
FROM artifacts a JOIN turns t ON t.tenant = a.tenant AND t.entity = a.entity AND t.id = a.turn_id
WHERE a.tenant = :tenant AND a.entity = :entity AND a.session_id = :session_id AND a.kind = :kind
    AND a.superseded_by IS NULL
ORDER BY a.id DESC LIMIT :limit;

-- name: artifacts_supersede
-- Let a later version take the place of pieces (a JSON array of ids), and of all they had replaced.
UPDATE artifacts SET superseded_by = :by
WHERE tenant = :tenant AND entity = :entity
    AND (id IN (SELECT value FROM json_each(:ids)) OR superseded_by IN (SELECT value FROM json_each(:ids)));

-- name: artifacts_of_turns
-- The pieces that stand in turns (a JSON array of ids), and those that replaced them.
WITH here AS (
    SELECT a.id, a.superseded_by FROM json_each(:ids) i
    CROSS JOIN artifacts a ON a.tenant = :tenant AND a.entity = :entity AND a.turn_id = i.value
)
SELECT a.*, substr(t.content, a.start + 1, a."end" - a.start) AS content, t.time, t.role, t.seq
FROM (SELECT id FROM here UNION SELECT superseded_by FROM here WHERE superseded_by IS NOT NULL) w
CROSS JOIN artifacts a ON a.tenant = :tenant AND a.entity = :entity AND a.id = w.id
CROSS JOIN turns t ON t.tenant = :tenant AND t.entity = :entity AND t.id = a.turn_id
ORDER BY a.id;

-- name: artifacts_list
-- All pieces of code and data of an entity, the newest first.
SELECT a.*, substr(t.content, a.start + 1, a."end" - a.start) AS content, t.time, t.role, t.seq
FROM artifacts a JOIN turns t ON t.tenant = a.tenant AND t.entity = a.entity AND t.id = a.turn_id
WHERE a.tenant = :tenant AND a.entity = :entity ORDER BY a.id DESC LIMIT :limit;

-- name: erase_artifacts
-- Erasure: where code and data stood.
DELETE FROM artifacts WHERE tenant = :tenant AND entity = :entity;

-- name: archive_there
-- Which of the given ids (a JSON array) an entity has in a table.
SELECT t.id FROM json_each(:ids) i
CROSS JOIN {table} t ON t.tenant = :tenant AND t.entity = :entity AND t.id = i.value;

-- name: archive_elsewhere
-- Whether any of the given ids (a JSON array) is another entity's in a table.
SELECT 1 AS found FROM entities e
CROSS JOIN json_each(:ids) i
CROSS JOIN {table} t ON t.tenant = e.tenant AND t.entity = e.entity AND t.id = i.value
WHERE NOT (e.tenant = :tenant AND e.entity = :entity) LIMIT 1;

-- name: archive_spans
-- Where erased facts stood in the given turns (a JSON array of ids).
SELECT h.turn_id, h.start, h."end" FROM json_each(:ids) i
CROSS JOIN hidden_spans h ON h.tenant = :tenant AND h.entity = :entity AND h.turn_id = i.value
ORDER BY h.turn_id, h.start, h."end";

-- name: archive_changes
-- What happened to the given facts (a JSON array of ids), in order.
SELECT c.fact_id, c.number, c.time, c.kind, c.reason, c.before, c.after FROM json_each(:ids) i
CROSS JOIN fact_changes c ON c.tenant = :tenant AND c.entity = :entity AND c.fact_id = i.value
ORDER BY c.fact_id, c.number;

-- name: archive_repeated
-- Which sessions said the given facts again (a JSON array of ids).
SELECT r.fact_id, r.session_id, r.time FROM json_each(:ids) i
CROSS JOIN fact_reinforcements r ON r.tenant = :tenant AND r.entity = :entity AND r.fact_id = i.value
ORDER BY r.fact_id, r.time, r.session_id;

-- name: archive_words
-- The keyed hashes of what was denied (a JSON array of ids).
SELECT w.denied_id, w.hash, w.size FROM json_each(:ids) i
CROSS JOIN denied_words w ON w.tenant = :tenant AND w.entity = :entity AND w.denied_id = i.value
ORDER BY w.denied_id, w.hash;
