package state

// cancelledFolder has a file for each session whose last compactions plugins
// cancelled, with how many those were: a process is one compaction, and could not
// count them.
const cancelledFolder = "cancelled"

// Cancelled is how many compactions of a session were cancelled in a row; 0 where
// nothing is kept.
func (s *State) Cancelled(session ...string) int { return number(s.dir, cancelledFolder, session) }

// SetCancelled keeps the number.
func (s *State) SetCancelled(n int, session ...string) error {
	return setNumber(s.dir, cancelledFolder, session, n)
}
