package names_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

func TestScan(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, text, want string }{
		{"paths, absolute and relative", "in /etc/hosts and src/app/main.go, ./cmd/kw or ../lib/x.py",
			"p:/etc/hosts p:src/app/main.go p:cmd/kw p:../lib/x.py"},
		{"paths of which the folders above are left out", " .../cli/x.go | 5 ++--, …/store/lease_x and ../../a/b, not ../..",
			"p:.../cli/x.go p:…/store/lease_x p:../../a/b"},
		{"above them a file alone is its name", "from '../main.go', .../README.md", "p:main.go p:README.md"},
		{"a path with a blank does not end there", `cat ~/Library/Application\ Support/kw\ 2/a.json b_c/d.go; ` +
			"open ~/Library/Application Support/kw/a.json e_f/g.go", "p:b_c/d.go p:e_f/g.go"},
		{"a sentence behind a path", "in /etc/hosts Then see /srv/kw/b.go Read/write it", "p:/etc/hosts p:/srv/kw/b.go"},
		{"what stands for a secret", "/tmp/REDACTED.txt and REDACTED_KEY, https://x.io/REDACTED", ""},
		{"days of a log are no paths", "[13/Oct/2026:10:11:12 +0000] on 14/Oct/2026 in 13/Oct/logs.txt",
			"n:0000 p:13/Oct/logs.txt"},
		{"ids of marks are no names", "[... 120 characters left out here: message m-e01105b8cbca ...] m-e01105b8cbca.1 m-42x",
			"n:120 s:m-42x"},
		{"a short folder needs something of a path", "cmd/kw and/or src/a-b", "p:src/a-b"},
		{"home and hidden files", "~/.claude/settings.json .gitignore .github/workflows/ci.yml",
			"p:~/.claude/settings.json p:.gitignore p:.github/workflows/ci.yml"},
		{"settings behind a dot", "`.golangci.yaml` and .eslintrc.json", "p:.golangci.yaml p:.eslintrc.json"},
		{"what is left of a pattern", "agent-%s.jsonl hooks_<agent>_handlers.go tmp/<hash>/chats/session-<date>-<id>.json",
			""},
		{"what is marked up is none", "<file>src/main.go</file> <path>/usr/lib/kw.so</path> 50% done.go",
			"p:src/main.go p:/usr/lib/kw.so p:done.go"},
		{"files alone", "main.go, README.md and Dockerfile.", "p:main.go p:README.md"},
		{"places in files", "a/b.go:12:3 main.go:120:5: undefined", "p:a/b.go p:main.go n:120"},
		{"grep's context", "internal/a.go-324-\tx := newThing()", "p:internal/a.go s:newThing"},
		{"sentence marks are no part", "(see foo_bar.) \"HTTPServer\", 'max_retries'; `src/x.go`! v1.2.3.",
			"s:foo_bar s:HTTPServer s:max_retries p:src/x.go n:v1.2.3"},
		{"markdown", "**CheckpointID** and _emphasis_ [docs](docs/a.md)", "s:CheckpointID p:docs/a.md"},
		{"urls whole", "see https://example.com/docs/a?b=c&d=1#top, or http://localhost:8080/api.",
			"p:https://example.com/docs/a?b=c&d=1#top p:http://localhost:8080/api"},
		{"url in brackets", "<https://a.example/x_y> (https://b.example/)", "p:https://a.example/x_y p:https://b.example"},
		{"versions and dates", "go1.26.0 is 1.26.0 of 2026-02-10", "n:1.26.0 n:2026-02-10"},
		{"a version in a name", `"zai-glm-4.6", gpt-5.1-codex and claude-sonnet-4.5.`,
			"s:zai-glm-4.6 s:gpt-5.1-codex s:claude-sonnet-4.5"},
		{"packages with versions", "lodash@4.17.21 @scope/pkg@2.0.1 github.com/go-git/go-git/v5@v5.12.0",
			"s:lodash@4.17.21 s:@scope/pkg@2.0.1 p:github.com/go-git/go-git/v5@v5.12.0"},
		{"addresses", "ask jane.doe@example.com or api.example.com", "s:jane.doe@example.com s:api.example.com"},
		{"uuids and hashes", "550e8400-e29b-41d4-a716-446655440000 9f3c2e1 deadbeef",
			"n:550e8400-e29b-41d4-a716-446655440000 n:9f3c2e1"},
		{"flags", "--dry-run --max_tokens=5000 -v --", "s:--dry-run s:--max_tokens=5000"},
		{"one flag or the other is no path", "`--short/-s` or -s/--long, not group/a-b/-/issues",
			"s:--short s:--long p:group/a-b/-/issues"},
		{"files that are told by what stands before their dot", "libz.so.1.2, so Dockerfile.Then it works.so, .env.Then",
			"p:libz.so.1.2"},
		{"numbers of issues", "(#57), [#1234] #4, issue#12, #333; `color:#334455`", "n:#57 n:#1234 n:333 n:334455"},
		{"numbers in groups", "1,048,576 (1,337 B), 12,345. At (100,200), f(100,200), $2,000 and 800-2,000",
			"n:1,048,576 n:1,337 n:12,345"},
		{"cases of all kinds", "snake_case camelCase PascalCase CONST_NAME HTTPServer kebab-case plain Word",
			"s:snake_case s:camelCase s:PascalCase s:CONST_NAME s:HTTPServer"},
		{"qualified names of two parts by their parts", "call http.StatusTeapot, strings.Join, event.messageID.role",
			"s:StatusTeapot s:event.messageID.role"},
		{"with a digit they are one name", "sha256.Sum256", "s:sha256.Sum256"},
		{"codes", "flight HAT136 with gpt-4o on port 8080, 3 of 12", "s:HAT136 s:gpt-4o n:8080"},
		{"references of git", "git diff main..HEAD `origin/main` origin/feat_x...9f3c2e1",
			"p:origin/main p:origin/feat_x n:9f3c2e1"},
		{"quoted, two words with a slash are a path", `use "path/filepath" but this and/or that`, "p:path/filepath"},
		{"one or the other is two names", "GitStore/FileStore and DiffA/DiffB1", "s:GitStore s:FileStore p:DiffA/DiffB1"},
		{"names in other scripts", "in ünï_cödé and docs/über.md", "s:ünï_cödé p:docs/über.md"},
		{"scripts without spaces", "请查看src/main.go文件，然后运行max_retries。", "p:src/main.go s:max_retries"},
		{"a file name in such a script", "见 文档/说明.md", "p:文档/说明.md"},
		{"arrows and dashes are not letters", "old_name→new_name — other_name…", "s:old_name s:new_name s:other_name"},
		{"strings in strings", `fmt.Println("\nTotalCount\tmax_retries")`, "s:TotalCount s:max_retries"},
		{"code", "```go\nfunc (s *leaseTable) acquireLocked(n int) error {\n```", "s:leaseTable s:acquireLocked"},
		{"shell variables", "$HOME/bin/kw ${DIR}/a/b.go $(pwd)/c/d.go", "p:$HOME/bin/kw p:a/b.go p:c/d.go"},
		{"patterns of files", "*_test.go TestStore_* [a-f0-9] [A-Za-z0-9_] **/x_test.go *.go", "s:*_test.go s:**/x_test.go"},
		{"what is marked up is no pattern", "**main.go** *x.go* a*b.go *p.c ** `docs/*`", "p:main.go p:x.go p:b.go p:p.c"},
		{"placeholders and what is the same everywhere", "path/to/file.go > /dev/null #!/usr/bin/env", ""},
		{"times of a log", "2026-01-23T14:05:06Z INFO started", ""},
		{"seconds of a time", "at 11:45:21.725231-07 and 10:22:57.379993, in 8.725231", "n:8.725231"},
		{"hyphened words of a text are no names, quoted or as a key they are",
			"Test-Driven Line-Level work, the trailer `Change-Id`, Entire-Session: 17 and X-HTTPServer",
			"s:Change-Id s:Entire-Session s:X-HTTPServer"},
		{"a mark behind a word", "here_ and initial_ or toolu_, and __init__", "s:__init__"},
		{"what a number counts", "a 12-hex-char id, 5-opus, 0-indexed", ""},
		{"a sentence that ends with a number", "in line 1475.To fix it", "n:1475"},
		{"colours of a terminal", "\x1b[31mFAIL_CODE\x1b[0m", "s:FAIL_CODE"},
		{"small ranges say nothing", "1-10 of 20-30, lines 318-343", "n:318-343"},
		{"nothing", "", ""},
		{"only marks", "... --- /// @@@ ~~~ ___ ._. -/-", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := strings.Join(names.ScanAll(tc.text, false), " "); got != tc.want {
				t.Errorf("%q\n got %s\nwant %s", tc.text, got, tc.want)
			}
		})
	}
}

