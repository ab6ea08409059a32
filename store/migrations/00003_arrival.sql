-- +goose Up
-- A session is read in the order in which its messages came.
CREATE INDEX messages_arrival ON messages (session, seq, n);
