package toolcall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// TestCommandsOfAScript: what a script runs, command by command: text that is fed to
// one, quoted or commented is none.
func TestCommandsOfAScript(t *testing.T) {
	for _, tc := range []struct{ why, script, want string }{
		{"one", "git push --force", "git,push,--force"},
		{"a list of them", "a x && b; c || d | e &", "a,x && b ; c || d | e &"},
		{"over lines", "a\nb \\\n  -x\n\n# c\nd # e", "a ; b,-x ; d"},
		{"quotes", `rm 'a b' "c \"d\" $(x "y")" e\ f`, `rm,a b,c "d" $(x "y"),e f`},
		{"operators in quotes are none", `echo "a; rm b" 'c && rm d'`, "echo,a; rm b,c && rm d"},
		{"settings and what measures", "A=1 sudo timeout -k 5 60 nohup make", "make"},
		{"a folder", "cd /srv && cd kw && rm x; ls", "cd,/srv && /srv:cd,kw && /srv/kw:rm,x ; /srv/kw:ls"},
		{"redirections", "a > x 2>&1; b >>y 2>/dev/null; c 2> z &>w < in", "a>x ; b>>y ; c>w"},
		{"nowhere", "a >/dev/null 2>&1", "a"},
		{"a text that is fed in", "cat > a.txt <<'EOF'\nrm b\nEOF\nrm c", "cat>a.txt ; rm,c"},
		{"an indented one, to a pipe", "cat <<-X | sort && rm c\n\trm b\n\tX\nrm d", "cat | sort && rm,c ; rm,d"},
		{"one in an argument", "git commit -m \"$(cat <<'EOF'\na (list; rm b\nEOF\n)\" && git push",
			"git,commit,-m,$(cat <<'EOF'\na (list; rm b\nEOF\n) && git,push"},
		{"a shift", "echo $((1 << 4)) > x", "echo,$((1 << 4))>x"},
		{"a line that is fed in", "grep x <<< 'rm y'", "grep,x"},
		{"commands in the place of files", "diff <(git show HEAD:a; ls) b && tee >(wc) x",
			"diff,<(git show HEAD:a; ls),b && tee,>(wc),x"},
		{"a comparison", "[[ a > b ]] && rm c", "[[,a,>,b,]] && rm,c"},
		{"in parentheses", "(cd /tmp && rm x) && make", "cd,/tmp && /tmp:rm,x && make"},
		{"a loop", "for f in a b; do rm $f; done", "for,f,in,a,b ; rm,$f ;"},
		{"a shell in a shell", "bash -lc 'cd /srv && rm x' && ls", "cd,/srv && /srv:rm,x && ls"},
		{"a quote without an end", "echo 'a && rm b", "echo,a && rm b"},
		{"nothing", " \n ; # x", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var got []string
			for _, c := range toolcall.Commands(tc.script) {
				s := strings.Join(c.Words, ",")
				if c.Dir != "" {
					s = c.Dir + ":" + s
				}
				for _, f := range c.Writes {
					s += ">" + f
				}
				for _, f := range c.Appends {
					s += ">>" + f
				}
				got = append(got, strings.TrimSpace(s+" "+c.Then))
			}
			if got := strings.TrimSuffix(strings.Join(got, " "), " ;"); got != strings.TrimSuffix(tc.want, " ;") {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestTextOfACommand: a command is told as it is written, without what goes elsewhere.
func TestTextOfACommand(t *testing.T) {
	list := toolcall.Commands("cd /srv && go test './a b' 2>&1 | tail -3; cat > x <<'EOF'\ny\nEOF\ngit push; if a; " +
		"then rm $f; fi")
	var got []string
	for _, c := range list {
		got = append(got, c.Text)
	}
	if want := "[cd /srv go test './a b' tail -3 cat > x git push a rm $f]"; fmt.Sprint(got) != want {
		t.Errorf("%q, want %s", got, want)
	}
}

// TestMasked: a code says how a script ended, and not always how what it runs did.
func TestMasked(t *testing.T) {
	for script, want := range map[string]bool{
		"make": false, "cd x && make": false, "cd x\nmake": false, "echo start; make": false, "make &": true,
		"make; echo done": true,
		"make | tail -3":  true, "set -o pipefail; make | tail -3": false, "set -e\nmake\nmake test": false,
		"make\nmake test": true,
		"make || true":    true, "cat > x <<EOF\na | b\nEOF": false, "git commit -m \"a; b\" && git push": false, "": false,
	} {
		t.Run(script, func(t *testing.T) {
			if got := toolcall.Masked(toolcall.Commands(script)); got != want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestCommandsOfAnything: whatever a script holds, reading it ends, and no word is
// made up.
func TestCommandsOfAnything(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", "'", "\"", "`", "$(", ")", "(", "<<X", "X", "\n", "\\", ">", "2>&1",
		"&", "|", ";", "cd ", "#", "bash -c "})
	rapid.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "script"), "")
		for _, c := range toolcall.Commands(script) {
			for _, w := range c.Words {
				if len(w) > len(script) {
					t.Fatalf("%q of %q", w, script)
				}
			}
		}
	})
}

// TestQuote: commands are quoted word for word, with a mark where something is left out.
func TestQuote(t *testing.T) {
	for _, tc := range []struct{ why, script, want string }{
		{"one", "go test './a b'", "go test './a b'"},
		{"as they are joined", "git add a; git commit -m x || git push", "git add a; git commit -m x || git push"},
		{"without the folder before", "cd /srv && CI=1 make", "CI=1 make"},
		{"with one between", "git init x && cd x && git add f", "git init x && cd x && git add f"},
		{"without what shortens the output", "make 2>&1 | tail -5", "make 2>&1 | …"},
		{"in the middle", "make 2>/dev/null | head -3 && git push", "make 2>/dev/null | … && git push"},
		{"a pipe that does more", "cat a | psql -f -", "cat a | psql -f -"},
		{"errors that go elsewhere", "make 2> err.txt all", "make 2> err.txt all"},
		{"lines", "make a\nmake b", "make a … make b"},
		{"one that goes on", "make \\\n  a", "make a"},
		{"a text that is fed in", "cat > a.txt <<EOF\nx\nEOF\nmake", "cat > a.txt <<EOF … make"},
		{"words of the shell", "for f in *; do rm $f; done && ls", "for f in *; … rm $f … ls"},
		{"in parentheses", "(cd x && make) || make y", "make … make y"},
		{"nothing but a folder", "cd /srv", "cd /srv"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := toolcall.QuoteScript(toolcall.Commands(tc.script)); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestQuoteIsWordForWord: what a quotation has between its marks stands in the script, white space aside.
func TestQuoteIsWordForWord(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "-x", "'b c'", "\"d\"", "$(e f)", "2>&1", "> g", "| head -3", "&&", ";", "||",
		"\n", "|", "(", ")", "# h", "cd i", "then", "<<J", "J", "&", "\\\n"})
	rapid.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOf(words).Draw(t, "words"), " ")
		flat := strings.Join(strings.Fields(strings.ReplaceAll(script, "\\\n", " ")), "")
		list := toolcall.Commands(script)
		odd := toolcall.Quote(list, func(i int) bool { return i%2 == 1 })
		for _, quote := range []string{toolcall.QuoteScript(list), odd} {
			for part := range strings.SplitSeq(quote, toolcall.LeftOut) {
				if !strings.Contains(flat, strings.Join(strings.Fields(part), "")) {
					t.Fatalf("%q of %q: %q", part, script, quote)
				}
			}
		}
	})
}

