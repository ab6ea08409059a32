package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Plugin is what all calls of a plugin share. It does not change once it is
// loaded.
type Plugin struct {
	Module   *wasm.Module
	Digest   string // of the module, "sha256:" and hex
	Manifest *abi.Manifest
	Limits   abi.Limits // of each call
	Config   abi.Config // the value of each knob
	// Allows reports what the operator grants.
	Allows func(abi.Capability) bool
	// Adopt: the data under the plugin's name is this module's too.
	Adopt    bool
	Web      *egress.Client // reaches what is granted
	Cassette Cassette       // nil: calls that leave the host are made
	Services *Services
	// Warm is how many instances wait for calls; see runtime.PluginOptions.
	Warm int

	redact *strings.Replacer
	// inBlocks: the guest asks where its input is in the Extism ABI's memory.
	inBlocks bool
	// lines are the namespaces of its data by agent, once they are known; see
	// Namespace.
	lines map[string]string
}

// Finish is called once the fields are set. Secrets are values by name.
func (p *Plugin) Finish(secrets map[string]string) {
	p.redact = newRedactor(secrets)
	p.inBlocks = slices.ContainsFunc(p.Module.Imports, func(i wasm.Import) bool {
		return i.Module == abi.ExtismModule && i.Name == "input_offset"
	})
}

// Asks reports whether the plugin's manifest asks for a capability.
func (p *Plugin) Asks(c abi.Capability) bool {
	_, ok := p.Manifest.Capabilities[c]
	return ok
}

// need is the one place where a call is refused what its plugin does not have:
// the manifest asks for a capability, and the operator grants it. Empty needs
// neither.
func (p *Plugin) need(c abi.Capability) error {
	switch {
	case c == "":
	case !p.Asks(c):
		return &abi.Error{
			Code: abi.CodeDenied, Message: fmt.Sprintf("the manifest does not ask for the capability %s", c),
			Hint: "name it under capabilities, with a reason",
		}
	case !p.Allows(c):
		return &abi.Error{
			Code: abi.CodeDenied, Message: fmt.Sprintf("the capability %s is not granted", c),
			Hint: "the operator grants it: " + GrantFlag(c, p.Manifest.Capabilities[c].Hosts),
		}
	}
	return nil
}

// GrantFlag is what an operator writes on a command line to grant a capability,
// with the first of the hosts that are asked for.
func GrantFlag(c abi.Capability, hosts []string) string {
	flag := "--grant " + string(c)
	if len(hosts) > 0 {
		flag += "=" + abi.Defuse(hosts[0])
	}
	return flag
}

// FunctionName is what to call a function that an engine names so. Engines number
// functions without a name ("$12") after rewriting, which added so many before
// them: that is taken off, and a number that the module does not have is empty.
func (p *Plugin) FunctionName(name string, added int) string {
	digits, nameless := strings.CutPrefix(name, "$")
	index, err := strconv.Atoi(digits)
	if !nameless || err != nil {
		return name
	}
	index -= added
	if index < p.Module.Imported[wasm.KindFunc] || index >= len(p.Module.Funcs) {
		return ""
	}
	return fmt.Sprintf("function %d", index)
}
