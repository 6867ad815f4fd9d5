-- What an imported segment is about, and of what class it is: said to the model that learns from it, never learned itself.
ALTER TABLE turns ADD COLUMN topic TEXT;
ALTER TABLE turns ADD COLUMN label TEXT;
