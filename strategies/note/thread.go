package note

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
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
// are dropped.
func (n *Note) request(text string) {
	text = oneLine(text, maxEntry)
	if text == "" || isPleasantry(text) {
		return
	}
	n.requests = add(n.requests, text, maxRequests, true)
}

// pleasantries are texts that ask for nothing new.
var pleasantries = wordSet(`
hi|hello|hey|hello there|hi there|good morning|good evening|thanks|thank you|thank you very much|thanks a lot|
many thanks|thx|ty|ok|okay|k|yes|yes please|y|yep|yeah|sure|no|nope|go|go on|go ahead|continue|please continue|
proceed|great|nice|cool|perfect|awesome|good|good job|well done|sounds good|looks good|lgtm|done|bye|goodbye|
hallo|danke|vielen dank|ja|nein|weiter|mach weiter|super|genau|gut|tschüss|bonjour|salut|merci|oui|non|continuez|
hola|gracias|sí|si|sigue|ciao|grazie|obrigado|sim|привет|спасибо|да|нет|продолжай|你好|谢谢|好的|好|是的|继续|こんにちは|ありがとう|
はい|続けて|안녕하세요|감사합니다|네|계속`)

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
	bare = clip.OneLine(bare)
	return pleasantries[bare] || bare == "" && !strings.ContainsFunc(text, unicode.IsDigit) ||
		strings.HasPrefix(text, "[Request interrupted")
}

// decisionWords are how decisions are stated. Few, so that nothing is taken
// for one that is none.
var decisionWords = newVocabulary(`
decided|decision:|i chose|we chose|chose to|choosing |going with|let's go with|let’s go with|we'll go with|
i'll go with|opted for|opting for|settled on|we agreed|we will use|we'll use|i'll use |let's use|rather than|
instead of|entschieden|entscheidung|stattdessen|décidé|au lieu de|decidido|en lugar de|deciso|invece di|решил|
вместо|决定|决策|改用|而不是|決め|代わりに|결정|대신`)

// decided notes the sentences that state a decision.
func (n *Note) decided(text string) {
	if !decisionWords.says(text) {
		return
	}
	for line := range lines(text) {
		if !decisionWords.says(line) {
			continue
		}
		for s := range sentences(line) {
			if size := utf8.RuneCountInString(s); size >= 8 && size <= maxEntry && decisionWords.says(s) {
				n.decisions = add(n.decisions, s, maxDecisions, false)
			}
		}
	}
}

// nextWords are how an agent says what it does next.
var nextWords = newVocabulary(`
next|let me|i'll |i’ll |i will |now i|now let|now we|let's |let’s |remaining|then i|need to |still to|
als nächstes|ich werde|jetzt |ensuite|maintenant|je vais|ahora|voy a|siguiente|теперь|дальше|сейчас|接下来|下一步|现在|
次に|これから|다음|이제`)

// comes notes what the agent said last about what comes next; where it says
// nothing of the kind, the last it said.
func (n *Note) comes(text string) {
	last, named := "", ""
	for line := range lines(clip.Tail(text, 4000)) {
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
		n.next = add(n.next, clip.Words(last, maxEntry), maxNext, false)
	}
}
