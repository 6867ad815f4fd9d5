-- Every request asks who the person is, and whether anything known of them held only once: neither looks through all of
-- their facts for it.
CREATE INDEX facts_standing ON facts (tenant, entity) WHERE status = 'current' AND (pinned OR type = 'identity');
CREATE INDEX facts_historical ON facts (tenant, entity) WHERE status = 'historical';
