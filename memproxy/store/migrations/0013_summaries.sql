-- Conversations that are open, and summaries of whole ones and of stretches of long ones.

ALTER TABLE sessions ADD COLUMN active_at TEXT;  -- when it was last spoken in, by the server's clock; NULL: closed
ALTER TABLE sessions ADD COLUMN dropped_seq INTEGER NOT NULL DEFAULT 0;  -- up to which requests carry no turns any more
CREATE INDEX sessions_open ON sessions (active_at) WHERE active_at IS NOT NULL;

ALTER TABLE summaries ADD COLUMN kind TEXT NOT NULL DEFAULT 'conversation'
    CHECK (kind IN ('conversation', 'range', 'overview'));
ALTER TABLE summaries ADD COLUMN first_seq INTEGER NOT NULL DEFAULT 0;  -- the turns it tells of
ALTER TABLE summaries ADD COLUMN last_seq INTEGER NOT NULL DEFAULT 0;
