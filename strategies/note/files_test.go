package note_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/filelist"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestFilesOfCommands: files that commands create, update and delete are modified where nothing tells that the command
// failed, though few harnesses say how it ended.
func TestFilesOfCommands(t *testing.T) {
	features.Proves(t, "T7")
	deleted := func(name string, others ...string) abi.Files {
		return abi.Files{Modified: append([]string{name}, others...), Deleted: []string{name}}
	}
	for script, want := range map[string]abi.Files{
		"sed -i 's/a/b/' cfg/app.toml":                     {Modified: []string{"cfg/app.toml"}},
		"sed -i 's/a/b/' cfg/app.toml && cat cfg/app.toml": {Modified: []string{"cfg/app.toml"}},
		"rm src/old.go":                             deleted("src/old.go"),
		"git rm src/g.go":                           deleted("src/g.go"),
		"mv src/b.go src/c.go":                      deleted("src/b.go", "src/c.go"),
		"git mv src/b.go src/c.go":                  deleted("src/b.go", "src/c.go"),
		"cp a.go b.go":                              {Modified: []string{"b.go"}},
		"echo hi > out/log.txt":                     {Modified: []string{"out/log.txt"}},
		"echo hi >> out/app.log":                    {Modified: []string{"out/app.log"}},
		"cat > x.py <<'EOF'\nprint(1)\nEOF":         {Modified: []string{"x.py"}},
		"tee conf.yml <<< hi":                       {Modified: []string{"conf.yml"}},
		"touch stamp":                               {Modified: []string{"stamp"}},
		"perl -pi -e 's/a/b/' z.pl":                 {Modified: []string{"z.pl"}},
		"gofmt -s -w main.go":                       {Modified: []string{"main.go"}},
		"gofmt -l main.go":                          {},
		"npx prettier --write src/a.ts":             {Modified: []string{"src/a.ts"}},
		"npx prettier --check src/a.ts":             {},
		"black .":                                   {},
		"ruff check --fix src/a.py":                 {Modified: []string{"src/a.py"}},
		"git checkout -- src/r.go":                  {Modified: []string{"src/r.go"}},
		"git checkout HEAD~1 -- src/r.go":           {Modified: []string{"src/r.go"}},
		"git checkout main":                         {},
		"git restore --source HEAD~1 src/r.go":      {Modified: []string{"src/r.go"}},
		"git restore --staged src/r.go":             {},
		"install -m 755 build/kw.sh bin/kw.sh":      {Modified: []string{"bin/kw.sh"}},
		"patch -p1 src/a.go fix.patch":              {Modified: []string{"src/a.go"}},
		"dd if=/dev/zero of=disk.img bs=1M":         {Modified: []string{"disk.img"}},
		"truncate -s 0 out/app.log":                 {Modified: []string{"out/app.log"}},
		"curl -sSLo tools/x.sh https://a.io/x":      {Modified: []string{"tools/x.sh"}},
		"curl -O https://a.io/dist/x.tgz?v=1":       {Modified: []string{"x.tgz"}},
		"curl https://a.io/dist/x.tgz":              {},
		"wget -O x.json https://a.io/api":           {Modified: []string{"x.json"}},
		"wget -q https://a.io/dist/x.tgz":           {Modified: []string{"x.tgz"}},
		"wget -qO- https://a.io/dist/x.tgz":         {},
		`python3 -c "open('g.json','w').write()"`:   {Modified: []string{"g.json"}},
		`python3 -c "print(open('g.json').read())"`: {},
		"python3 - <<'EOF'\nfrom pathlib import Path\nPath('g.txt').write_text('x')\nEOF": {Modified: []string{"g.txt"}},
		"cat > gen.py <<'EOF'\nopen('never.txt','w')\nEOF\npython3 - <<'EOF'\nprint(1)\nEOF": {
			Modified: []string{"gen.py"}},
		"eslint --fix -c config/eslint.config.js src/a.js":          {Modified: []string{"src/a.js"}},
		"npx prettier --write --config conf/prettier.json web/a.ts": {Modified: []string{"web/a.ts"}},
		"terraform fmt -check infra/main.tf":                        {},
		"patch --dry-run -p1 src/d.c fix.patch":                     {},
		"node -e \"fs.writeFileSync('g.js', data)\"":                {Modified: []string{"g.js"}},
	} {
		for _, failed := range []string{"", "Error: nothing was done\nexit code 2"} {
			if failed != "" && !strings.HasPrefix(script, "cat > gen.py") { // the command behind it failed
				want.Modified, want.Deleted = nil, nil
			}
			got := build(gone(session("Mend it.", run(script, failed, false), said("Done.")))).Files()
			if got.Read = nil; !reflect.DeepEqual(got, want) {
				t.Errorf("%s %q: %+v, want %+v", script, failed, got, want)
			}
		}
	}
}