// TestOptionsOfGit: options of git's own are no part of what it does, and the folder that they name counts.
func TestOptionsOfGit(t *testing.T) {
	for _, tc := range []struct{ script, words, dir string }{
		{"git -C /srv/kw commit -m x", "git commit -m x", "/srv/kw"},
		{"cd /srv && git --no-pager -C kw -c user.name=x log -3", "git log -3", "/srv/kw"},
		{"git --git-dir=/srv/.git --work-tree /srv status", "git status", ""},
		{"git --version", "git --version", ""},
		{"git commit -C HEAD", "git commit -C HEAD", ""},
		{"git -C", "git -C", ""},
	} {
		list := toolcall.Commands(tc.script)
		got := list[len(list)-1]
		words := strings.Join(got.Words, " ")
		if words != tc.words || got.Text != tc.words || got.Dir != tc.dir {
			t.Errorf("%s: %q, %q in %q", tc.script, words, got.Text, got.Dir)
		}
	}
}

// TestFed: each command has the text that is fed to it, and not that of another one.
func TestFed(t *testing.T) {
	features.Proves(t, "N13")
	const script = "cat > a.py <<'A' && python3 - <<B | tee out\nrm x\nA\nprint(1)\nB\nmake"
	var got []string
	for _, c := range toolcall.Commands(script) {
		got = append(got, c.Words[0]+": "+c.Fed())
	}
	want := []string{"cat: rm x\n", "python3: print(1)\n", "tee: ", "make: "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
