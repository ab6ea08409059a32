package plugintest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
)

// SessionInput is a session over its budget, with something to keep and to
// note, in a dry run.
func SessionInput(tb testing.TB) []byte {
	in := &abi.Input{ABI: abi.Version, Hook: abi.HookPreCompact, Budget: abi.Budget{TargetTokens: 400, SummaryTokens: 200}}
	in.Trigger.DryRun = true
	add := func(role abi.Role, text string) {
		n := len(in.Messages)
		in.Messages = append(in.Messages, abi.InputMessage{
			Message: abi.Message{ID: fmt.Sprintf("m%d", n), Role: role, Content: abi.Text(text)},
			Tokens:  len(text)/4 + 4, Pinned: n == 0, Unit: n,
		})
	}
	add(abi.RoleUser, "Make the parser faster.")
	for n := range 20 {
		add(abi.RoleAssistant, fmt.Sprintf("I read file %d. We decided to use tabs in parser %d because the old "+
			"code does. %s", n, n, strings.Repeat("It goes on. ", 20)))
		add(abi.RoleUser, fmt.Sprintf("I prefer short names in package %d. Always run the tests first.", n))
	}
	doc, err := json.Marshal(in)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}
