-- +goose Up
-- What programs keep for the next one: what a breaker knows of plugins, what agents asked
-- for, turns that were begun, settings.
CREATE TABLE kept (
  kind  TEXT NOT NULL,
  owner TEXT NOT NULL,                        -- the key of a session, or an agent's path
  name  TEXT NOT NULL,
  value TEXT NOT NULL,                        -- JSON
  PRIMARY KEY (kind, owner, name)
);
