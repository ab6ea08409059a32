// Package refusal knows the words in which providers refuse a request for another reason than its length.
package refusal

import (
	"regexp"
	"strings"
)

// rateLimited are the words for too much in too short a time. They win, since
// such errors speak of tokens and limits too.
var rateLimited = regexp.MustCompile(`(?i)tokens per (?:min|hour|day)|\btp[md]\b|rate[_ ]limit|` +
	`too many requests|throttling|insufficient_quota`)

// RateLimited reports whether words of a provider speak of a rate limit.
func RateLimited(words string) bool { return rateLimited.MatchString(words) }

// causes are what else a refusal is about, by its words. The first that fits counts.
var causes = []struct {
	is    string
	words *regexp.Regexp
}{
	{"a rate limit", rateLimited},
	{"a rate limit", regexp.MustCompile(`^(?:http |status |error )*(?:code:? )?429\b`)},
	{"the account's plan or credit", regexp.MustCompile(`\bquota\b|billing|credit balance|payment required`)},
	{"the key or what it may be used for", regexp.MustCompile(`\bapi[ _-]?key|authenticat|unauthorized|` +
		`permission[_ ](?:error|denied)|forbidden|access denied`)},
	{"a provider that is down or busy", regexp.MustCompile(`overloaded|unavailable|bad gateway|gateway time-?out|` +
		`internal server error`)},
	{"the network, or the time that a call may take", regexp.MustCompile(`deadline exceeded|timed? ?out\b|` +
		`connection (?:reset|refused|closed)|no such host`)},
	{"the length of the answer alone", regexp.MustCompile(`\bmax_(?:completion_|output_)?tokens\b`)},
	{"a filter of content", regexp.MustCompile(`content[_ ](?:filter|management policy)`)},
	{"a model that is not there", regexp.MustCompile(`model[_ ]not[_ ]found`)},
}

// ofSize are words for the size of a request: whatever else stands beside them, it may be too long.
var ofSize = regexp.MustCompile(`\brequest too (?:large|long|big)\b|\b(?:prompt|input)\b[^.]*\b(?:too|exceed|longer)|` +
	`\bprompt tokens\b|\bcontext (?:window|length)\b`)

// MaxWords is how much of an error is searched. What it is about stands in
// front; after it come stack traces and whole pages.
const MaxWords = 16 << 10

// Words are those of an error as they are searched, in lower case.
func Words(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text[:min(len(text), MaxWords)]), " "))
}

// Other returns what a provider's words are about, "" where they may be about a request that is too long. Ask it
// only of words that say nothing of the length.
func Other(words string) string {
	words = Words(words)
	if ofSize.MatchString(words) {
		return ""
	}
	for _, c := range causes {
		if c.words.MatchString(words) {
			return c.is
		}
	}
	return ""
}