// TestFilesOfTools: what a tool deletes or moves away is modified and marked, and each file of a list counts.
func TestFilesOfTools(t *testing.T) {
	features.Proves(t, "T7")
	for _, tc := range []struct {
		tool string
		args map[string]any
		want abi.Files
	}{
		{"delete_file", map[string]any{"path": "k.txt"},
			abi.Files{Modified: []string{"k.txt"}, Deleted: []string{"k.txt"}}},
		{"move_file", map[string]any{"source": "m1.txt", "destination": "m2.txt"},
			abi.Files{Modified: []string{"m1.txt", "m2.txt"}, Deleted: []string{"m1.txt"}}},
		{"apply_patch", map[string]any{"input": "*** Begin Patch\n*** Delete File: lib/z.rb\n*** End Patch"},
			abi.Files{Modified: []string{"lib/z.rb"}, Deleted: []string{"lib/z.rb"}}},
		{"read_many_files", map[string]any{"paths": []string{"r1.txt", "r2.txt"}},
			abi.Files{Read: []string{"r1.txt", "r2.txt"}}},
		{"read", map[string]any{"filePath": "src/r.ts"}, abi.Files{Read: []string{"src/r.ts"}}},
		{"write_files", map[string]any{"files": []map[string]string{{"path": "a.go", "content": "x"}, {"path": "b.go"}}},
			abi.Files{Modified: []string{"a.go", "b.go"}}},
	} {
		got := build(gone(session("Mend it.", called(tc.tool, tc.args, "ok", false), said("Done.")))).Files()
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.tool, got, tc.want)
		}
	}
}

