-- What has to be known to go on from an answer that the upstream keeps: the keys under which the parts of its blocks
-- are kept, and the turns it holds. JSON; marks of the kinds 'answer' and 'conversation' have it.

ALTER TABLE history_marks ADD COLUMN thread TEXT;
