-- Receipts of an entity are listed, the newest first.
CREATE INDEX receipts_listed ON receipts (tenant, entity, time, request_id);
