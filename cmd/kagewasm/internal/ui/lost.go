package ui

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// Lost is what `kagewasm lost --json` prints.
type Lost struct {
	Session string         `json:"session"`
	Losses  []session.Loss `json:"lost"` // the weightiest first
}

// lossHeads are what stands above each kind.
var lossHeads = map[note.LossKind]string{
	note.LostRule: "rules, decisions and corrections of people", note.LostStatement: "what else people said",
	note.LostDecision: "what the agent decided, reasoned and found", note.LostClaim: "what else the agent said to people",
	note.LostFailure: "failures that did not pass later", note.LostFile: "files that were changed",
	note.LostMessage: "the rest",
}

// LostShown shows what went.
func LostShown(p Printer, v *Lost) {
	if len(v.Losses) == 0 {
		p.Linef("%s: nothing of that kind went", v.Session)
		return
	}
	var kind note.LossKind
	for _, l := range v.Losses {
		if l.Kind != kind {
			if kind != "" {
				p.Linef("")
			}
			kind = l.Kind
			p.Linef("%s", p.paint(bold, lossHeads[kind]))
		}
		where := "in several messages"
		if l.Message != "" {
			where = strings.Join(origin([]string{l.Message, string(l.Role)}, l.Compaction, l.Time, false), ", ")
		}
		p.lines("  "+p.paint(dim, fmt.Sprintf("%s:", where)), l.Text)
	}
}
