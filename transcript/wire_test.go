package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wirecheck"
	"github.com/kagewasm/kagewasm/transcript"
)

// providers are the formats that are request bodies, and who says what they
// would be refused for.
var providers = map[transcript.Format]func([]byte) []string{
	openAI:    wirecheck.OpenAI,
	responses: wirecheck.Responses,
	anthropic: wirecheck.Anthropic,
	gemini:    wirecheck.Gemini,
}

// sound returns the messages whose units are complete, from the first of the
// user's on: what could be sent to a provider at all. A log may well end in an
// open call, or hold one that never ended.
func sound(msgs []abi.Message) (list []abi.Message) {
	calls, results := abi.Orphans(msgs)
	broken := make(map[string]bool)
	for key := range calls {
		id, _, _ := strings.Cut(key, "/")
		broken[id] = true
	}
	for key := range results {
		id, _, _ := strings.Cut(key, "/")
		broken[id] = true
	}
	units, _ := abi.Units(msgs)
	gone := make(map[string]bool)
	for _, u := range units {
		for _, i := range u {
			if broken[msgs[i].ID] {
				for _, k := range u {
					gone[msgs[k].ID] = true
				}
			}
		}
	}
	begun := false
	for _, m := range msgs {
		begun = begun || m.Role == abi.RoleUser
		if !gone[m.ID] && (begun || m.Role == abi.RoleSystem) {
			list = append(list, m)
		}
	}
	return list
}

// nextGap is the first index at or after i that is not inside a unit.
func nextGap(msgs []abi.Message, i int) int {
	units, _ := abi.Units(msgs)
	for _, u := range units {
		if last := u[len(u)-1]; u[0] < i && i <= last {
			i = last + 1
		}
	}
	return i
}

// compactions are what is left of a list when the units between two gaps went
// and a summary stands in their place: all between the first message of the
// user's and a number of gaps.
func compactions(msgs []abi.Message) (lists [][]abi.Message) {
	start := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.Role == abi.RoleUser }) + 1
	for k := 1; k <= 4; k++ {
		end := nextGap(msgs, start+(len(msgs)-start)*k/5)
		if start = nextGap(msgs, start); end <= start {
			continue
		}
		summary := abi.Message{ID: fmt.Sprint("sum", k), Role: abi.RoleUser, Kind: abi.KindSummary,
			Content: abi.Text(abi.Fence(abi.KindSummary, "test", "", "so far"))}
		lists = append(lists, append(append(slices.Clone(msgs[:start]), summary), msgs[end:]...))
		// And without a summary, every other unit gone.
		_, of := abi.Units(msgs)
		var some []abi.Message
		for i, m := range msgs {
			if i < start || of[i]%(k+1) == 0 {
				some = append(some, m)
			}
		}
		lists = append(lists, some)
	}
	return lists
}

// Whatever session is written in a provider's format, before and after a
// compaction, in its own format or another, is a body that the provider takes:
// no call without its result, no result without its call, nothing empty. An
// orphan would be a 400 for good.
func TestProvidersTakeWhatIsWritten(t *testing.T) {
	features.Proves(t, "K9", "complaint 2")
	checked := make(map[transcript.Format]int)
	all := samples(t)
	for _, s := range soak.Sample(all, 20, len(all)) {
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			got := read(t, s.data, transcript.Auto)
			list := sound(got.Messages)
			if len(list) == 0 || list[len(list)-1].Role == abi.RoleSystem {
				return // nothing that could be sent
			}
			lists := append([][]abi.Message{list}, compactions(list)...)
			if len(s.data) > 150_000 {
				lists = lists[:min(3, len(lists))] // as it is, and compacted in both ways
			}
			for to, check := range providers {
				for i, l := range lists {
					if _, stray := abi.Orphans(l); len(stray) > 0 {
						t.Fatalf("list %d has strays", i)
					}
					out := encode(t, got, l, to)
					if to == s.format && i == 0 && len(list) == len(got.Messages) {
						out = s.data // which is a recording, or a list alone
						if out[0] == '[' || strings.Contains(string(out), `"request"`) || strings.HasPrefix(string(out), `{"role"`) {
							continue
						}
					}
					out = asBody(to, s, out)
					if out == nil {
						continue
					}
					if faults := check(out); len(faults) > 0 {
						t.Fatalf("list %d as %s:\n%s\n%s", i, to, strings.Join(faults, "\n"), clip(out))
					}
					checked[to]++
				}
			}
		})
	}
	for to := range providers {
		if checked[to] < soak.Count(10, 100, 100) {
			t.Errorf("%s: only %d bodies were checked", to, checked[to])
		}
	}
}

// asBody makes a body of a document that holds the messages in another way; nil
// where that is not one.
func asBody(to transcript.Format, s sample, out []byte) []byte {
	key := map[transcript.Format]string{
		openAI: "messages", responses: "input", anthropic: "messages", gemini: "contents",
	}[to]
	trimmed := strings.TrimSpace(strings.TrimPrefix(string(out), "\ufeff"))
	switch {
	case trimmed[0] == '[':
		return []byte(`{"` + key + `":` + trimmed + `}`)
	case !strings.Contains(trimmed, `"`+key+`"`):
		return nil // one message a line, or another key
	}
	return []byte(trimmed)
}
