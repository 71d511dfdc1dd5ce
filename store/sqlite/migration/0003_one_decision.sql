-- Makes the index on decisions again, with a condition that is cheaper to look
-- at: for a list of more than two SQLite makes a temporary table at each event.

DROP INDEX one_decision;
CREATE UNIQUE INDEX one_decision ON events (stream)
  WHERE type = 'approval.resolved' OR type = 'approval.expired' OR type = 'approval.withdrawn';
