package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much is remembered of each kind, in entries, and of one entry, in runes.
// What is written is bounded by the budget; this bounds what can be carried
// from one compaction to the next.
const (
	maxRequests  = 8
	maxMusts     = 40
	maxDecisions = 12
	maxNext      = 2
	maxEntry     = 300
)

// request notes what a person asked for, word for word. Greetings and thanks
// are dropped (FEATURES I8).
func (d *Digest) request(text string) {
	text = oneLine(text, maxEntry)
	if text == "" || isPleasantry(text) {
		return
	}
	d.requests = add(d.requests, text, maxRequests, true)
}

// pleasantries are texts that ask for nothing new.
var pleasantries = words(`hi|hello|hey|hello there|hi there|good morning|good evening|thanks|thank you|thank you very much|thanks a lot|many thanks|thx|ty|ok|okay|k|yes|yes please|y|yep|yeah|sure|no|nope|go|go on|go ahead|continue|please continue|proceed|great|nice|cool|perfect|awesome|good|good job|well done|sounds good|looks good|lgtm|done|bye|goodbye|
hallo|danke|vielen dank|ja|nein|weiter|mach weiter|super|genau|gut|tschüss|bonjour|salut|merci|oui|non|continuez|hola|gracias|sí|si|sigue|ciao|grazie|obrigado|sim|привет|спасибо|да|нет|продолжай|你好|谢谢|好的|好|是的|继续|こんにちは|ありがとう|はい|続けて|안녕하세요|감사합니다|네|계속`)

func words(list string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.SplitSeq(strings.ReplaceAll(list, "\n", ""), "|") {
		m[w] = true
	}
	return m
}

func isPleasantry(text string) bool {
	if len(text) > 80 {
		return false
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || r == ' ' {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	bare = strings.Join(strings.Fields(bare), " ")
	return pleasantries[bare] || bare == "" && !strings.ContainsFunc(text, unicode.IsDigit) || strings.HasPrefix(text, "[Request interrupted")
}

// mustWords are how requirements are worded, in lower case.
var mustWords = newVocabulary([]string{"must", "should", "shall ", "required", "require ", "requirement", "acceptance", "never ", "always ", "do not ", "don't ", "don’t ", "make sure", "ensure ", "only use", "at least ", "at most ", "no more than", "has to ", "have to ", "needs to ",
	"muss", "müssen", "soll", "nicht ", "immer", "doit", "doivent", "jamais", "toujours", "debe", "nunca", "siempre", "deve", "sempre", "должен", "должн", "нельзя", "всегда", "никогда", "必须", "不要", "应该", "一定", "べき", "しなければ", "必ず", "ないで", "해야", "반드시", "하지 마"})

// maxPasted is the length of a message, in bytes, over which its lists are
// taken for something pasted rather than asked for.
const maxPasted = 16 << 10

// required notes the lines in which a person says what has to be, word for
// word: boxes to check, items of lists, and sentences with a word like must
// (FEATURES A6).
func (d *Digest) required(text string) {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || line == "" || utf8.RuneCountInString(line) > 2*maxEntry {
			continue
		}
		_, item := listItem(line)
		if item && len(text) <= maxPasted || isBox(line) {
			d.must(line)
			continue
		}
		if strings.IndexByte("<>|{}#/`$", line[0]) >= 0 || len(text) > maxPasted {
			continue
		}
		for s := range sentences(line) {
			if mustWords.says(s + " ") {
				d.must(s)
			}
		}
	}
}

func (d *Digest) must(line string) {
	if line, _ = listItem(line); utf8.RuneCountInString(line) >= 4 {
		d.musts = add(d.musts, clip(line, maxEntry), maxMusts, true)
	}
}

// listItem is a line without the mark of a list, and whether it had one. The
// box of a checklist stays.
func listItem(line string) (string, bool) {
	for _, mark := range []string{"- ", "* ", "• ", "+ "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	n := 0
	for n < len(line) && n < 3 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n > 0 && (strings.HasPrefix(line[n:], ". ") || strings.HasPrefix(line[n:], ") ")) {
		return strings.TrimSpace(line[n+2:]), true
	}
	return line, false
}

func isBox(line string) bool {
	line, _ = listItem(line)
	return len(line) > 4 && line[0] == '[' && line[2] == ']' && strings.IndexByte(" xX-~", line[1]) >= 0
}

// decisionWords are how decisions are stated. Few, so that nothing is taken
// for one that is none (FEATURES A6).
var decisionWords = newVocabulary([]string{"decided", "decision:", "i chose", "we chose", "chose to", "choosing ", "going with", "let's go with", "let’s go with", "we'll go with", "i'll go with", "opted for", "opting for", "settled on", "we agreed", "we will use", "we'll use", "i'll use ", "let's use", "rather than", "instead of",
	"entschieden", "entscheidung", "stattdessen", "décidé", "au lieu de", "decidido", "en lugar de", "deciso", "invece di", "решил", "вместо", "决定", "决策", "改用", "而不是", "決め", "代わりに", "결정", "대신"})

// decided notes the sentences that state a decision.
func (d *Digest) decided(text string) {
	if !decisionWords.says(text) {
		return
	}
	for line := range lines(text) {
		if !decisionWords.says(line) {
			continue
		}
		for s := range sentences(line) {
			if n := utf8.RuneCountInString(s); n >= 8 && n <= maxEntry && decisionWords.says(s) {
				d.decisions = add(d.decisions, s, maxDecisions, false)
			}
		}
	}
}

// nextWords are how an agent says what it does next.
var nextWords = newVocabulary([]string{"next", "let me", "i'll ", "i’ll ", "i will ", "now i", "now let", "now we", "let's ", "let’s ", "remaining", "then i", "need to ", "still to",
	"als nächstes", "ich werde", "jetzt ", "ensuite", "maintenant", "je vais", "ahora", "voy a", "siguiente", "теперь", "дальше", "сейчас", "接下来", "下一步", "现在", "次に", "これから", "다음", "이제"})

// comes notes what the agent said last about what comes next; where it says
// nothing of the kind, the last it said.
func (d *Digest) comes(text string) {
	last, named := "", ""
	for line := range lines(tail(text, 4000)) {
		for s := range sentences(line) {
			if utf8.RuneCountInString(s) < 3 {
				continue
			}
			if last = s; nextWords.says(s) {
				named = s
			}
		}
	}
	if named != "" {
		last = named
	}
	if last != "" {
		d.next = add(d.next, clip(last, maxEntry), maxNext, false)
	}
}
