package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/wire"
)

// operations are the host calls that a guest can make. A new one is a line here
// and a service of its own: a type whose zero value begins a call, which keeps
// what it has to know of that call, and whose method answers.
var operations = map[abi.Op]operation{
	abi.OpLog:            op("", (*log).answer),
	abi.OpKVGet:          op(abi.CapKV, (*kv).get),
	abi.OpKVSet:          op(abi.CapKV, (*kv).set),
	abi.OpKVDelete:       op(abi.CapKV, (*kv).delete),
	abi.OpKVList:         op(abi.CapKV, (*kv).list),
	abi.OpTokensCount:    op("", (*tokens).count),
	abi.OpMessagesGet:    op("", (*messages).get),
	abi.OpMessagesSearch: op(abi.CapMessagesSearch, (*search).find),
	abi.OpRequestCompact: op(abi.CapCompactionRequest, (*compaction).request),
	abi.OpHTTP:           op(abi.CapHTTP, (*web).answer),
	abi.OpModelComplete:  op(abi.CapModel, (*model).complete),
}

// operation is one kind of host call.
type operation struct {
	// needs is the capability without which nothing is answered. Empty: none.
	needs abi.Capability
	// answer decodes the request strictly, checks the capability, and answers.
	// The result is encoded into the envelope of the response.
	answer func(ctx context.Context, c *Call, request []byte) (any, error)
}

// op is an operation whose requests are documents of type R, which a method of
// the service S answers.
func op[S, R any](needs abi.Capability, method func(*S, context.Context, *Call, R) (any, error)) operation {
	known := strictjson.Keys(*new(R))
	return operation{needs, func(ctx context.Context, c *Call, request []byte) (any, error) {
		var r R
		unknown, err := decode(ctx, c, request, &r, known)
		if err != nil {
			return nil, err
		}
		if len(unknown) > 0 {
			return nil, requestError(fmt.Errorf("json: unknown field %q", Shorten(unknown[0], 80)))
		}
		if err := c.Plugin.need(needs); err != nil {
			return nil, err
		}
		return method(service[S](c), ctx, c, r)
	}}
}

// decode reads a request, which lies in memory that the guest goes on with, into a
// copy of it. unknown are fields that it does not have.
func decode(ctx context.Context, c *Call, request []byte, r any, known map[string]bool) (unknown []string, err error) {
	l := c.reading(ctx)
	if err = strictjson.CheckWithin(request, known, l); err == nil {
		err = l.Take(int64(len(request)))
	}
	if err == nil {
		unknown, err = wire.UnmarshalWithin(bytes.Clone(request), r, wire.Limits{Items: abi.MaxRequestItems, Limits: l})
	}
	if Check(ctx); err != nil {
		return nil, requestError(err)
	}
	return unknown, nil
}

func requestError(err error) error {
	var many *wire.TooMany
	switch {
	case errors.As(err, &many):
		return quotaf("ask for fewer at a time", "%d items, %d allowed in one request", many.Items, many.Allowed)
	case errors.Is(err, errHostMemory):
		return quotaf("ask for less at a time", "a request that takes more memory to read than the call has")
	}
	return &abi.Error{Code: abi.CodeUsage, Op: "decode request", Message: err.Error()}
}

// services are those that a call has used, one of each kind.
type services []any

// service is the call's service of a kind, which is made when it is first needed.
func service[S any](c *Call) *S {
	for _, s := range c.services {
		if s, ok := s.(*S); ok {
			return s
		}
	}
	s := new(S)
	c.services = append(c.services, s)
	return s
}

func (list services) report(stats *abi.CallStats) {
	for _, s := range list {
		if s, ok := s.(reporter); ok {
			s.report(stats)
		}
	}
}

// close ends what services hold until the call is over.
func (list services) close() {
	for _, s := range list {
		if s, ok := s.(interface{ close() }); ok {
			s.close()
		}
	}
}
