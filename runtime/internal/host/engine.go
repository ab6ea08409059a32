package host

import "context"

// Engine compiles modules. It is safe for concurrent use.
type Engine interface {
	// Name is what an operator and a report call the engine.
	Name() string
	// Compile makes code of a vetted module. The plugin says how it is loaded.
	// Whatever is wrong with the module is a *wasm.FormError.
	Compile(ctx context.Context, bin []byte, p *Plugin) (Code, error)
}

// Code is the compiled module of one plugin.
type Code interface {
	// Run makes a fresh instance, calls c.Export in it and returns its result,
	// 0 where it has none. It sets c.Phase and c.Linear as it goes. Runs are
	// concurrent.
	Run(ctx context.Context, c *Call) (result uint32, err error)
	// FunctionName is what to call a function that a stack trace of the engine
	// names so; empty for what the engine added. See [Plugin.FunctionName].
	FunctionName(name string) string
	// Close is called once, after the last run.
	Close(ctx context.Context) error
}
