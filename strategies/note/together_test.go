package note_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// listNumbers are like the numbers of lists, which a quotation may leave out.
var listNumbers = regexp.MustCompile(`\d{1,3}[.)]`)

// letters are those of a text and its digits, without what quotations leave out of lines.
func letters(s string) string {
	s = listNumbers.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// moreEntries are the marks that count entries of lists.
var moreEntries = regexp.MustCompile(`; \[\d+ more\]`)

// headsLeftOut are marks that name the headings of what they stand for.
var headsLeftOut = regexp.MustCompile(`\[\.\.\.\] \(left out: [^\n]*\)`)

// TestQuotedTogether: what is quoted of an agent's words between two marks stands together there, and what they begin
// with is their beginning where no mark stands before it.
func TestQuotedTogether(t *testing.T) {
	features.Proves(t, "N13")
	quotes := 0
	for _, path := range shared.Sessions(t) {
		for _, m := range shared.Messages(t, path) {
			text := strings.TrimSpace(m.Text())
			if m.Role != abi.RoleAssistant || text == "" {
				continue
			}
			all := letters(text)
			for _, said := range []string{
				note.Closing(text), note.Asked(text), note.LastWords(text, 700), note.WithRefusal(text),
			} {
				said = moreEntries.ReplaceAllString(strings.TrimPrefix(said, "Agent: "), " [...] ")
				said = headsLeftOut.ReplaceAllString(said, "[...]")
				behind := 0 // the parts before
				for i, part := range strings.Split(said, "[...]") {
					at := strings.Index(all, letters(part))
					if at < 0 {
						t.Errorf("%q is quoted together of\n%s", part, text)
					}
					if i == 0 && at > maxUnmarked {
						t.Errorf("%q is quoted without a mark before it of\n%s", part, text)
					}
					if next := strings.Index(all[behind:], letters(part)); next < 0 && at >= 0 {
						t.Errorf("%q does not stand behind what is quoted before it in\n%s\nof\n%s", part, said, text)
					} else if next >= 0 {
						behind += next + 1
					}
					quotes++
				}
			}
		}
	}
	if quotes < 1000 {
		t.Errorf("%d quotes", quotes)
	}
}

// maxUnmarked is how many letters of praise, and of headings that say nothing, may stand before a quotation.
const maxUnmarked = 34
