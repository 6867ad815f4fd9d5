-- Where a turn was said: what "yesterday" meant there, whenever it is learned from.
ALTER TABLE turns ADD COLUMN timezone TEXT;  -- IANA name; NULL: the configured one
