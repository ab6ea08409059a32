package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	extism "github.com/extism/go-sdk"
	hclog "github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// calling compares a call that gives its input back: in our sandbox with all its limits and a
// fresh instance each time; in stock extism with a time limit, one instance for all calls;
// in a process of its own behind gRPC, without limits. The time is the clock's, since
// go-plugin's other process would not be counted.
func calling(ctx context.Context, _ *peers) (rows []Row, err error) {
	ours, end, err := sandboxed(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	stock, closeStock, err := stockExtism(ctx)
	if err != nil {
		return nil, err
	}
	defer closeStock()
	other, kill, err := overGRPC(ctx)
	if err != nil {
		return nil, err
	}
	defer kill()
	for _, size := range []struct {
		name  string
		bytes int
	}{{"64 B", 64}, {"1 MB", 1 << 20}} {
		in := []byte(`{"abi":1,"x":"` + strings.Repeat("x", size.bytes-16) + `"}`)
		own, err := each(in, ours)
		if err != nil {
			return nil, err
		}
		for _, peer := range []struct {
			name string
			call func([]byte) (int, error)
			want float64
		}{{"extism/go-sdk", stock, 0}, {"hashicorp/go-plugin, gRPC", other, 0}} {
			took, err := each(in, peer.call)
			if err != nil {
				return nil, err
			}
			rows = append(rows, Row{Case: size.name + " in and out", Peer: peer.name, Ours: own, Peers: took, Unit: "us",
				Want: peer.want})
		}
	}
	return rows, nil
}

// each is the median time of a call in microseconds. A call that does not give back what it
// was given is an error.
func each(in []byte, call func([]byte) (int, error)) (us float64, err error) {
	var took []float64
	for start := time.Now(); time.Since(start) < time.Second || len(took) < 20; {
		before := time.Now()
		n, err := call(in)
		if err == nil && n != len(in) {
			err = errors.New("the answer is not the input")
		}
		if err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(before).Nanoseconds())/1e3)
	}
	return median(took), nil
}

func sandboxed(ctx context.Context) (call func([]byte) (int, error), end func(), err error) {
	rt, err := runtime.New(ctx, runtime.Options{})
	if err != nil {
		return nil, nil, err
	}
	module, err := runtime.Open(wasmtest.Echo(string(abi.HookPreCompact)))
	if err != nil {
		return nil, nil, err
	}
	p, err := rt.Load(ctx, module, runtime.PluginOptions{})
	if err != nil {
		return nil, nil, err
	}
	return func(in []byte) (int, error) {
		out, _, err := p.CallRaw(ctx, string(abi.HookPreCompact), in)
		return len(out), err
	}, func() { _ = rt.Close(ctx) }, nil
}

func stockExtism(ctx context.Context) (call func([]byte) (int, error), end func(), err error) {
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasmtest.ExtismEcho("echo")}}, Timeout: 10_000}
	p, err := extism.NewPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		return nil, nil, err
	}
	return func(in []byte) (int, error) {
		_, out, err := p.CallWithContext(ctx, "echo", in)
		return len(out), err
	}, func() { _ = p.Close(ctx) }, nil
}

// handshake is what host and plugin of go-plugin know each other by.
var handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "KAGEWASM_BENCH", MagicCookieValue: "echo"}

const echoMethod = "/bench.Echo/Call"

// echo is the plugin of go-plugin.
type echo struct {
	plugin.NetRPCUnsupportedPlugin
}

// GRPCServer implements plugin.GRPCPlugin.
func (echo) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "bench.Echo", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Call",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(wrapperspb.BytesValue)
			err := decode(in)
			return in, err
		},
	}}}, struct{}{})
	return nil
}

// GRPCClient implements plugin.GRPCPlugin.
func (echo) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

var pluginSet = plugin.PluginSet{"echo": echo{}}

// serveEcho is the plugin's process, where go-plugin started this program as one.
func serveEcho() {
	if os.Getenv(handshake.MagicCookieKey) != handshake.MagicCookieValue {
		return
	}
	plugin.Serve(&plugin.ServeConfig{HandshakeConfig: handshake, Plugins: pluginSet, GRPCServer: plugin.DefaultGRPCServer,
		Logger: hclog.NewNullLogger()})
	os.Exit(0)
}

func overGRPC(ctx context.Context) (call func([]byte) (int, error), kill func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	client := plugin.NewClient(&plugin.ClientConfig{HandshakeConfig: handshake, Plugins: pluginSet,
		Cmd: exec.Command(self), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger()})
	protocol, err := client.Client()
	if err != nil {
		return nil, nil, err
	}
	raw, err := protocol.Dispense("echo")
	if err != nil {
		client.Kill()
		return nil, nil, err
	}
	conn := raw.(*grpc.ClientConn)
	return func(in []byte) (int, error) {
		out := new(wrapperspb.BytesValue)
		err := conn.Invoke(ctx, echoMethod, wrapperspb.Bytes(in), out, grpc.MaxCallRecvMsgSize(64<<20))
		return len(out.GetValue()), err
	}, client.Kill, nil
}