// TestScanListing: the number of a line is not a name, that of a line that
// was found is.
func TestScanListing(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, text, want string }{
		{"viewers", "   454→\tfoo_bar := 1\n   455→\n   456→\tbaz_qux()", "s:foo_bar s:baz_qux"},
		{"cat -n", "   454\tfoo_bar\n   455\t", "s:foo_bar"},
		{"grep", "274:func newThing() {\n275-\treturn old_thing\n276-max_x1", "n:274 s:newThing s:old_thing s:max_x1"},
		{"a viewer's with colons", "[File: lease_x]\n271:def foo_bar():\n272:\n273:    return 4711\n300:baz_qux",
			"s:lease_x s:foo_bar n:4711 n:300 s:baz_qux"},
		{"sizes of files", "total 512\n-rw-r--r--  1 alex  staff  36414 Jan 20 2026 a_b/c.go\n" +
			"drwxr-xr-x@ 12 alex staff 4096 Jan 20 10:11 d_e/f.go\nand 4711", "p:a_b/c.go p:d_e/f.go n:4711"},
		{"a total that is none of a folder", "total 512 rows\ntotal 4711", "n:512 n:4711"},
		{"a harness cut it within words", "x_y.go foo_bar\n\n... [92611 characters truncated] ...\n\ns.go:196: baz_qux 4711",
			"p:x_y.go s:foo_bar n:196 s:baz_qux n:4711"},
		{"what was pruned", "[Pruned — 6103 tokens: Read a_b/c.go]\n[Pruned — 6279 tokens]\n[4711 rows]",
			"p:a_b/c.go n:4711"},
		{"a pattern and its pieces are no path", "**/*.test.tsx and *.gen.go", ""},
		{"a pattern is no path", "ls store/lease*.go docs/* and **store/lock.go**", "p:store/lock.go"},
		{"what sed replaces is no path", "sed 's/main-new/main/g' s/a_b/c/gi and s/main/x.go", "p:s/main/x.go"},
		{"a rate and numbers of one kind are no paths", "25/h or SLR124/133/158, in 2026/a.md", "s:SLR124 p:2026/a.md"},
		{"folders of years and numbers in code are", "`2024/src`, 2024/etc-x and `v1/2`", "p:2024/src p:2024/etc-x p:v1/2"},
		{"a date is no line number", "2026-02-10 something", "n:2026-02-10"},
		{"columns are no number in groups", "1,048,576\n100,200,300 4,711 f(100,200) 1,048,577 x\n", "n:1,048,577"},
		{"numbers inside a line stay", "listen on 8080\n  at 9090 too", "n:8080 n:9090"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := strings.Join(names.ScanAll(tc.text, true), " "); got != tc.want {
				t.Errorf("%q\n got %s\nwant %s", tc.text, got, tc.want)
			}
		})
	}
}

