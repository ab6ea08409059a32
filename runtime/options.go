package runtime

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Options are the settings of a [Runtime]. The zero value is safe and complete
// but for what the fields say.
type Options struct {
	// CacheDir is where compiled modules are kept between runs. It is made
	// with mode 0700, and refused where it holds something and others than the
	// user of this process own it, or can read or change it. Empty: modules are
	// compiled at every load.
	CacheDir string
	// CacheKey authenticates what is in CacheDir, which is machine code: 32
	// random bytes that only this user knows. Entries of another key are
	// compiled again. Nil: a key in CacheDir itself, made at first use. That
	// holds as long as nobody else makes the folder, such as a repository.
	CacheKey []byte
	// KV stores what plugins keep. Nil: the kv calls are denied.
	KV abi.KV
	// Counter counts tokens for plugins. Nil: tokens.count is denied.
	Counter abi.Counter
	// Model completes prompts for plugins. Nil: model.complete is denied.
	Model abi.Model
	// Interpreter runs guests without compiling them: slower by far, and
	// available on every platform.
	Interpreter bool
	// WarmBytes is how much memory the instances may have that wait for calls,
	// of all plugins together. Zero is 256 MiB; negative is none.
	WarmBytes int64
}

// PluginOptions say how one plugin is loaded. The zero value grants nothing
// and uses the default limits.
type PluginOptions struct {
	// Manifest replaces the one inside the module.
	Manifest *abi.Manifest
	// Digest pins the module: "sha256:" and 64 hex digits. A module with
	// another digest is refused. Empty: any.
	Digest string
	// Grants are the capabilities the operator grants. They take effect where
	// the manifest asks for them too.
	Grants Grants
	// Adopt gives the module what other modules of its name have stored, as a
	// new version should have it and a stranger should not. Without it a module
	// with another digest than theirs has a namespace of its own, and a warning
	// says so. A module whose Digest is pinned is adopted.
	Adopt bool
	// Limits of each call. Zero fields are the defaults; here they can be
	// raised, in the manifest only lowered.
	Limits abi.Limits
	// Config are knob values. Knobs without one have their default.
	Config abi.Config
	// Secrets are values the manifest asks for by name. The host writes them
	// into headers of HTTP requests (see [abi.HTTPRequest]), which go to
	// granted origins alone, and cuts them, where they stand word for word,
	// out of what comes back and of everything the plugin logs or answers with
	// an error. No call hands them to the guest.
	Secrets map[string]string
	// Engine runs the plugin. Nil: the sandbox of this package.
	Engine Engine
	// Warm is how many instances are kept ready for calls, in the sandbox. None is
	// made before the second call, and none is kept for more
	// than some minutes without calls. Zero is 2; negative is none.
	Warm int
	// Cassette, if set, answers the host calls that leave the host: it records
	// or replays them. Grants and limits hold all the same.
	Cassette Cassette
	// AnyExport accepts a module that exports no hook, for [Plugin.CallRaw].
	AnyExport bool
}

// The bounds of what even an operator can set.
const (
	maxTimeout  = 24 * time.Hour
	maxMemoryMB = 4096 // all a 32-bit guest can address
	// maxStackBytes is below what the engine itself can have.
	maxStackBytes = 256 << 20
)

// effectiveLimits are the operator's limits, or the defaults, lowered by the
// manifest.
func effectiveLimits(op abi.Limits, m *abi.Manifest, g Grants) (abi.Limits, error) {
	for name, v := range op.All() {
		top := math.MaxInt32
		switch name {
		case "timeout_ms":
			top = int(maxTimeout.Milliseconds())
		case "memory_mb":
			top = maxMemoryMB
		case "stack_bytes":
			top = maxStackBytes
		case "table_elements":
			top = wasm.MaxElements
		case "module_bytes":
			top = wasm.MaxBytes
		}
		if v < 0 || v > top {
			return abi.Limits{}, badLimit(m, name, int64(v), int64(top))
		}
	}
	if op.Fuel < 0 {
		return abi.Limits{}, badLimit(m, "fuel", op.Fuel, math.MaxInt64)
	}
	def := abi.DefaultLimits()
	if plans(m, g) {
		def.TimeoutMS = int(abi.PlanTime.Milliseconds())
	}
	return op.Or(def).Lower(m.Limits), nil
}

// plans reports whether a plugin may make the plan of a compaction, or ask a model: it has
// the time that a model has for a summary.
func plans(m *abi.Manifest, g Grants) bool {
	return m.Has(abi.RoleCompactor) || slices.ContainsFunc([]abi.Capability{abi.CapModel, abi.CapCompactionSummary},
		func(c abi.Capability) bool { _, asks := m.Capabilities[c]; return asks && g.Allows(c) })
}

func badLimit(m *abi.Manifest, name string, v, top int64) error {
	return &abi.Error{
		Code: abi.CodeUsage, Op: "load", Plugin: m.Name, Phase: abi.PhaseLoad,
		Message: fmt.Sprintf("limits: %s: %d is not from 0 to %d", name, v, top),
	}
}
