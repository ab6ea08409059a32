// Package invariants judges a compaction from the outside: what went in, what
// came out, and what the report says about it. It shares no code with the
// project, so that a fault there does not hide here too. Tests use [Check].
package invariants
