package hostile_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Host are guests that keep their host busy, or make it do what it should not.
func Host() []Guest { return slices.Concat(hostLoops(), wideCalls()) }

func hostLoops() []Guest {
	ids := strings.TrimSuffix(strings.Repeat(`"m1",`, 200_000), ",")
	text := strings.Repeat("a", 1<<20)
	return []Guest{
		HostLoop("log flood", "what is over the quota is dropped", abi.OpLog, `{"message":"`+strings.Repeat("x", 1000)+`"}`),
		HostLoop("log flood of long lines", "each of 1 MB", abi.OpLog, `{"message":"`+text+`"}`),
		HostLoop("store", "what is stored again and again", abi.OpKVSet, `{"key":"k","value":"`+text[:1000]+`"}`, abi.CapKV),
		HostLoop("list", "or looked for", abi.OpKVList, `{"key":""}`, abi.CapKV),
		HostLoop("messages", "200,000 copies of one", abi.OpMessagesGet, `{"ids":[`+ids+`]}`),
		HostLoop("count a long text", "1 MB without a space", abi.OpTokensCount, `{"texts":["`+text+`"]}`),
		HostLoop("request compactions", "they are one request", abi.OpRequestCompact, `{}`, abi.CapCompactionRequest),
		HostLoop("requests without a grant", "a refusal is no way to spend time either",
			abi.OpHTTP, `{"url":"http://127.0.0.1/"}`),
		HostLoop("count a million texts", "they are counted before they are built", abi.OpTokensCount,
			`{"texts":[`+strings.Repeat(`"",`, 1_000_000)+`""]}`),
		HostLoop("a model with a million messages", "nor is one of them asked", abi.OpModelComplete,
			`{"messages":[`+strings.Repeat(`{},`, 1_000_000)+`{}]}`, abi.CapModel),
		HostLoop("a model with a long prompt", "4 MB of escapes", abi.OpModelComplete,
			`{"prompt":"`+strings.Repeat(`\n`, 2_000_000)+`"}`, abi.CapModel),
		HostLoop("a million headers", "there may be 64", abi.OpHTTP,
			`{"headers":[`+strings.Repeat(`"",`, 1_000_000)+`""]}`),
		HostLoop("no such call", "nor an error", "fs.read", `{}`),
		HostLoop("requests that are no JSON", "nor a document that is none",
			abi.OpKVGet, strings.Repeat("[", 1000), abi.CapKV),
	}
}

// HostLoop is a guest that makes a host call for ever.
func HostLoop(name, why string, op abi.Op, request string, asks ...abi.Capability) Guest {
	return Guest{Name: "host: " + name, Why: why, Code: abi.CodeDeadline, Asks: asks, Wasm: write(func(m *module) {
		host := m.Import(abi.ImportModule, "host_call", slices.Repeat(i32, 4), i32)
		m.Memory(uint32(64+(len(op)+len(request))/page), -1, "memory")
		m.Data(64, []byte(string(op)+request))
		at := int32(64 + len(op))
		m.Hook(Hook, nil, wasmtest.Forever(c32(64), c32(int32(len(op))), c32(at), c32(int32(len(request))), call(host),
			wasmtest.Drop))
	})}
}

// wideCalls are single calls of WASI that ask for a lot of work.
func wideCalls() []Guest {
	// All memory is the byte 1: every range it names is of 16 MB at 16 MB.
	ones := slices.Concat(c32(0), c32(1), c32(pages*page), wasmtest.MemoryFill)
	wide := func(name, why, function string, prepare []byte, args ...int32) Guest {
		return Guest{Name: function + ": " + name, Why: why, Code: abi.CodeQuota, Wasm: write(func(m *module) {
			f := m.Import(wasi, function, slices.Repeat(i32, len(args)), i32)
			m.Memory(pages, -1, "memory")
			code := prepare
			for _, a := range args {
				code = append(slices.Clip(code), c32(a)...)
			}
			m.Hook(Hook, nil, code, call(f), wasmtest.Drop, c32(0))
		})}
	}
	return []Guest{
		wide("a million buffers", "of 16 MB each, in one call", "fd_write", ones, 1, 1<<20, 1<<20, 64),
		wide("a million buffers", "or to read into", "fd_read", nil, 0, 1<<20, 1<<20, 64),
		wide("all memory", "64 MiB of randomness", "random_get", nil, 0, pages*page),
		wide("700,000 subscriptions", "each of which the engine looks at", "poll_oneoff", nil, 0, 40<<20, 700_000, 64<<20-8),
		wide("a number of 2^31", "the engine keeps a table of as many files", "fd_renumber", nil, 1, 1<<31-1),
		wide("a path of 60 MB", "longer than any system takes", "path_unlink_file", nil, 3, 1<<20, 60_000_000),
		wide("two paths", "the second of which is as long", "path_rename", nil, 3, 1<<20, 8, 3, 1<<20, 60_000_000),
		{Name: "allocate and free 60 MiB", Why: "the host clears what it gives again, a piece at a time",
			Code: abi.CodeDeadline,
			Wasm: write(func(m *module) {
				alloc, free := m.Import(abi.ExtismModule, "alloc", i64, i64), m.Import(abi.ExtismModule, "free", i64, nil)
				m.Hook(Hook, nil, wasmtest.Forever(c64(60<<20), call(alloc), call(free)))
			})},
		{Name: "poll for input", Why: "there is none, and no way to wait for it", Code: abi.CodeDeadline,
			Wasm: write(func(m *module) {
				poll := m.Import(wasi, "poll_oneoff", slices.Repeat(i32, 4), i32)
				m.Memory(1, -1, "memory")
				m.Data(64, append([]byte{8: 1}, make([]byte, 39)...)) // fd_read of file 0
				m.Hook(Hook, nil, wasmtest.Forever(c32(64), c32(256), c32(1), c32(512), call(poll), wasmtest.Drop))
			})},
	}
}

// Repeats calls an imported function for ever, with all its parameters being
// arg. Signatures are as [abi] has them in errors: "(i32,i64)->i32".
func Repeats(module_, name, signature string, arg int64) Guest {
	in, out, _ := strings.Cut(strings.TrimPrefix(signature, "("), ")")
	var params, results []vt
	var code []byte
	for t := range strings.SplitSeq(in, ",") {
		switch t {
		case "i32":
			params, code = append(params, wasmtest.I32), append(code, c32(int32(arg))...)
		case "i64":
			params, code = append(params, wasmtest.I64), append(code, c64(arg)...)
		}
	}
	drop := wasmtest.Drop
	switch out {
	case "->i32":
		results = i32
	case "->i64":
		results = i64
	default:
		drop = nil
	}
	return Guest{Name: fmt.Sprintf("%s(%d)", name, arg), Why: "a loop of it ends", Wasm: write(func(m *module) {
		f := m.Import(module_, name, params, results)
		m.Memory(pages/2, -1, "memory")
		m.Hook(Hook, nil, wasmtest.Forever(code, call(f), drop))
	})}
}
