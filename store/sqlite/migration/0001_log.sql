-- Makes the log: events in one chain, their content beside it, and projections
-- of requests and grants that can be dropped and made again from the events.

CREATE TABLE events (
  seq        INTEGER PRIMARY KEY CHECK (seq > 0),
  stream     TEXT    NOT NULL CHECK (stream <> ''),
  pos        INTEGER NOT NULL CHECK (pos > 0),
  type       TEXT    NOT NULL CHECK (type <> ''),
  id         TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  wall       INTEGER NOT NULL, -- nanoseconds since 1970
  boot       TEXT    NOT NULL,
  since      INTEGER NOT NULL, -- nanoseconds since that boot
  principal  TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  channel    TEXT    NOT NULL,
  session    TEXT    NOT NULL,
  run        TEXT    NOT NULL,
  request    TEXT    NOT NULL,
  call       TEXT    NOT NULL,
  payload    TEXT    NOT NULL,
  commitment BLOB             CHECK (commitment IS NULL OR length(commitment) = 32),
  prev       BLOB    NOT NULL CHECK (length(prev) = 32),
  hash       BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE UNIQUE INDEX event_place ON events (stream, pos);
CREATE UNIQUE INDEX one_decision ON events (stream)
  WHERE type IN ('approval.resolved', 'approval.expired', 'approval.withdrawn');
CREATE UNIQUE INDEX one_spending ON events (stream)
  WHERE type IN ('approval.redeemed', 'approval.voided');
-- Events about a request that lie on another stream than its own.
CREATE INDEX event_elsewhere ON events (request)
  WHERE request <> '' AND stream <> 'request/' || request;

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN
  SELECT raise(ABORT, 'an event of the log cannot be changed');
END;

-- The free text of events. The only table of the log whose rows can be emptied.
CREATE TABLE content (
  seq  INTEGER PRIMARY KEY,
  salt BLOB,
  body BLOB,
  CHECK ((salt IS NULL) = (body IS NULL))
) STRICT;

CREATE TRIGGER content_only_empties BEFORE UPDATE ON content
  WHEN new.seq <> old.seq OR new.body IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'content can be erased, not changed');
END;

-- Parts of the log that lie in read-only files beside the database.
CREATE TABLE segments (
  number     INTEGER PRIMARY KEY,
  first_seq  INTEGER NOT NULL,
  first_prev BLOB    NOT NULL CHECK (length(first_prev) = 32),
  last_seq   INTEGER NOT NULL CHECK (last_seq >= first_seq),
  last_hash  BLOB    NOT NULL CHECK (length(last_hash) = 32)
) STRICT;

CREATE TRIGGER segments_stay BEFORE UPDATE ON segments
BEGIN
  SELECT raise(ABORT, 'a sealed segment cannot be changed');
END;

CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
  WHEN old.seq > (SELECT coalesce(max(last_seq), 0) FROM segments)
BEGIN
  SELECT raise(ABORT, 'an event of the log cannot be removed');
END;

CREATE TRIGGER content_is_not_removed BEFORE DELETE ON content
  WHEN old.seq > (SELECT coalesce(max(last_seq), 0) FROM segments)
BEGIN
  SELECT raise(ABORT, 'content of the log can be erased, not removed');
END;

-- Streams whose events are found in segments alone, with how many of them
-- there are up to and with that segment.
CREATE TABLE archived (
  stream  TEXT    NOT NULL,
  segment INTEGER NOT NULL,
  length  INTEGER NOT NULL,
  PRIMARY KEY (stream, segment)
) STRICT, WITHOUT ROWID;

-- Requests whose content in a segment is still to be erased.
CREATE TABLE erasing (
  segment INTEGER NOT NULL,
  request TEXT    NOT NULL,
  PRIMARY KEY (segment, request)
) STRICT, WITHOUT ROWID;

-- Names that are taken for ever, each by one stream.
CREATE TABLE keys (
  name   BLOB NOT NULL PRIMARY KEY,
  stream TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER keys_stay BEFORE UPDATE ON keys
BEGIN
  SELECT raise(ABORT, 'a key stays with its stream');
END;

CREATE TRIGGER keys_are_not_freed BEFORE DELETE ON keys
BEGIN
  SELECT raise(ABORT, 'a key stays with its stream');
END;
