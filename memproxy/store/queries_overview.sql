-- name: overview_sessions
-- Conversations with what the person said first, the most recent first, after a place in that order.
SELECT s.id, s.name, s.started_at, s.last_at,
    (SELECT count(*) FROM turns t
        WHERE t.tenant = s.tenant AND t.entity = s.entity AND t.session_id = s.id) AS turns,
    (SELECT substr(t.content, 1, 400) FROM turns t
        WHERE t.tenant = s.tenant AND t.entity = s.entity AND t.session_id = s.id AND t.role = 'user'
        ORDER BY t.seq LIMIT 1) AS opening
FROM sessions s
WHERE s.tenant = :tenant AND s.entity = :entity
    AND (:id IS NULL OR s.id = :id)
    AND (:after_time IS NULL OR (s.last_at, s.id) < (:after_time, :after_id))
ORDER BY s.last_at DESC, s.id DESC LIMIT :limit;

-- name: overview_receipts
-- Receipts without their lines, the newest first, after a place in that order.
SELECT r.request_id, r.session_id, r.time, r.tokens,
    (SELECT count(*) FROM receipt_items i
        WHERE i.tenant = r.tenant AND i.entity = r.entity AND i.request_id = r.request_id) AS items
FROM receipts r
WHERE r.tenant = :tenant AND r.entity = :entity
    AND (:session_id IS NULL OR r.session_id = :session_id)
    AND (:after_time IS NULL OR (r.time, r.request_id) < (:after_time, :after_id))
ORDER BY r.time DESC, r.request_id DESC LIMIT :limit;

-- name: overview_timeline
-- What happened when: facts that were true at some time, summaries of conversations, and what was replaced by what.
SELECT * FROM (
    SELECT 'fact' AS kind, f.id, f.text, f.status,
        coalesce(f.reference_time, f.started_at || 'T00:00:00.000000Z', f.valid_from, f.said_at, f.recorded_at) AS time,
        CASE WHEN f.reference_time IS NOT NULL THEN 'reference_time' WHEN f.started_at IS NOT NULL THEN 'started_at'
            WHEN f.valid_from IS NOT NULL THEN 'valid_from' ELSE 'said_at' END AS dated_by,
        NULL AS by_id, NULL AS by_text
    FROM facts f
    WHERE f.tenant = :tenant AND f.entity = :entity AND f.status IN ('current', 'historical', 'expired')
        AND (f.valid_from IS NULL OR f.valid_until IS NULL OR f.valid_from < f.valid_until)
    UNION ALL
    SELECT 'summary', s.id, s.text, NULL, s.started_at, 'started_at', NULL, NULL
    FROM summaries s
    WHERE s.tenant = :tenant AND s.entity = :entity AND s.kind = 'conversation'
    UNION ALL
    SELECT 'change', f.id, f.text, f.status, f.superseded_at, 'superseded_at', n.id, n.text
    FROM facts f
    LEFT JOIN facts n ON n.tenant = f.tenant AND n.entity = f.entity AND n.id = f.superseded_by
        AND n.status IN ('current', 'historical', 'expired')
    WHERE f.tenant = :tenant AND f.entity = :entity AND f.superseded_at IS NOT NULL
        AND f.status IN ('historical', 'expired')
) AS dated
WHERE (:since IS NULL OR time >= :since) AND (:until IS NULL OR time < :until)
    AND (:after_time IS NULL
        OR (:newest AND (time, kind, id) < (:after_time, :after_kind, :after_id))
        OR (NOT :newest AND (time, kind, id) > (:after_time, :after_kind, :after_id)))
ORDER BY CASE WHEN :newest THEN time END DESC, CASE WHEN :newest THEN kind END DESC, CASE WHEN :newest THEN id END DESC,
    time, kind, id
LIMIT :limit;

-- name: overview_growth
-- How many turns and facts were stored on each day.
SELECT day, sum(turns) AS turns, sum(facts) AS facts FROM (
    SELECT substr(recorded_at, 1, 10) AS day, 1 AS turns, 0 AS facts FROM turns
    WHERE tenant = :tenant AND entity = :entity AND recorded_at >= :since
    UNION ALL
    SELECT substr(recorded_at, 1, 10), 0, 1 FROM facts
    WHERE tenant = :tenant AND entity = :entity AND recorded_at >= :since AND status <> 'forgotten'
) AS stored
GROUP BY day ORDER BY day;

-- name: overview_condition
-- Every fact that is not forgotten, as far as looking after a memory needs it; the newest first.
SELECT f.id, f.status, f.pinned, f.recall_count, f.recorded_at,
    coalesce(f.recalled_at, f.recorded_at) AS recalled_at,
    coalesce(f.reinforced_at, f.said_at, f.recorded_at) AS said_at,
    (SELECT p.terms FROM passages p WHERE p.tenant = f.tenant AND p.entity = f.entity AND p.kind = 'fact'
        AND p.owner_id = f.id AND p.ordinal = 0) AS terms
FROM facts f
WHERE f.tenant = :tenant AND f.entity = :entity AND f.status IN ('current', 'expired', 'quarantined')
ORDER BY f.id DESC;

-- name: overview_moments
-- What was said with feeling: the strongest first.
SELECT * FROM fact_rows
WHERE tenant = :tenant AND entity = :entity AND status = 'current' AND emotional_weight IS NOT NULL
    AND (:valence IS NULL OR emotional_valence = :valence)
ORDER BY emotional_weight DESC, significance DESC, id DESC LIMIT :limit;

-- name: usage_of_day
-- Use of models by all entities on a day, by purpose.
SELECT purpose, sum(calls) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
FROM usage WHERE day = :day GROUP BY purpose ORDER BY purpose;

-- name: jobs_queue
-- How many unfinished jobs of each kind are in each state.
SELECT kind, state, count(*) AS jobs FROM jobs WHERE state <> 'done' GROUP BY kind, state ORDER BY kind, state;
