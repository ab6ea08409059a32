package memory

// What keeps a sentence from being noted, in the form of cues.
var (
	// familiar are small words of the languages above. Where there are none, and
	// the script is not one of theirs, a cue says nothing by not being there.
	familiar = cues("the, a, an, to, is, are, and, of, it, for, that, we, you, with, this, der, die, das, und, ist, ein, eine, zu, den, mit, auf, nicht, le, la, les, et, est, un, une, des, du, dans, pour, el, los, las, y, que, con, il, di, che, per, os, não, и, в, не, на, с, что, это, по, het, een, van, nie, ve, bir", "的, 了, の, を, は, 을, 를, 은, 는, 이, ไ, ใ, แ, ا, ل, ه, े, ा, ि")
	// hedged is what nobody knows yet.
	hedged = cues("likely, probably, perhaps, maybe, might, could be, almost always, i think, i guess, iiuc, wahrscheinlich, vielleicht, peut être, probablement, quizás, probablemente, возможно, наверное, может быть, ربما, शायद", "可能, 也许, かもしれ, 아마, อาจ")
	// habits are what is so mostly: nobody wants it.
	habits = cues("almost always, almost never, nearly always, fast immer, fast nie, presque toujours, presque jamais, casi siempre, casi nunca, почти всегда, почти никогда", "几乎总是, 几乎从不, ほとんど必ず, 거의 항상")
	// questions begin what is one without the mark.
	questions = []string{" why ", " what ", " how ", " where ", " when ", " who ", " is ", " are ", " does ", " did ", " can ", " should ", " warum ", " wie ", " was ", " wo ", " pourquoi ", " comment ", " por qué ", " cómo ", " почему ", " как ", " где "}
	// tales begin what a person did: steps that lead to a failure, mostly.
	tales = []string{" i run ", " i ran ", " i edit ", " i start ", " i open ", " i get ", " i got ", " i see ", " i tried ", " i think ", " i feel ", " i would assume ", " start a new "}
	// chatter begins sentences about what comes next, which is worth nothing
	// once it has come.
	chatter = []string{" i ll ", " ill ", " let me ", " im ", " i m ", " lets ", " now ", " i will ", " im going ", " i am going ", " first ", " next ", " great ", " perfect ", " good ", " excellent ", " looking ", " here ", " sure ", " ok ", " okay ", " yes ", " thanks ", " thank you ", " done ", " i see ", " i understand ", " i apologize ", " sorry ", " would you ", " please let me know ", " is there ", " can you ", " could you "}
	// reassurance has a cue of a preference in it, and is none.
	reassurance = []string{" dont worry ", " never mind ", " nevermind ", " no need ", " i dont know ", " i do not know ", " dont know ", " im not sure "}
)
