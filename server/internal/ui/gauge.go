package ui

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// gauge is how full a window is, and where a compaction starts and ends.
type gauge struct {
	Tokens int
	Window int
	// Upper and Lower are in tokens, 0 where nobody knows.
	Upper, Lower int
	// Assumed: nobody knows the window, and this one is used.
	Assumed bool
	// Estimated: some of the tokens were not counted.
	Estimated bool
}

// gaugeOf is the one of a session with the settings of its agent.
func gaugeOf(row *store.Session, a *service.Agent) (*gauge, error) {
	s := sessionOf(row)
	if s.ContextWindow = a.Window; row.Window > 0 {
		s.ContextWindow = &row.Window
	}
	l, err := a.Compactor.Limits(s)
	if err != nil {
		return nil, err
	}
	return &gauge{Tokens: row.Tokens, Window: l.Window, Upper: l.Upper, Lower: l.Target, Assumed: s.ContextWindow == nil},
		nil
}

// Share is how full the window is.
func (g *gauge) Share() float64 { return float64(g.Tokens) / float64(max(1, g.Window)) }

// At is where so many tokens stand, in thousandths of the width.
func (g *gauge) At(tokens int) int { return min(1000, max(0, 1000*tokens/max(1, g.Window))) }

// Level says in a word how things stand.
func (g *gauge) Level() string {
	switch {
	case g.Tokens > g.Window:
		return "over"
	case g.Upper > 0 && g.Tokens >= g.Upper:
		return "due"
	}
	return "calm"
}

// Room is how many tokens are left until a compaction is due.
func (g *gauge) Room() int { return max(0, g.Upper-g.Tokens) }

// sessionOf is a session as its agent's settings are asked for.
func sessionOf(row *store.Session) abi.Session {
	return abi.Session{ID: row.ID, AgentPath: row.Agent, Model: row.Model}
}
