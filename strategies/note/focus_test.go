package note

import "testing"

// TestTermsInWords: a term of instructions is found where a word begins and in compounds, in
// scripts without spaces anywhere, and not in another word that it ends.
func TestTermsInWords(t *testing.T) {
	for _, c := range []struct {
		text, term string
		want       bool
	}{
		{"the naming of branches", "naming", true},
		{"renaming it", "naming", false},
		{"designing a page", "signing", false},
		{"renaming, and the naming", "naming", true},
		{"shadowbranch.go", "branch", true},
		{"re-signing", "signing", true},
		{"import", "port", false},
		{"我们使用数据库迁移", "数据库", true},
		{"データベース接続", "接続", true},
		{"", "naming", false},
	} {
		if got := holds(c.text, c.term); got != c.want {
			t.Errorf("%q in %q: %v", c.term, c.text, got)
		}
	}
}
