package state

// askedFolder has a file for each session in whose last turns plugins asked for a compaction, with how many those were:
// a process hears of one turn, and could not count them.
const askedFolder = "asked"

// Asked is at how many ends of turns of a session in a row plugins asked for a compaction; 0 where nothing is kept.
func (s *State) Asked(session ...string) int { return number(s.dir, askedFolder, session) }

// SetAsked keeps the number.
func (s *State) SetAsked(n int, session ...string) error {
	return setNumber(s.dir, askedFolder, session, n)
}
