package strategies

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// rules are what an answer has to keep to, to be a summary.
type rules struct {
	outline  note.Outline
	cap      int // tokens
	replaced int // tokens of what goes
	count    func(string) int
}

// accept returns the summary that an answer is, made fit, or an error that says why it is none. The
// answer must be smaller than what it replaces. Its shape is repaired, and content is never made up: a
// few missing sections are marked as empty, and too many words are cut at the end of the longest
// sections.
func (j rules) accept(resp abi.ModelResponse, conversation string) (string, error) {
	if resp.StopReason != "" && resp.StopReason != abi.StopEnd {
		return "", j.refuse("it ended before it was complete (%s)", label(string(resp.StopReason)))
	}
	if len(resp.Text) > 4*j.cap*maxTokenBytes {
		return "", j.refuse("it had %d bytes, for %d tokens at most", len(resp.Text), j.cap)
	}
	text := strings.TrimSpace(abi.Defuse(unwrap(resp.Text)))
	tokens := j.count(text)
	switch {
	case !readable(text):
		return "", j.refuse("it was empty")
	case tooShort(text, j.replaced):
		return "", j.refuse("it had %d bytes, which cannot stand for %d tokens", len(text), j.replaced)
	case tokens >= j.replaced:
		return "", j.refuse("it was longer than what it replaces: %d tokens for %d", tokens, j.replaced)
	case tokens > 4*j.cap:
		return "", j.refuse("it had %d tokens, for %d at most", tokens, j.cap)
	case rambles(text):
		return "", j.refuse("it repeated itself")
	case quotes(text, conversation):
		return "", j.refuse("it gave back the transcript")
	}
	text, err := j.shape(text)
	if err != nil {
		return "", err
	}
	if j.count(text) > j.cap {
		text = squeeze(j.outline, text, j.cap, j.count)
	}
	return text, nil
}

// shape returns the text with missing sections marked as empty at the end. With at least half of the
// sections it is a summary that forgot some. With fewer it is something else, and an error.
func (j rules) shape(text string) (string, error) {
	missing := j.outline.Missing(text)
	switch all := len(j.outline.Sections); {
	case all == 0:
		if refusal().MatchString(text) {
			return "", j.refuse("it declined")
		}
	case 2*len(missing) > all:
		return "", j.refuse("%d of %d sections were missing: %s", len(missing), all, strings.Join(missing, ", "))
	}
	return j.outline.MarkMissing(text), nil
}

func (j rules) refuse(format string, args ...any) error {
	why := fmt.Errorf(format, args...)
	return &abi.Error{Code: abi.CodeBadSummary, Op: summarizeName, Phase: abi.PhaseOutput, Err: why,
		Message: "the model's answer was refused: " + why.Error(),
		Hint:    "nothing was changed; try another model or prompt if it happens often"}
}

// unwrap takes off what models put around an answer: their thinking, and a
// block of code.
func unwrap(text string) string {
	text = strings.TrimSpace(text)
	if at := thought().FindStringIndex(text); at != nil && at[0] == 0 {
		text = strings.TrimSpace(text[at[1]:])
	} else if before, after, ok := strings.Cut(text, "</think>"); ok && !strings.Contains(before, "#") {
		text = strings.TrimSpace(after) // the template had opened it
	}
	first, body, ok := strings.Cut(text, "\n")
	if !ok || !strings.HasPrefix(first, "```") {
		return text
	}
	if inner, ok := strings.CutSuffix(body, "\n```"); ok && strings.Count(inner, "```")%2 == 0 {
		return strings.TrimSpace(inner)
	}
	return text
}

// readable reports whether a third of a text is letters and digits.
func readable(text string) bool {
	words, all := 0, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			words++
		}
	}
	return words > 0 && 3*words >= all
}

// A summary of a page has at least the bytes of the shortest answer in any script, two characters of
// Chinese. A summary of a morning's work has at least those of a sentence.
const (
	answerBytes, answerPer     = 5, 100   // at least one for so many tokens
	sentenceBytes, sentencePer = 20, 1000 // and one for so many
)

// tooShort reports whether a text cannot stand for so many tokens: "x" or "all done" says nothing to go
// on with. No length tells a good sentence from a bad one, so no more than a sentence is asked for.
func tooShort(text string, tokens int) bool {
	least := max(min(tokens/answerPer, answerBytes), min(tokens/sentencePer, sentenceBytes))
	return len(strings.TrimSpace(text)) < least || least > 1 && !readable(text)
}

// rambles reports whether a long text says very few different words: a model
// that got stuck.
func rambles(text string) bool {
	words := strings.Fields(text)
	if len(words) < 100 {
		return false
	}
	return len(words) > 10*len(set.Of(words...))
}

// quotes reports whether an answer has the frame of the transcript in it.
func quotes(answer, conversation string) bool {
	tag, _, ok := strings.Cut(abi.Fence(frameConversation, "session", "", conversation), " ")
	return ok && strings.Contains(answer, strings.TrimPrefix(tag, "<"))
}

// refusal matches how models decline, where no section could be missing.
var refusal = lazy.Regexp(
	`(?i)^(i['’]?m sorry|i am sorry|sorry,|i can['’]?t|i cannot|i am unable|i['’]m unable|as an ai)`)
