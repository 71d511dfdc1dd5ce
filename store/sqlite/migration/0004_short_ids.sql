-- Drops the index on the random part of ids, which a person types: the index on
-- ids is read through instead. Rebuilding runs this file too.

DROP INDEX request_random;