// TestNumbersWhole: a number keeps its groups and its decimals, or is no name.
func TestNumbersWhole(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ number, parts string }{
		{"1773489600000", ""}, {"1,337", "337 1"}, {"12,345,678", "12 345 678 345,678"}, {"1,337.5", "337.5 1 337"},
		{"800-2,000", "800-2 800 000 2,000"}, {"8,000-20,000", "8,000 20,000 000 -20"}, {"100-1,200,000", "200 200,000"},
		{"1.299,95", "1.299 299,95 299"}, {"0.8825", "8825"}, {"+49 30 901820-0", "901820"},
	} {
		t.Run(tc.number, func(t *testing.T) {
			for _, text := range []string{tc.number, "It has " + tc.number + " rows.", "(" + tc.number + ")",
				"costs €" + tc.number + ", or so"} {
				t.Run(text, func(t *testing.T) {
					for _, found := range names.ScanAll(text, false) {
						for part := range strings.FieldsSeq(tc.parts) {
							if found == "n:"+part {
								t.Errorf("%s is found, a part of %s", found, tc.number)
							}
						}
					}
				})
			}
		})
	}
	for text, want := range map[string]string{"It has 1773489600000 rows.": "n:1773489600000",
		"It costs $800-2,000, and $8,000-20,000 in house.": "",
		"2026-02-10,337 and 2026-02-11":                    "n:2026-02-10 n:337 n:2026-02-11"} {
		if got := strings.Join(names.ScanAll(text, false), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestScanLinear(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, piece string }{
		{"one word", "a"}, {"one word of capitals and digits", "aB3"}, {"schemes", "a://"}, {"colons", ":"},
		{"dots", "."}, {"slashes", "/"},
		{"dashes", "a-1"}, {"at signs", "@1"}, {"scripts", "a看"}, {"urls", "https://a.b/c?d=e&"},
		{"short names", "a_bcd "}, {"ranges", "a_b..c_d"},
		{"files with lines", "a.go-1-"}, {"invalid", "\xff"}, {"lines", "1\t\n"}, {"counted lines", "100:\n"},
		{"numbers without lines", "100:1 "}, {"runs with colons", "ab:"}, {"numbers with colons", "1:"}, {"settings", "a1="},
		{"settings and spaces", "ab_c=12 "}, {"plus signs", "a+"},
		{"patterns", "a*"}, {"open braces", "*{a"}, {"shares", `\\abc`}, {"folders of Windows", `C:\a`},
		{"folders with blanks", `"C:\a b`}, {"name spaces", "a::"}, {"types", "a::b<"}, {"open types", "a<"}, {"issues", " #12"},
		{"members", " a.b"}, {"groups", "1,000"}, {"fences", "```\n"},
		{"quoted blanks", "`a/b "}, {"schemes with signs", "a+b."},
	} {
		t.Run(tc.why, func(t *testing.T) {
			cost.Linear(t, 50_000, func(n int) func() {
				s := strings.Repeat(tc.piece, n/len(tc.piece))
				return func() { names.ScanAll(s, true) }
			})
		})
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"a/b.go:12:3", "https://x.y/z?a=b#c", "看src/main.go文件", "\\nName", "\x1b[31mRED", "[a-z0-9]", "$A/b ${A}/b",
		"a@1.2.3", "a..b", "a.go-1-b", "0a://",
		"  12→\tx_yz", "*_test.go", "@scope/p", "--flag", "x\xffy_z", "2026-01-02T03:04", strings.Repeat("a", 600),
		`C:\a b\c.ini "C:\\a b\\c.ini"`, `\\srv\a$\b`, "std::a<b>::c", "`a.b.c`", "src/**/*.{ts,tsx}", "#1234", "1,000,000",
		"{\"path\":\"a\\\\b.go\"}", "A=1,B_C=2%", "a:5000/b@sha256:9f3c2e1", "x://u:p@h:1/a?token=b1", "`a/b c/d.go`",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, listing := range []bool{false, true} {
			for _, found := range names.ScanAll(s, listing) {
				name := found[2:]
				written := strings.NewReplacer("\\", "", " ", "").Replace
				switch {
				case !strings.Contains(written(s), written(name)):
					t.Fatalf("%q does not stand in the text", name)
				case len(name) < 3 || len(name) > 512 || found[0] == '-':
					t.Fatalf("%q is no name", found)
				case strings.ContainsAny(strings.ReplaceAll(name, "\\ ", ""), " \t\r\n\"'`\x1b"),
					strings.ContainsAny(name, "<>") && !strings.Contains(name, "::"),
					strings.ContainsAny(name, "()") && !strings.Contains(name, "\\"),
					strings.ContainsAny(name, "{}") && !strings.Contains(name, "*"):
					t.Fatalf("%q has in it what no name has", name)
				case utf8.ValidString(s) && !utf8.ValidString(name):
					t.Fatalf("%q is cut inside a letter", name)
				}
			}
		}
	})
}
