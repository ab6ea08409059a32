package archtest_test

// row is one line of the layout: a package and what it may import of the
// project. Its own subpackages it may import always.
type row struct {
	// pattern is the package's folder below the project's root, "." for the
	// root itself. "/..." takes in all folders below, "*" any one name.
	pattern string
	// may are the patterns of rows above. allAbove stands for all of them.
	may []string
	// std forbids modules other than the standard library.
	std bool
	// engine allows the WebAssembly engines.
	engine bool
	// helper marks packages for tests and for go generate: they may import
	// anything, and nothing that is shipped imports them.
	helper bool
	// tool marks small packages that every row below theirs may import.
	tool bool
}

const allAbove = "all above"

// layout is the table, from the bottom up: what a row names stands above it.
var layout = []row{
	{pattern: "internal/unaligned", std: true, tool: true},
	{pattern: "internal/jsonlex", std: true, tool: true},
	{pattern: "internal/plainjson", std: true, tool: true},
	{pattern: "internal/strictjson", std: true, tool: true},
	{pattern: "internal/lists", std: true, tool: true},
	{pattern: "internal/lazy", std: true, tool: true},
	{pattern: "internal/learned", std: true, tool: true},
	{pattern: "internal/sum", std: true, tool: true},
	{pattern: "internal/lower", std: true, tool: true},
	{pattern: "internal/wordlist", std: true, tool: true},
	{pattern: "abi", std: true},
	{pattern: "internal/wire", may: []string{"abi"}, std: true, tool: true},
	{pattern: "abi/guest/...", may: []string{"abi"}, std: true},
	{pattern: "internal/atomicfile", std: true},
	{pattern: "internal/owner", may: []string{"internal/atomicfile"}, std: true, tool: true},
	{pattern: "internal/sealed", std: true, tool: true},
	{pattern: "internal/sealmark", std: true, tool: true},
	{pattern: "internal/lineage", may: []string{"abi"}},
	{pattern: "internal/callrecord", may: []string{"abi"}, std: true, tool: true},
	{pattern: "internal/retained", may: []string{"abi"}, std: true, tool: true},
	{pattern: "internal/yamldoc"},
	{pattern: "internal/pluginyaml", may: []string{"abi", "internal/yamldoc"}},
	{pattern: "abi/abitest/...", may: []string{"abi", "internal/pluginyaml"}},
	{pattern: "internal/clip", std: true, tool: true},
	{pattern: "internal/media", may: []string{"abi"}, std: true, tool: true},
	{pattern: "internal/excerpt", std: true, tool: true},
	{pattern: "internal/filelist", may: []string{"abi"}, std: true, tool: true},
	{pattern: "internal/near", std: true, tool: true},
	{pattern: "internal/toolcall", std: true, tool: true},
	{pattern: "internal/set", std: true, tool: true},
	{pattern: "internal/refusal", std: true, tool: true},
	{pattern: "internal/toolname", may: []string{"abi"}, std: true, tool: true},
	{pattern: "internal/results", may: []string{"abi"}, std: true, tool: true},
	{pattern: "internal/msgid", may: []string{"abi"}, std: true, tool: true},
	{pattern: "transcript/...", may: []string{"abi"}},
	{pattern: "tokens/...", may: []string{"abi"}},
	{pattern: "firewall/...", may: []string{"abi"}},
	{pattern: "strategies/...", may: []string{"abi", "firewall/..."}}, // to see what its edits come to
	{pattern: "runtime/...", may: []string{"abi", "internal/lineage"}, engine: true},
	{pattern: "hooks/...", may: []string{"abi"}},
	{pattern: "models/...", may: []string{"abi"}},
	{pattern: "internal/keypath", may: []string{"abi"}},
	{pattern: "store/internal/rows", std: true, tool: true},
	{pattern: "store/kv", may: []string{"abi", "internal/atomicfile", "internal/keypath"}},
	{pattern: "internal/folder", may: []string{"abi", "internal/atomicfile", "internal/keypath", "internal/lineage",
		"store/kv"}},
	{pattern: ".", may: []string{"abi", "tokens/...", "firewall/...", "strategies/...", "hooks/..."}},
	{pattern: "config/...", may: []string{"abi", "internal/atomicfile", "internal/yamldoc", "tokens/...",
		"strategies/...", "."}},
	{pattern: "internal/descent", may: []string{"abi", "."}},
	{pattern: "session", may: []string{"abi", "hooks/...", ".", "strategies/...", "internal/descent"}},
	{pattern: "store", may: []string{"abi", ".", "session", "store/kv"}},
	{pattern: "internal/process", std: true},
	{pattern: "internal/turns", may: []string{"abi", "hooks/...", "store", "internal/process"}},
	{pattern: "internal/record", may: []string{"abi", "hooks/...", ".", "session", "store", "internal/turns",
		"transcript/..."}},
	{pattern: "internal/turnend", may: []string{"abi", "hooks/...", "."}},
	{pattern: "internal/evidence", may: []string{"abi", ".", "strategies/..."}},
	{pattern: "kit/...", may: []string{"abi", "abi/abitest/...", "internal/pluginyaml", "internal/atomicfile",
		"runtime/...", "store/kv"}},
	{pattern: "internal/bench", may: []string{"abi", "abi/abitest/...", "runtime/...", "store/kv"}},
	{pattern: "internal/survey", may: []string{"abi", "abi/abitest/...", "transcript/...", "tokens/...", "runtime/...",
		"hooks/...", "store/kv", "."}},
	{pattern: "internal/plugindiff", may: []string{"abi", "runtime/..."}},
	{pattern: "internal/devloop", may: []string{"abi", "runtime/...", "kit/...", "internal/survey",
		"internal/plugindiff"}},
	{pattern: "internal/rerun", may: []string{"abi", "hooks/...", ".", "session", "store", "tokens/..."}},
	{pattern: "internal/service", may: []string{"abi", "hooks/...", ".", "session", "store", "internal/record",
		"internal/turnend", "internal/turns", "transcript/...", "tokens/...", "models/..."}},
	{pattern: "internal/replay", may: []string{"abi", ".", "session", "tokens/...", "strategies/..."}},
	{pattern: "server/...", may: []string{allAbove}},
	{pattern: "proxy/...", may: []string{"abi", "hooks/...", ".", "session", "store", "transcript/...", "tokens/...",
		"models/...", "internal/record", "internal/turnend", "internal/descent"}},
	{pattern: "integrations", std: true},
	{pattern: "plugins"}, // tests of all plugins together; their imports are free
	{pattern: "plugins/*/...", may: []string{"abi", "abi/guest/...", "strategies/..."}},
	{pattern: "cmd/kagewasm/...", may: []string{allAbove}},
	{pattern: "internal/...", helper: true},
}

// engines are the modules behind which guests run.
var engines = []string{"github.com/tetratelabs/wazero", "github.com/extism/"}
