-- Both databases read this file: only what means the same in SQLite and
-- PostgreSQL stands in it. Times are text of one width in UTC, which sorts.

-- +goose Up
CREATE TABLE sessions (
  session        TEXT PRIMARY KEY,            -- the id, with the agent's path
  id             TEXT NOT NULL,
  agent          TEXT NOT NULL,
  source         TEXT NOT NULL DEFAULT '',
  model          TEXT NOT NULL DEFAULT '',
  context_window BIGINT NOT NULL DEFAULT 0,   -- 0 where nobody knows
  created        TEXT NOT NULL,
  updated        TEXT NOT NULL,
  seq            BIGINT NOT NULL,             -- the last entry
  messages       BIGINT NOT NULL DEFAULT 0,   -- that the model sees
  tokens         BIGINT NOT NULL DEFAULT 0,   -- that these cost, as counted last
  compactions    BIGINT NOT NULL DEFAULT 0,   -- in force
  pending        TEXT NOT NULL DEFAULT '',    -- the compaction that waits
  bytes          BIGINT NOT NULL DEFAULT 0    -- of messages and sources
);
CREATE INDEX sessions_updated ON sessions (updated, session);

-- What happened. Of an entry that appends, the messages stand below.
CREATE TABLE entries (
  session TEXT NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
  seq     BIGINT NOT NULL,
  entry   TEXT NOT NULL,
  PRIMARY KEY (session, seq)
);

-- Every message there ever was, as it came.
CREATE TABLE messages (
  session       TEXT NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
  id            TEXT NOT NULL,
  seq           BIGINT NOT NULL,              -- the entry that brought it
  n             BIGINT NOT NULL,              -- which one of that entry
  pos           BIGINT NOT NULL,              -- where it stands among all
  superseded_by TEXT NOT NULL DEFAULT '',     -- empty where the model sees it
  message       TEXT NOT NULL,
  PRIMARY KEY (session, id)
);
CREATE INDEX messages_pos ON messages (session, pos);

CREATE TABLE records (
  session  TEXT NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
  id       TEXT NOT NULL,
  seq      BIGINT NOT NULL,
  in_force BIGINT NOT NULL,
  flag     TEXT NOT NULL DEFAULT '',
  notes    TEXT NOT NULL DEFAULT '',
  record   TEXT NOT NULL,
  PRIMARY KEY (session, id)
);

-- Files as they were read, for who wants them back byte for byte.
CREATE TABLE sources (
  session TEXT NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
  seq     BIGINT NOT NULL,                    -- the entry as of which it is the session
  name    TEXT NOT NULL,
  format  TEXT NOT NULL,
  ids     TEXT NOT NULL,                      -- of its messages in the store
  data    BYTEA NOT NULL,                     -- zstd
  PRIMARY KEY (session, seq)
);

-- What models took: the agent's own ("primary") and the compactor's.
CREATE TABLE costs (
  session       TEXT NOT NULL,
  time          TEXT NOT NULL,
  kind          TEXT NOT NULL,
  model         TEXT NOT NULL,
  calls         BIGINT NOT NULL,
  input_tokens  BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  usd           DOUBLE PRECISION NOT NULL,
  price_unknown BIGINT NOT NULL
);
CREATE INDEX costs_session ON costs (session);

CREATE TABLE knobs (
  plugin TEXT NOT NULL,
  agent  TEXT NOT NULL,
  name   TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (plugin, agent, name)
);

-- A chain: the hash of an entry covers the entry and the hash before it. What was
-- said stands apart, and goes with its session; the entry holds its digest.
CREATE TABLE audit (
  seq     BIGINT PRIMARY KEY,
  session TEXT NOT NULL,
  type    TEXT NOT NULL,
  entry   TEXT NOT NULL,
  hash    TEXT NOT NULL,
  content TEXT NOT NULL DEFAULT ''
);
CREATE INDEX audit_session ON audit (session, seq);

-- The end of the chain, so that entries cut off from it are missed.
CREATE TABLE audit_head (
  one  BIGINT PRIMARY KEY,
  seq  BIGINT NOT NULL,
  hash TEXT NOT NULL
);
INSERT INTO audit_head (one, seq, hash) VALUES (1, 0, '');
