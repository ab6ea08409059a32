-- +goose Up
-- Requests of clients that may come twice, under the key that the client gave them.
CREATE TABLE requests (
  session TEXT NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
  key     TEXT NOT NULL,
  digest  TEXT NOT NULL,                      -- of what was asked
  seq     BIGINT NOT NULL,                    -- the entry that came of it
  PRIMARY KEY (session, key)
);
