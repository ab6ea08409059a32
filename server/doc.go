// Package server answers for sessions over HTTP: the API under /api/v1, which
// /api/v1/openapi.json describes, /metrics for Prometheus, /healthz, and the pages of an
// operator at /. [New] makes an http.Handler over a service; whoever listens is the
// caller, on loopback, elsewhere, or on a socket. It is for the command, as services are
// internal: a program of its own runs "kagewasm serve", or uses package session.
//
// Every request but one to /healthz needs the token, as "Authorization: Bearer", or the
// cookie that [Server.OpenPath] sets in a browser; a connection that [Trusted] marks,
// such as one of a Unix socket that nobody else may open, needs none. Names of hosts that
// nobody gave are refused, and so are requests that pages of other origins make.
//
// Errors are problem+json (RFC 9457) with the code of an abi.Error beside.
package server
