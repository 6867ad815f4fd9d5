-- A question may name somebody who speaks in the conversations: who that may be is read at once.
CREATE INDEX turns_names ON turns (tenant, entity, name) WHERE name IS NOT NULL;
