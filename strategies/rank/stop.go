package rank

import "strings"

// stopList are the English words that say nothing of a text's matter, and
// what is left of didn't and the like.
const stopList = `
a about above after again against ain all also am an and any are aren as at
be because been before being below between both but by
can could couldn did didn do does doesn doing don down during
each either else ever every few for from further get gets getting go goes going got
had hadn has hasn have haven having he her here hers herself hey hi him himself his how however
i if in into is isn it its itself just let like ll
many may me might more most much must my myself neither no nor not now
of off oh ok okay on once only or other our ours ourselves out over own
please quite rather re really said same say says shall she should shouldn so some such
than thanks that the their theirs them themselves then there these they this those through to too
under until up upon us ve very was wasn way we well were weren what when where which while who whom whose why
will with would wouldn yeah yes yet you your yours yourself yourselves
`

var stopWords = func() map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(stopList) {
		set[w] = true
		maxStop = max(maxStop, len(w))
	}
	return set
}()

// maxStop is the length of the longest stop word.
var maxStop int

// isStop reports whether a term in lower case counts for nothing: a stop word,
// or a single Latin letter.
func isStop(term []byte) bool {
	return len(term) == 1 && 'a' <= term[0] && term[0] <= 'z' || len(term) <= maxStop && stopWords[string(term)]
}
