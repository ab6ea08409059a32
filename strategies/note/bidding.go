package note

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/lower"
)

// Rules are worded as orders too, with neither "must" nor "never": "reply in the thread, not at the top", "if it is
// missing, stop". An order by itself may be a step of many, so there has to be more: what must not be done in its
// place, a word in capitals, or when it holds. What a project lists as orders are rules all the same.

var (
	// bidWords begin orders, contrastWords say what must not be done in the place of something.
	bidWords      = newVocabulary("orders")
	contrastWords = newVocabulary("contrasting")
	// otherWords are how a line says that it holds for all others.
	otherWords = newVocabulary("others")
	// insteadWords are headings of what is to be done in the place of what is forbidden above.
	insteadWords = newWordSet("instead")
)

// bids reports whether a sentence is an order that binds. Listed: it stands in a list of a project.
func bids(s string, listed bool) bool {
	bare := strings.TrimLeft(s, "\"'(*_ ")
	rest, ordered := bare, bidWords.begins(bare)
	for n := 0; !ordered && n < maxClauses && conditionWords.begins(bare); n++ {
		i := strings.IndexAny(rest, ",:")
		if i < 0 {
			break
		}
		if rest = strings.TrimLeft(rest[i+1:], " "); strings.HasPrefix(rest, "then ") {
			rest = rest[len("then "):]
		}
		if ordered = bidWords.begins(rest); ordered {
			return true // when it holds stands before it
		}
	}
	switch {
	case strings.HasPrefix(lower.Text(bare), "only ") && bidWords.begins(bare[len("only "):]):
		return true
	case !ordered:
		return false
	}
	return listed || absolute(s) || contrastWords.says(s+" ")
}

// maxClauses is how many clauses may stand before an order.
const maxClauses = 3

// agents are words of the names of agents. Each keeps its skills in a hidden folder of that name.
var agents = newWordSet("agents")

// agentOf is the agent in whose folder a file lies, empty where it lies in none's.
func agentOf(place string) (agent string) {
	for folder := range strings.SplitSeq(place, "/") {
		if name, hidden := strings.CutPrefix(folder, "."); hidden && agents.has(name) {
			agent = name
		}
	}
	return agent
}

// forOthers reports whether what a line begins with says that it holds for other agents than the one whose skill it is:
// "In Claude Code:" in a skill of Codex.
func (in *instructions) forOthers(where string) bool {
	if in.agent == "" || where == "" {
		return false
	}
	others := false
	for w := range strings.FieldsSeq(strings.Trim(lower.Text(where), ":")) {
		w = strings.Trim(w, "*_(),/`'")
		if w == in.agent {
			return false
		}
		others = others || agents.has(w)
	}
	return others
}
