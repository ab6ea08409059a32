package memory

import "strings"

// Cue words, as normalized words with a space around each, and for scripts that
// put none between words as they are. What they do not know is found by its
// form: see person.
var (
	preferenceCues = cues("always, never, dont, do not, must, must not, mustnt, should not, shouldnt, prefer, i like, i hate, remember, make sure, be sure, from now on, only use, avoid, keep in mind, note that, important, no longer, under no circumstances, require, requires, stick to, "+
		"immer, nie, niemals, nicht mehr, bitte nicht, bitte kein, bitte keine, muss, müssen, darf nicht, soll nicht, sollen nicht, merk dir, denk daran, bevorzuge, achte darauf, ab jetzt, vermeide, auf keinen fall, "+
		"toujours, jamais, il faut, ne pas, évite, préfère, souviens toi, retiens, désormais, dois, doit, doivent, n utilise pas, nutilise pas, "+
		"siempre, nunca, recuerda, debe, debes, deben, prefiero, no uses, a partir de ahora, evita, "+
		"sempre, mai, ricorda, deve, devono, preferisco, nunca use, lembre, prefiro, evite, "+
		"всегда, никогда, запомни, помни, нужно, нельзя, должен, должна, должно, должны, предпочитаю, не надо, не используй, избегай, "+
		"altijd, nooit, onthoud, moet, zawsze, nigdy, pamiętaj, musi, her zaman, asla, unutma, "+
		"دائما, دائمًا, دائماً, أبدا, أبدًا, أبداً, يجب, لا يجب, تذكر, تذكّر, لا تستخدم, ممنوع, أفضل, من الآن فصاعدا, "+
		"हमेशा, कभी, मत, याद रखो, याद रखें, याद रखना, चाहिए, ज़रूरी, जरूरी, अनिवार्य, "+
		"항상, 절대, 절대로, 반드시, 기억해, 기억하세요",
		"总是, 始终, 从不, 永远, 必须, 不要, 不能, 记住, 务必, 请勿, 禁止, 以后都, 總是, 應該, 必須, 記住, 記得, "+
			"必ず, 絶対, 決して, 常に, 覚えて, しないで, 使わないで, てはいけない, ください, 禁止, "+
			"하지마, 하지 마, 해야, 마세요, "+
			"เสมอ, ห้าม, อย่า, ต้อง, จำไว้, ทุกครั้ง")
	decisionCues = cues("decided, we decide, the decision is, agreed, lets go with, go with, going with, we will use, well use, settled on, chose, we chose, switched to, opted, "+
		"entschieden, beschlossen, einigen wir uns, wir nehmen, wir verwenden, décidé, décidons, choisi, on utilise, decidimos, decidido, deciso, решили, решено, выбрали, besloten, zdecydowaliśmy, "+
		"قررنا, اتفقنا, اخترنا, तय किया, फैसला, फ़ैसला, निर्णय, 결정했, 정했",
		"决定, 改用, 采用, 選擇, 決定, 採用, ことにした, ことにしました, 결정, ตัดสินใจ, ตกลงว่า, เลือกใช้")
	// insteadCues settle something where a person says them; an assistant
	// compares all day long.
	insteadCues = cues("instead of, rather than, switch to, anstatt, statt, stattdessen, au lieu de, plutôt que, en lugar de, en vez de, invece di, вместо, zamiast, بدلا من, بدلًا من, بدلاً من, के बजाय, की जगह",
		"而不是, 代わりに, 대신, แทน")
	findingCues = cues("root cause, the problem was, the issue was, the bug was, the problem is, the issue is, the bug is, turns out, turned out, the reason is, the reason was, caused by, the fix is, the fix was, fixed by, it works because, the key insight is, does not support, doesnt support, is not supported, was failing because, "+
		"ursache, es liegt an, lag an, der grund, la cause, le problème venait, la causa, el problema era, причина, проблема в, оказалось, السبب, المشكلة كانت, कारण, समस्या यह",
		"原因, 根本, 问题在于, 結論, 원인, สาเหตุ, ปัญหาคือ")
	// negations make a sentence say the opposite.
	negations = cues("not, no, never, dont, doesnt, cant, cannot, wont, mustnt, shouldnt, without, avoid, neither, nicht, kein, keine, keinen, keinem, keiner, nie, niemals, nimmer, ohne, "+
		"ne, pas, jamais, sans, aucun, aucune, nunca, sin, jamás, non, mai, senza, não, sem, не, нет, никогда, нельзя, без, nooit, niet, geen, zonder, nigdy, bez, "+
		"لا, ليس, لن, لم, بدون, أبدا, ممنوع, नहीं, मत, बिना, 안, 못, 없이",
		"不, 别, 勿, 没, 無, 禁止, ない, しないで, ません, 않, 말고, 하지마, 하지 마, 마세요, 금지, ไม่, อย่า, ห้าม")
)

// cueSet is a list of cues.
type cueSet struct{ words, runs []string }

func cues(words, runs string) cueSet {
	var set cueSet
	for w := range strings.SplitSeq(words, ", ") {
		set.words = append(set.words, " "+w+" ")
	}
	set.runs = strings.Split(runs, ", ")
	return set
}

// in reports whether a cue stands in a normalized text.
func (c *cueSet) in(norm string) bool {
	for _, w := range c.words {
		if strings.Contains(norm, w) {
			return true
		}
	}
	if isASCII(norm) {
		return false
	}
	for _, r := range c.runs {
		if strings.Contains(norm, r) {
			return true
		}
	}
	return false
}

// begins reports whether a normalized text begins with one of a list.
func begins(norm string, list []string) bool {
	for _, c := range list {
		if strings.HasPrefix(norm, c) {
			return true
		}
	}
	return false
}
