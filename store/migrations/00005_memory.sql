-- +goose Up
-- What plugins keep: text under keys, in namespaces. Keys and values are bytes: PostgreSQL
-- has no text with a zero in it, and the keys sort the same in both.
CREATE TABLE memory (
  namespace TEXT NOT NULL,
  key       BYTEA NOT NULL,
  value     BYTEA NOT NULL,
  PRIMARY KEY (namespace, key)
);

-- What a namespace holds, for its quotas. A change locks the row first.
CREATE TABLE memory_spaces (
  namespace  TEXT PRIMARY KEY,
  key_count  BIGINT NOT NULL,
  byte_count BIGINT NOT NULL
);
