-- Makes the projections, empty. Rebuilding runs this file too.

DROP TABLE IF EXISTS requests;
DROP TABLE IF EXISTS grants;

CREATE TABLE requests (
  first_seq INTEGER PRIMARY KEY,
  id        TEXT    NOT NULL,
  session   TEXT    NOT NULL,
  run       TEXT    NOT NULL,
  grouped   TEXT    NOT NULL,
  call      TEXT    NOT NULL,
  host      TEXT    NOT NULL,
  tool      TEXT    NOT NULL,
  server    TEXT    NOT NULL,
  kind      TEXT    NOT NULL,
  asker     TEXT    NOT NULL,
  holder    TEXT    NOT NULL,
  digest    BLOB             CHECK (digest IS NULL OR length(digest) = 32),
  wall      INTEGER NOT NULL,
  boot      TEXT    NOT NULL,
  since     INTEGER NOT NULL,
  after     INTEGER NOT NULL,
  state     TEXT    NOT NULL,
  source    TEXT    NOT NULL,
  asked     INTEGER NOT NULL CHECK (asked IN (0, 1)),
  spent     INTEGER NOT NULL CHECK (spent IN (0, 1)),
  decided   INTEGER,
  last_seq  INTEGER NOT NULL,
  open      INTEGER NOT NULL CHECK (open IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX request_id ON requests (id);
CREATE INDEX request_random ON requests (substr(id, 11));
CREATE INDEX request_session ON requests (session, first_seq);
CREATE INDEX request_group ON requests (grouped) WHERE grouped <> '';
CREATE INDEX request_asked ON requests (session, wall) WHERE asked = 1;
CREATE INDEX request_open ON requests (session, first_seq) WHERE open = 1;
CREATE INDEX request_unspent ON requests (session, digest) WHERE spent = 0;

CREATE TABLE grants (
  first_seq INTEGER PRIMARY KEY,
  stream    TEXT    NOT NULL,
  session   TEXT    NOT NULL,
  request   TEXT    NOT NULL,
  key       BLOB             CHECK (key IS NULL OR length(key) = 32),
  live      INTEGER NOT NULL CHECK (live IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX grant_stream ON grants (stream);
CREATE INDEX grant_request ON grants (request);
CREATE INDEX grant_key ON grants (key) WHERE live = 1;
CREATE INDEX grant_session ON grants (session) WHERE live = 1;
