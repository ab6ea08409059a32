package wasmtest

// Seeds are guests of all kinds, to begin fuzzing with.
func Seeds() [][]byte {
	return [][]byte{
		Answer("pre_compact", `{}`), Echo("pre_compact"), ExtismEcho("pre_compact"), Loop("pre_compact"),
		WithManifest(Nothing("pre_compact"), `{"name":"x","abi":1}`),
		Build(func(m *Module) { m.Table(1, 10); m.Table(2, -1); WithHook(m); m.FuncNames("a") }),
		Build(func(m *Module) {
			m.Memory(1, 2, "memory")
			m.Start(m.Func(nil, nil, nil))
			WithHook(m)
		}),
	}
}
