package action_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// TestFilesThatProgramsChange: a file counts as changed where no other reading of the command is left.
func TestFilesThatProgramsChange(t *testing.T) {
	features.Proves(t, "N13", "T7")
	for script, want := range map[string]string{
		// The value of an option is no file that is changed.
		"eslint --fix -c config/eslint.config.js src/a.js":      "edits src/a.js",
		"eslint --fix --config config/eslint.config.js src/":    "",
		"prettier --write --config conf/prettier.json src/a.ts": "edits src/a.ts",
		"prettier --config=conf/prettier.json -w a.ts b.css":    "edits a.ts, edits b.css",
		"prettier --write --plugin-search x.js":                 "",
		"ruff check --fix --config ruff.toml a.py":              "edits a.py",
		"black -q --config pyproject.toml a.py":                 "edits a.py",
		"black -l 100 a.py":                                     "edits a.py",
		"isort --settings-file setup.cfg a.py":                  "edits a.py",
		"rustfmt --config-path rustfmt.toml src/main.rs":        "edits src/main.rs",
		"gofmt -w -r 'a.go -> b.go' main.go":                    "edits main.go",
		"shfmt -i 2 -ci -w run.sh":                              "edits run.sh",
		"touch -r ref.txt new.txt":                              "creates new.txt",
		"touch -d 2020-01-01 new.txt":                           "creates new.txt",
		"truncate -r ref.bin --size 4 a.bin":                    "edits a.bin",
		"truncate -s0 a.log b.log":                              "edits a.log, edits b.log",
		"install -Dm 755 -o root kw.sh bin/kw.sh":               "creates bin/kw.sh",
		"install -t bin kw.sh":                                  "creates bin/kw.sh",
		"cp -t out a.go b.go":                                   "creates out/a.go, creates out/b.go",
		"mv -t old a.go":                                        "moves a.go to old/a.go",
		"patch -i fix.patch -p 1 src/d.c":                       "edits src/d.c",
		"sed -i -f fix.sed a.go":                                "edits a.go",
		"sed -es/i/x/ a.go":                                     "reads a.go",
		"sed --in-place=.bak -E 's/a/b/' a.go":                  "edits a.go",
		"sed -i -E 's/a/b/' a.go":                               "edits a.go",
		"sed -i -Ee 's/a/b/' a.go":                              "edits a.go",
		"sed -i .bak 's/a/b/' a.go":                             "edits a.go",
		"perl -Mstrict -pe 's/a/b/' a.go":                       "",
		"perl -0pi -e 's/a/b/' a.go":                            "edits a.go",
		"perl -0777 -i.bak -pe 's/a/b/' a.go":                   "edits a.go",
		"yq -i '.a = 1' f.yml":                                  "edits f.yml",
		"yq e -i '.a.yml = 1' f.yml":                            "edits f.yml",
		"yq '.a = 1' f.yml":                                     "",
		// A program that only says what it would do changes nothing.
		"terraform fmt -check infra/main.tf":                 "",
		"terraform fmt -check=true infra/main.tf":            "",
		"terraform fmt -check=false infra/main.tf":           "edits infra/main.tf",
		"terraform fmt -write=false infra/main.tf":           "",
		"terraform fmt -recursive infra/main.tf":             "edits infra/main.tf",
		"terraform validate main.tf":                         "",
		"gofmt -l main.go":                                   "",
		"gofmt -d main.go":                                   "",
		"gofmt -l -w main.go":                                "edits main.go",
		"black --check a.py":                                 "",
		"black --diff a.py":                                  "",
		"isort -c a.py":                                      "",
		"autopep8 -d a.py":                                   "",
		"autopep8 -ia a.py":                                  "edits a.py",
		"ruff check a.py":                                    "",
		"ruff check --fix --diff a.py":                       "",
		"ruff format --check a.py":                           "",
		"ruff format a.py":                                   "edits a.py",
		"prettier --check a.ts":                              "",
		"prettier a.ts":                                      "",
		"eslint --fix-dry-run a.js":                          "",
		"eslint --fix=false a.js":                            "",
		"rustfmt --check a.rs":                               "",
		"rustfmt --emit stdout a.rs":                         "",
		"cargo fmt --check -- a.rs":                          "",
		"dotnet format --verify-no-changes a.cs":             "",
		"clang-format a.cc":                                  "",
		"clang-format -i --dry-run a.cc":                     "",
		"clang-format -i -style=file a.cc":                   "edits a.cc",
		"swiftformat --lint a.swift":                         "",
		"biome check a.ts":                                   "",
		"biome check --write a.ts":                           "edits a.ts",
		"dos2unix -n in.txt out.txt":                         "",
		"sed -n 1,5p a.go":                                   "reads a.go",
		"patch --dry-run src/d.c fix.patch":                  "",
		"patch -o new.c src/d.c fix.patch":                   "",
		"patch -d sub d.c fix.patch":                         "",
		"git apply --check fix.patch":                        "",
		"rsync -n a.go b.go":                                 "",
		"rsync --dry-run a.go b.go":                          "",
		"git rm -n a.go":                                     "",
		"git mv --dry-run a.go b.go":                         "",
		"mv -n a.go b.go":                                    "moves a.go to b.go",
		"cp -n a.go b.go":                                    "",
		"touch -c a.go":                                      "",
		"git restore -p a.go":                                "",
		"git restore -S a.go":                                "",
		"git restore -SW -s HEAD~1 a.go":                     "edits a.go",
		"git checkout --ours -- a.go":                        "edits a.go",
		"wget --spider https://a.io/x.tgz":                   "",
		"wget -nc https://a.io/x.tgz":                        "",
		"wget -i list.txt -O x.json":                         "",
		"wget -qP dl https://a.io/x.tgz":                     "creates dl/x.tgz",
		"wget 'https://a.io/x.tgz?v=1'":                      "",
		"curl -XPOST -d @in.json https://a.io/x.json":        "",
		"curl -fsSLO --retry 3 https://a.io/x.tgz":           "creates x.tgz",
		"curl -H 'A: b' -o out.json https://a.io/x.json":     "creates out.json",
		"curl --output-dir dl -O https://a.io/x.tgz":         "creates dl/x.tgz",
		"curl -o - https://a.io/x.tgz":                       "",
		"curl -sLo /dev/null -w '%{http_code}' https://a.io": "",
		"dd if=a.img of=b.img":                               "creates b.img",
		"awk -i inplace '{print $1}' a.csv":                  "edits a.csv",
		"awk -F, -v n=1 '{print $n}' a.csv":                  "reads a.csv",
		"ed -s a.txt <<'EOF'\n1d\nw\nq\nEOF":                 "edits a.txt",
		"printf '1d\nwq\n' | ed -s a.txt":                    "edits a.txt",
		"ed -s a.txt <<'EOF'\n1p\nq\nEOF":                    "",
		"rsync -a a.go b.go":                                 "creates b.go",
		"rsync -a src/ dst":                                  "",
		"rsync -a a.go host:b.go":                            "",
		"rsync -u a.go b.go":                                 "",
		"ln -s a.go b.go":                                    "creates b.go",
		"ln -sf ../x/a.go web":                               "creates web/a.go",
		"shred -u -n 3 a.key":                                "deletes a.key",
		"shred a.key":                                        "edits a.key",
		"tar czf out/a.tgz src":                              "creates out/a.tgz",
		"tar -cf - src":                                      "",
		"jq . a.json":                                        "reads a.json",
		"jq -r --indent 2 '.a.b' a.json > b.json":            "reads a.json, creates b.json",
		"jq --arg a b.json '.x' c.json":                      "",
		"jq -n '.a' b.json":                                  "",
		"rg -n 'a.go' b.go src":                              "reads b.go",
		"rg --files a.go":                                    "",
		"grep -A 3 -e a.go b.go":                             "reads b.go",
		"grep -rn a.go":                                      "",
		"wc -l a.go":                                         "reads a.go",
		"head -20 a.go; tail -n +5 b.go":                     "reads a.go, reads b.go",
		"bat -l go -r 1:20 a.txt":                            "reads a.txt",
		"diff -u a.go b.go":                                  "reads a.go, reads b.go",
		"diff -r src lib":                                    "",
		"diff <(git show HEAD:a.go) a.go":                    "reads a.go",
		"cat <(sort a.txt) b.txt":                            "reads b.txt",
		"xxd -l 16 a.bin":                                    "reads a.bin",
		"xxd -r a.hex a.bin":                                 "",
		// A folder is no file.
		"black v1.2":                      "",
		"prettier --write web/v1.2":       "",
		"eslint --fix conf.d example.com": "",
		"git restore releases/v1.2":       "",
		"git checkout -- src":             "",
		"cp -r templates out":             "",
		// Lines that nothing runs open no file, nor does what stands in a text of others.
		"cat > gen.py <<'EOF'\nopen('never.txt','w')\nEOF\npython3 - <<'EOF'\nopen('a.txt','w')\nEOF": "creates gen.py, " +
			"creates a.txt",
		"cat > gen.py <<'A' && python3 <<'B'\nopen('never.txt','w')\nA\nopen('a.txt', 'w')\nB": "creates gen.py, " +
			"creates a.txt",
		"python3 gen.py <<'EOF'\nopen('never.txt','w')\nEOF":                        "",
		"python3 gen.py -c \"open('never.txt','w')\"":                               "",
		"python3 -u -c \"open('a.txt','w')\"":                                       "creates a.txt",
		"python3 - <<'EOF'\nopen('b.py','w').write(\"open('never.txt','w')\")\nEOF": "creates b.py",
		"python3 - <<'EOF'\nx = \"\"\"\nopen('never.txt','w')\n\"\"\"\nEOF":         "",
		"python3 - <<'EOF'\n# don't open('never.txt','w')\nopen('a.txt','a')\nEOF":  "creates a.txt",
		"python3 - <<'EOF'\nz.open('never.txt','w')\nEOF":                           "",
		"python3 - <<'EOF'\nos.chdir(d)\nopen('never.txt','w')\nEOF":                "",
		"node - <<'EOF'\n// fs.writeFileSync('never.txt', 'x')\nEOF":                "",
		"ruby -e 'File.write(\"a.txt\", 1)'":                                        "creates a.txt",
	} {
		if got := told(of(t, "Bash", args{"command": script}).Files); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// TestFilesByWhatCommandsSay: some commands name the files that they change in their output alone, and some say there
// which of those that they name they left as they were.
func TestFilesByWhatCommandsSay(t *testing.T) {
	features.Proves(t, "N13", "T7")
	const diff = "--- a/src/p.go\n+++ b/src/p.go\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"
	for _, tc := range []struct{ script, output, want string }{
		{"patch -p1 < fix.patch", "patching file src/p.go\nHunk #1 succeeded at 9.\npatching file 'my p.go'",
			"edits src/p.go, edits my p.go"},
		{"cd lib && patch -p1 < ../fix.patch", "patching file src/p.go", "edits lib/src/p.go"},
		{"patch -p1 -d sub < fix.patch", "patching file src/p.go", "edits sub/src/p.go"},
		{"patch --dry-run -p1 < fix.patch", "checking file src/p.go", ""},
		{"git apply -v x.patch", "Checking patch src/p.go...\nApplied patch src/p.go cleanly.", "edits src/p.go"},
		{"cat > x.patch <<'EOF'\n" + diff + "EOF", "", "creates x.patch"},
		{"cat > x.patch <<'EOF'\n" + diff + "EOF\ngit apply x.patch", "", "creates x.patch, edits src/p.go 2-2"},
		{"cat > x.patch <<'EOF'\n" + diff + "EOF\ngit apply --check x.patch", "", "creates x.patch"},
		{"git apply <<'EOF'\n" + diff + "EOF", "", "edits src/p.go 2-2"},
		{"git apply x.patch", "", ""},
		{"unzip -o a.zip -d out", "Archive:  a.zip\n   creating: out/b/\n  inflating: out/b/c.txt  \n extracting: " +
			"out/d.md",
			"creates out/b/c.txt, creates out/d.md"},
		{"tar xzvf a.tgz -C out", "b/\nb/c.txt\nd.md", "creates out/b/c.txt, creates out/d.md"},
		{"tar -xf a.tgz", "b/c.txt", ""},
		{"tar tvf a.tgz", "-rw-r--r-- a/b 1 2026-01-01 00:00 b/c.txt", ""},
		{"tar -xvf a.tgz --strip-components=1", "b/c.txt", ""},
		{"tar -xvf a.tgz && ls", "b/c.txt\nold.txt", ""},
		{"rsync -av src/ dst/", "sending incremental file list\n./\nb/c.txt\n\nsent 9 bytes  received 3 bytes\n",
			"creates dst/b/c.txt"},
		{"rsync -av src/ host:dst/", "b/c.txt", ""},
		{"rsync -v a.go b.go", "a.go", "creates b.go"},
		{"find tmp -name '*.log' -print -delete", "tmp/a.log\ntmp/b/c.log", "deletes tmp/a.log, deletes tmp/b/c.log"},
		{"find tmp -name '*.log'", "tmp/a.log", ""},
		// What was left as it was is not changed.
		{"black a.py", "All done!\n1 file left unchanged.", ""},
		{"black a.py b.py", "reformatted b.py\n\nAll done!\n1 file reformatted, 1 file left unchanged.", "edits b.py"},
		{"black a.py", "reformatted a.py\n1 file reformatted.", "edits a.py"},
		{"npx prettier --write a.ts b.css", "a.ts 12ms (unchanged)\nb.css 9ms", "edits b.css"},
		{"gofmt -l -w a.go b.go", "b.go\n", "edits b.go"},
		{"gofmt -w a.go", "", "edits a.go"},
		{"ruff format a.py", "1 file left unchanged", ""},
		{"ruff format a.py", "1 file reformatted", "edits a.py"},
		{"ruff check --fix a.py", "All checks passed!", ""},
		{"ruff check --fix a.py", "Found 1 error (1 fixed, 0 remaining).", "edits a.py"},
		{"terraform fmt infra/main.tf", "", ""},
		{"terraform fmt infra/main.tf", "infra/main.tf", "edits infra/main.tf"},
		{"isort a.py", "Fixing /w/a.py", "edits a.py"},
		{"isort a.py", "", ""},
	} {
		a := of(t, "Bash", args{"command": tc.script})
		a.Answered(tc.output)
		new(action.Patches).Take(a, tc.output)
		if got := told(a.Files); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.script, got, tc.want)
		}
	}
}

// TestPatchesOfASession: a patch that a tool or a command wrote, or showed, says what is changed where it is applied.
func TestPatchesOfASession(t *testing.T) {
	features.Proves(t, "T7")
	const diff = "--- a/src/p.go\n+++ b/src/p.go\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n" +
		"--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
	for why, first := range map[string]struct {
		a      *action.Action
		output string
	}{
		"written by a tool":    {of(t, "Write", args{"file_path": "/w/x.patch", "content": diff}), "ok"},
		"written by a command": {of(t, "Bash", args{"command": "cat > x.patch <<'EOF'\n" + diff + "EOF"}), ""},
		"shown":                {of(t, "Bash", args{"command": "cat x.patch"}), diff},
	} {
		var p action.Patches
		p.Take(first.a, first.output)
		a := of(t, "Bash", args{"command": "cd /w && git apply x.patch"})
		if p.Take(a, ""); told(a.Files) != "edits /w/src/p.go 2-2, deletes /w/old.go" {
			t.Errorf("%s: %q", why, told(a.Files))
		}
	}
}
