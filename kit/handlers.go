package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime"
)

// checkHandlers refuses a plugin that would answer nothing to a hook its manifest
// names. Where a language exports hooks one by one, loading the module has shown
// that already; a Go module exports all of them and is asked. A module that cannot
// answer that, because it fails as it starts, is for verify to judge.
func checkHandlers(ctx context.Context, p *runtime.Plugin) error {
	answer, _, err := p.CallRaw(ctx, abi.HandlersExport, nil)
	if err != nil {
		return nil
	}
	m, handled := p.Manifest(), strings.Fields(string(answer))
	if len(handled) == 0 {
		return noHandler(m, "", "no hook has a handler",
			"hand the plugin to guest.Register in an init function, with a handler for each hook: "+
				"guest.Register(guest.Plugin{PreCompact: keep})")
	}
	wanted := m.Hooks
	if m.Has(abi.RoleCompactor) && len(wanted) == 0 {
		wanted = []abi.Hook{abi.HookPreCompact}
	}
	for _, h := range wanted {
		if !slices.Contains(handled, string(h)) {
			return noHandler(m, h, fmt.Sprintf("the manifest names the hook %s, which has no handler", h),
				fmt.Sprintf("set %s in the guest.Plugin that guest.Register gets, or take the hook out of hooks in %s",
					handlerFields[h], ManifestFile))
		}
	}
	return nil
}

// handlerFields are the fields of guest.Plugin.
var handlerFields = map[abi.Hook]string{
	abi.HookPreCompact: "PreCompact", abi.HookPostCompact: "PostCompact", abi.HookTurnEnd: "TurnEnd",
}

func noHandler(m *abi.Manifest, h abi.Hook, message, hint string) error {
	return &abi.Error{Code: abi.CodeRefused, Op: "build", Plugin: m.Name, Hook: h, Phase: abi.PhaseLoad, Message: message,
		Hint: hint}
}
