package memory

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sum"
)

// settings are the knobs of plugin.yaml, which describes them.
type settings struct {
	backend string // one of those below
	apiURL  string
	bank    string // its id, as a server knows it

	bankMission, retainMission string

	recall        bool
	recallBudget  string
	recallTokens  int
	recallTypes   []string
	recallTags    []string
	tagsMatch     string
	contextTurns  int
	maxQueryChars int
	timeout       time.Duration

	retain       bool
	fullSession  bool
	everyTurns   int
	overlapTurns int
	toolCalls    bool
	retainTags   []string
	context      string

	compact bool
}

// Values of the knob backend.
const (
	backendEmbedded = "embedded"
	backendServer   = "server"
)

func settingsOf(in *abi.Input) settings {
	k := in.Config
	s := settings{
		backend: k.String("backend", backendEmbedded),
		apiURL:  cmp.Or(k.String("api_url", ""), "http://localhost:8888"),
		bank:    cmp.Or(k.String("bank_id", ""), "kagewasm"),

		bankMission: k.String("bank_mission", ""), retainMission: k.String("retain_mission", ""),

		recall: k.Bool("recall", true), recallBudget: k.String("recall_budget", "mid"),
		recallTokens: k.Int("recall_max_tokens", 1024),
		recallTypes:  list(k.String("recall_types", "")), tagsMatch: k.String("recall_tags_match", "any"),
		contextTurns: k.Int("recall_context_turns", 1), maxQueryChars: k.Int("recall_max_query_chars", 800),
		timeout: time.Duration(k.Float("recall_timeout", 10) * float64(time.Second)),

		retain: k.Bool("retain", true), fullSession: k.String("retain_mode", "chunked") == "full-session",
		everyTurns: k.Int("retain_every_n_turns", 1), overlapTurns: k.Int("retain_overlap_turns", 2),
		toolCalls: k.Bool("retain_tool_calls", false), context: k.String("retain_context", "kagewasm"),

		compact: k.Bool("compact", true),
	}
	if k.Bool("dynamic_bank_id", false) {
		s.bank = dynamicBank(s.bank, k.String("dynamic_bank_granularity", "agent"), &in.Session)
	}
	fill := strings.NewReplacer("{session_id}", in.Session.ID, "{agent_path}", in.Session.AgentPath, "{bank_id}", s.bank)
	s.recallTags = list(fill.Replace(k.String("recall_tags", "")))
	s.retainTags = list(fill.Replace(k.String("retain_tags", "{session_id}")))
	return s
}

// dynamicBank is the id of the bank of an agent, a session or both.
func dynamicBank(bank, granularity string, s *abi.Session) string {
	agent := cmp.Or(s.AgentPath, "main")
	switch granularity {
	case "session":
		return bank + "::" + s.ID
	case "agent_session":
		return bank + "::" + agent + "::" + s.ID
	}
	return bank + "::" + agent
}

// server reports whether memories are kept in a server.
func (s *settings) server() bool { return s.backend == backendServer }

// key is the bank's id as a part of keys of the storage.
func (s *settings) key() string { return keyOf(s.bank) }

// maxKey is how long a text may be that is its own part of a key.
const maxKey = 80

// keyOf is a text as a part of a key: itself where it can be, else what of it
// can and a digest that tells it apart.
func keyOf(text string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, text)
	if plain == text && text != "" && len(text) <= maxKey {
		return text
	}
	whole := sum.Of(text)
	return fmt.Sprintf("%s-%s", plain[:min(len(plain), maxKey)], hex.EncodeToString(whole[:6]))
}

// list reads what is separated by commas. Tags of which nothing is left behind
// the colon are left out.
func list(text string) (items []string) {
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" && !strings.HasSuffix(s, ":") {
			items = append(items, s)
		}
	}
	return items
}
