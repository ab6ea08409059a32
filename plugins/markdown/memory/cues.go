package memory

import "strings"

// Cue words, as normalized words with a space around each. Cues of languages
// without spaces are looked for anywhere.
var (
	preferenceCues = cues("always, never, dont, do not, must, must not, mustnt, should not, shouldnt, prefer, i like, i hate, remember, make sure, be sure, from now on, only use, avoid, keep in mind, note that, important, i want, we want, we need, i need, no longer, under no circumstances, require, requires, stick to, "+
		"immer, nie, niemals, bitte nicht, muss, müssen, darf nicht, merk dir, bevorzuge, achte darauf, ab jetzt, "+
		"toujours, jamais, il faut, ne pas, préfère, souviens toi, désormais, dois, "+
		"siempre, nunca, recuerda, debe, debes, prefiero, no uses, a partir de ahora, "+
		"sempre, mai, ricorda, deve, preferisco, nunca use, lembre, prefiro, "+
		"всегда, никогда, запомни, нужно, нельзя, должен, должны, предпочитаю, не надо, не используй, "+
		"altijd, nooit, onthoud, moet, zawsze, nigdy, pamiętaj, musi, her zaman, asla, unutma",
		"总是 始终 从不 永远 必须 不要 不能 记住 务必 请勿 應該 必須 記住 必ず 絶対 決して 覚えて しないで してはいけない ください 항상 절대 반드시 기억 하지마 하지 마")
	decisionCues = cues("decided, we decide, the decision is, agreed, lets go with, go with, going with, we will use, well use, settled on, chose, we chose, switch to, switched to, opted, approved, "+
		"entschieden, beschlossen, einigen wir uns, décidé, choisi, decidimos, decidido, deciso, решили, решено, besloten, zdecydowaliśmy",
		"决定 改用 采用 決定 採用 ことにした 결정")
	// insteadCues settle something where a person says them; an assistant
	// compares all day long.
	insteadCues = cues("instead of, rather than, statt, stattdessen, au lieu de, en lugar de, en vez de, invece di, вместо, zamiast", "而不是 代わりに 대신")
	findingCues = cues("root cause, the problem was, the issue was, the bug was, the problem is, the issue is, the bug is, turns out, turned out, the reason, caused by, because of, was missing, the fix is, the fix was, fixed by, confirmed, it works because, the key insight, in summary, conclusion, this means, does not support, doesnt support, is not supported, only works, was failing because, "+
		"ursache, es liegt an, der grund, la cause, le problème venait, la causa, el problema era, причина, проблема в, оказалось",
		"原因 根本 问题在于 结论 原因は 結論 원인 결론")
	// chatter begins sentences about what comes next, which is worth nothing
	// once it has come.
	chatter = []string{" i ll ", " ill ", " let me ", " im ", " i m ", " lets ", " now ", " i will ", " im going ", " i am going ", " first ", " next ", " great ", " perfect ", " good ", " excellent ", " looking ", " here ", " sure ", " ok ", " okay ", " yes ", " thanks ", " thank you ", " done ", " i see ", " i understand ", " i apologize ", " sorry ", " would you ", " please let me know ", " is there "}
)

// cueSet is a list of cues.
type cueSet struct{ words, runs []string }

func cues(words, runs string) cueSet {
	var set cueSet
	for w := range strings.SplitSeq(words, ", ") {
		set.words = append(set.words, " "+w+" ")
	}
	set.runs = strings.Fields(runs)
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

func isChatter(norm string) bool {
	for _, c := range chatter {
		if strings.HasPrefix(norm, c) {
			return true
		}
	}
	return false
}

// stopwords carry no meaning of their own: they neither name a note nor make
// it relevant.
var stopwords = func() map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(`a about after all also an and any are as at be because been before but by can could
		did do does dont for from get go had has have he her here him his how i if in into is it its just lets like make
		may me more most must my need no not now of on one only or our out over please she should so some than that the
		their them then there these they this those to too up us use used using want was we were what when where which
		while who why will with would yes you your der die das und ist nicht ein eine zu mit auf für de la le les et est
		une un des en que el los las y es por con para`) {
		set[w] = true
	}
	return set
}()
