package bank

// who says for texts, in order, in which session they were said and what else
// is the same for many: names stand in it once.
type who struct {
	sessions []string
	labels   []label
	runs     []run   // of texts of one session
	labelOf  []int32 // by text

	sessionIDs map[string]int32
	labelIDs   map[labelKey]int32
}

type run struct{ session, texts int32 }

// add adds a text.
func (w *who) add(session string, l label) {
	if w.sessionIDs == nil {
		w.sessionIDs, w.labelIDs = make(map[string]int32), make(map[labelKey]int32)
	}
	s := number(w.sessionIDs, &w.sessions, session, session)
	if last := len(w.runs) - 1; last >= 0 && w.runs[last].session == s {
		w.runs[last].texts++
	} else {
		w.runs = append(w.runs, run{s, 1})
	}
	w.labelOf = append(w.labelOf, number(w.labelIDs, &w.labels, l.key(), l))
}

// number is the place of v in a list, where it is put at its first time.
func number[K comparable, T any](ids map[K]int32, list *[]T, id K, v T) int32 {
	n, ok := ids[id]
	if !ok {
		n = int32(len(*list))
		ids[id] = n
		*list = append(*list, v)
	}
	return n
}

// addAll adds the texts of another one.
func (w *who) addAll(o *who) {
	text := 0
	for _, r := range o.runs {
		for range r.texts {
			w.add(o.sessions[r.session], o.labels[o.labelOf[text]])
			text++
		}
	}
}

// session is in which session a text was said.
func (w *who) session(text int) string {
	for _, r := range w.runs {
		if text < int(r.texts) {
			return w.sessions[r.session]
		}
		text -= int(r.texts)
	}
	return ""
}

func (w *who) write(to *writer) {
	to.texts(w.sessions)
	to.number(len(w.labels))
	for i := range w.labels {
		w.labels[i].write(to)
	}
	to.number(len(w.runs))
	for _, r := range w.runs {
		to.number(int(r.session))
		to.number(int(r.texts))
	}
	to.column(w.labelOf)
}

func readWho(r *reader) (w who) {
	w.sessions = r.texts()
	w.labels = make([]label, r.count(3))
	for i := range w.labels {
		w.labels[i] = readLabel(r)
	}
	w.runs = make([]run, r.count(2))
	texts := 0
	for i := range w.runs {
		w.runs[i] = run{int32(r.below(len(w.sessions))), int32(r.number())}
		texts += int(w.runs[i].texts)
	}
	w.labelOf = r.column(len(w.labels))
	if r.err == nil && texts != len(w.labelOf) {
		r.fail("texts without a session")
	}
	return w
}