// TestFilesOfTheRecord: a summary that has the files of its record beside its text hands them on, whatever the text had
// room for, and what became of them since counts.
func TestFilesOfTheRecord(t *testing.T) {
	features.Proves(t, "T7")
	record := abi.Files{Read: []string{"/w/cfg/app.toml", "/w/docs/plan.md"},
		Modified: []string{"/w/My Files/a.go", "/w/b.go", "/w/old.go", "/w/stamp"},
		Deleted:  []string{"/w/old.go", "/w/stamp"}}
	first := summary("Earlier messages were left out.")
	first.Meta = filelist.Meta(record)
	msgs := session(first, edit("/w/cfg/app.toml", "ok", false), run("echo x > /w/stamp", "", false),
		run("rm /w/b.go", "", false), said("Done."))
	want := abi.Files{Read: []string{"/w/docs/plan.md"}, Deleted: []string{"/w/b.go", "/w/old.go"},
		Modified: []string{"/w/My Files/a.go", "/w/b.go", "/w/cfg/app.toml", "/w/old.go", "/w/stamp"}}
	if got := build(gone(msgs)).Files(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	first.Meta = abi.Meta{"files": json.RawMessage(`{"read":7}`)}
	if got := build(gone(session(first))).Files(); len(got.Read)+len(got.Modified) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestModifiedBeforeTalk: in a conversation, of which names cost little, the files that were changed have room before
// what the agent said.
func TestModifiedBeforeTalk(t *testing.T) {
	features.Proves(t, "T7")
	var parts []any
	files := []string{"cfg/app.toml", "lib/p.rb", "lib/q.rb", "src/a.go", "src/acopy.go", "src/mod.go", "web/index.html",
		"web/style.css"}
	for _, f := range files {
		parts = append(parts, edit(f, "ok", false))
	}
	for range 6 {
		parts = append(parts, user("go on"), said(strings.Repeat("It reads the next part of it. ", 40)))
	}
	text := render(session(append([]any{"Mend it."}, parts...)...), note.Options{Budget: 1000})
	for round := range 2 {
		got := build(gone(session(summary(text))))
		if modified := got.Files().Modified; !slices.Equal(modified, files) {
			t.Errorf("round %d: %q of\n%s", round, modified, text)
		}
		text = render(session(append([]any{summary(text)}, parts[8:]...)...), note.Options{Budget: 1000})
	}
}

// TestFilesOfScriptsThatFailed: of a script that failed those files count that its commands changed before the one that
// failed, as far as that is sure.
func TestFilesOfScriptsThatFailed(t *testing.T) {
	features.Proves(t, "T7")
	const failed = "--- FAIL: TestLease (0.01s)\n    lease_test.go:9: held twice\nFAIL\nexit code 1"
	const traceback = "Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: no\nexit code 1"
	for _, tc := range []struct {
		why, script, output string
		want                []string
	}{
		{"a check behind it", "sed -i s/a/b/ a.go && go test ./...", failed, []string{"a.go"}},
		{"the last command", "cat > x.py <<'EOF'\nprint(1)\nEOF\npython3 x.py", traceback, []string{"x.py"}},
		{"which of two failed is not known", "sed -i s/a/b/ a.go && make deploy", "Error: no\nexit code 2", nil},
		{"it failed itself", "sed -i s/a/b/ a.go; go test ./...", "sed: can't read a.go: No such file\n" + failed, nil},
		{"it could not be written", "echo x > no/a.go; go test ./...", "bash: line 1: no/a.go: No such file\n" + failed, nil},
		{"it stands behind what failed", "go test ./... && rm a.go", failed, nil},
		{"under a condition", "if [ -f b ]; then rm a.go; fi; go test ./...", failed, nil},
		{"only where another command failed", "true || rm a.go; go test ./...", failed, nil},
		{"only where a test found it", "test -f old.go && rm old.go; go test ./...", failed, nil},
		{"in another folder", "cd api && sed -i s/a/b/ a.go; go test ./...", failed, []string{"api/a.go"}},
		{"a patch that is written, and not applied",
			"cat > f.patch <<'EOF'\n*** Begin Patch\n*** Update File: a.go\n*** End Patch\nEOF\ngo test ./...", failed,
			[]string{"f.patch"}},
		{"the script stops where one fails", "set -e\nsed -i s/a/b/ a.go\n./run", "Error: no\nexit code 2", nil},
	} {
		got := build(gone(session("Mend it.", run(tc.script, tc.output, true), said("Done.")))).Files().Modified
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

// TestFilesThatAreFoundAndDeleted: of files that are found by a name and deleted those count that were changed before.
func TestFilesThatAreFoundAndDeleted(t *testing.T) {
	features.Proves(t, "T7")
	for script, want := range map[string][]string{
		"find tmp -name '*.log' -delete":                 {"tmp/x/a.log"},
		"find tmp -type f -name '*.log' -exec rm {} \\;": {"tmp/x/a.log"},
		"find . -name a.log -delete":                     {"tmp/x/a.log"},
		"find tmp -name '*.log' -mtime +3 -delete":       nil,
		"find src -name '*.log' -delete":                 nil,
		"find tmp -name '*.log'":                         nil,
	} {
		got := build(gone(session("Mend it.", run("echo x > tmp/x/a.log", "", false), edit("tmp/x/b.go", "ok", false),
			run(script+" && go test ./...", "ok  \tx\t0.01s", false), said("Done.")))).Files()
		if !slices.Equal(got.Deleted, want) {
			t.Errorf("%s: %q, want %q", script, got.Deleted, want)
		}
	}
}

// TestFilesOfOneLetter: files that the record of an earlier compaction has are handed on, whatever their names.
func TestFilesOfOneLetter(t *testing.T) {
	features.Proves(t, "T7")
	record := abi.Files{Read: []string{"f", "g.bin"}, Modified: []string{"stamp", "y", "z"}, Deleted: []string{"y", "z"}}
	got := build(gone(session("Mend it.", run("cp x y; rm y", "", false), run("cp x z && rm z", "", false),
		run("touch stamp", "", false), run("wc f && xxd g.bin", "9 f", false), said("Done.")))).Files()
	for round := range 3 {
		if !reflect.DeepEqual(got, record) {
			t.Errorf("round %d: %+v, want %+v", round, got, record)
		}
		first := summary("Earlier messages were left out.")
		first.Meta = filelist.Meta(got)
		got = build(gone(session(first, said("Done.")))).Files()
	}
}
