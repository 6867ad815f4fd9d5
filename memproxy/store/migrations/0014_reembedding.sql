-- Vectors of another model, made before they are searched: those in `vectors` serve until an entity's are complete.
CREATE TABLE vectors_next (
    passage_id INTEGER PRIMARY KEY REFERENCES passages (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    vector BLOB NOT NULL  -- float32, little-endian, unit length
) STRICT;
