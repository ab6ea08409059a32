package strategies

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note"
)

var (
	ShortenRecent = shortenRecent
	PruneNotice   = pruneNotice
	Answered      = answered
)

// Cap is what caps giants: limit tokens for each.
func Cap(v *View, limit int) []abi.Edit { return capped(v, limit, nil) }

// FitsWithout is for properties of the cut.
func (v *View) FitsWithout(tokens, note int) bool { return v.fitsWithout(size{tokens: tokens}, note) }

// Ready and Written are what a summary is made of, and what it came to.
type (
	Ready   = preparation
	Written = written
)

// Config is one summary to be written, flat.
type Config struct {
	Model, Prompt                  string
	Outline                        note.Outline
	WindowMessages, PreserveRecent int
	MaxSummaryTokens, Room         int
	ToolResultChars, Chunks        int
	Serial                         bool
	Focus                          string
	InputTokens                    int
}

func (c Config) summary() summary {
	return summary{
		SummarizeConfig: SummarizeConfig{Model: c.Model, Prompt: c.Prompt, WindowMessages: c.WindowMessages,
			PreserveRecent:   c.PreserveRecent,
			MaxSummaryTokens: c.MaxSummaryTokens, ToolResultChars: c.ToolResultChars, Chunks: c.Chunks, Serial: c.Serial},
		sections: c.Outline, budget: c.Room, focus: c.Focus, inputTokens: c.InputTokens,
	}
}

func (c Config) Recent() int { s := c.summary(); return s.Recent() }

// Prepare decides what goes, keeping the last messages.
func Prepare(v *View, c Config, keepLast int) (*Ready, error) {
	return prepare(v, c.summary(), keepLast)
}

// Write asks the model.
func Write(ctx context.Context, m abi.Model, p *Ready, c Config) (Written, error) {
	return p.write(ctx, m, c.summary())
}
