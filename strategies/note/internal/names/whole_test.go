package names_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// hash64 is a hash of sha256.
const hash64 = "9f3c2e1a7b4d5e6f9f3c2e1a7b4d5e6f9f3c2e1a7b4d5e6f9f3c2e1a7b4d5e6f"

// wholeNames are names of several words, each of which people and machines read as one.
var wholeNames = []string{
	// Settings.
	"GOMEMLIMIT=560MiB", "lease_ttl_ms=45000", "NODE_ENV=production", "KW_HOME=/srv/kw/data", "server.port=8081",
	"API_URL=https://api.example.org/v2/ingest", "TZ=Europe/Berlin", "GOFLAGS=-mod=vendor", "max_tokens=4096",
	"main.version=1.4.2-rc.1", "GOGC=75%", "LISTEN=0.0.0.0:9443",
	// Flags with values.
	"--ttl=45s", "--max_tokens=5000", "--log-level=debug", "-Xmx=512m", "--config=/etc/kw/relay.yaml",
	// Addresses of all kinds.
	"s3://bucket-7/key/a.parquet", "gs://acme-logs/2026/11/run.json", "https://api.example.org/v2/ingest?page=2&n=50",
	"git+ssh://git@host.example.org/a/b.git", "postgres://db-7.example.org:5432/parcels", "redis://cache:6379/2",
	"vscode-remote://wsl/home/lee", "file:///srv/kw/a.go", "git@host.example.org:acme/relay.git", "git@github.com:a/b.git",
	"deploy@db-prod-7.example.com", "deploy@10.0.0.7:/srv/kw/releases",
	// Hosts, ports, images and digests.
	"localhost:8080", "registry.local:5000/relay:1.4.2", "db-prod-7.example.com:5433", "10.1.2.3:9443", "db:5432/app",
	"ghcr.io/acme/relay@sha256:" + hash64, "ghcr.io/acme/relay:latest", "acme/relay:1.4.2", "redis:7.2-alpine",
	"sha256:" + hash64, "sha256:9f3c2e1a", "h1:Ggc0Q2jBCdlSVUYqGDQxHQuJ8Ld7qLcDpXaLr2YHqsE=",
	// Names with colons.
	"arn:aws:iam::123456789012:role/Deploy", "urn:uuid:550e8400-e29b-41d4-a716-446655440000",
	"org.apache.commons:commons-lang3:3.12.0", "user:47110815", "run:7b1d2c9a",
	// Numbers of all kinds.
	"0x7ffdeadbeef", "10.0.0.0/16", "192.168.1.77", "2001:db8::1", "fe80::1ff:fe23:4567:890a", "00:1a:2b:3c:4d:5e",
	"550e8400-e29b-41d4-a716-446655440000", "v1.2.3-rc.1", "1.2.3+build.57", "2026-11-29T22:23:00+01:00",
	"2026-11-29T22:23:00Z", "22:23:00Z", "14:30+02:00",
	// Packages.
	"lodash@4.17.21", "@acme/relay@1.2.0", "github.com/go-git/go-git/v5@v5.12.0", "requests==2.31.0",
	// Paths of Windows, and files that are told by what stands before their dot.
	`C:\Users\ann\app.ini`, `\\fileserver\builds\kw.zip`, `\\wsl$\Ubuntu\home\lee`, "libfoo.so.2", "libfoo.so",
	"Dockerfile.prod", ".env.local",
	// Others.
	"acme/relay#3127", "KAG-4821", "feat/lease-renew", "#1234",
}

// TestWholeNames: a name of several words stands whole in the list, whoever wrote it, and its pieces do not.
func TestWholeNames(t *testing.T) {
	features.Proves(t, "N8")
	for _, name := range wholeNames {
		for why, msgs := range map[string][]abi.Message{
			"prose":           {said("I set " + name + " now.")},
			"in backticks":    {said("I set `" + name + "`, as was asked.")},
			"in parentheses":  {user("Please set it (" + name + ").")},
			"tool output":     called("Grep", "pattern", "x", "set to "+name+", and done", false),
			"output alone":    called("Grep", "pattern", "x", name+"\n", false),
			"call's argument": called("Task", "prompt", "set "+name+" now", "ok", false),
			"alone in a call": called("Task", "name", name, "ok", false),
		} {
			note := summary(build(msgs).Render(400, byRune))
			for round := range 3 {
				if got := listed(note); !slices.Equal(got, []string{name}) {
					t.Errorf("%s: round %d: %q, want %s alone", why, round, got, name)
				}
				note = summary(build([]abi.Message{note}).Render(400, byRune))
			}
		}
	}
}

// listed are the names in a note, but for the tools and commands.
func listed(note abi.Message) (all []string) {
	for head, list := range listsOf(note) {
		if !strings.HasPrefix(head, "Tools") && head != "root" && head != "Other" {
			all = append(all, strings.Fields(list)...)
		}
	}
	return all
}

// TestLookAlikes: what only looks like a name of several words is not listed as one. What of it is a name by itself is.
func TestLookAlikes(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, text, want string }{
		{"prose with slashes", "Kept by rebases/cherry-picks for remote/server-side work.", ""},
		{"the same with capitals", "It is JSON-in/JSON-out and read/write.", ""},
		{"what a browser calls itself", "Mozilla/5.0 speaks HTTP/1.1 here.", ""},
		{"a colon in a sentence", "Note:this is so, see below:there and a:b.", ""},
		{"small counts", "It takes step:12 of page:3 and x=5, i=0.", ""},
		{"a clock", "It ran from 14:30 to 15:45:10, twice.", ""},
		{"the time of a log", "2026-11-29T22:23:00Z INFO ready", ""},
		{"the same in brackets", "[2026-11-29T22:23:00.123Z] ready", ""},
		{"the same as a setting", "time=2026-11-29T22:23:00Z level=info ready", ""},
		{"a place in a file", "See main.go:120:5 and pkg/a_b.go:44.", "main.go main.go:120 pkg/a_b.go"},
		{"a file of a revision", "Show HEAD:pkg/a_b.go then.", "pkg/a_b.go"},
		{"two places on a disk", "Mount -v /srv/kw/data:/var/lib/kw there.", "/srv/kw/data /var/lib/kw"},
		{"a call", "Set timeout=get_timeout(x) and ttl=max_ttl[0].", "get_timeout max_ttl"},
		{"an assignment of names", "Pass file_path=path, key=lambda there.", "file_path"},
		{"a comparison", "Where status_code==200 and x==y2.", "200 status_code"},
		{"signs of a style sheet and of others", "&::before, :smile::tada:, x[::2] and ::set-output", ""},
		{"a variable", "Set KW_HOME=$HOME and KW_OUT=${DIR}.", "KW_HOME KW_OUT"},
		{"a value in quotes", `Set KW_MODE="very strict" now.`, "KW_MODE"},
		{"a placeholder", "Set KW_MODE=<mode> and sha256:%x now.", "KW_MODE"},
		{"a number with groups", "Set lease_rows=1,250,000 now.", "lease_rows"},
		{"what stands for a secret", "Set KW_MODE=REDACTED now.", "KW_MODE"},
		{"a slice", "Take a[1:20], b[::2] and 1::4.", ""},
		{"small hexadecimal numbers", "0xFF and 0x1 are flags.", ""},
		{"a sum", "It is 12.5+3.75 or a+b.", "12.5 3.75"},
		{"a heading", "See issue#one and C# there, #4.", ""},
		{"an anchor", "See README.md#use, Setup#use and div#main.", "README.md"},
		{"a command in quotes", "Run `bin/kw compact/run.go` and `./kw a/b.go`.", "a/b.go compact/run.go"},
		{"two files in quotes", "Say `a/b.go c/d.go` or `go test pkg/x_y`.", "a/b.go c/d.go pkg/x_y"},
	} {
		got := listed(summary(build([]abi.Message{said(tc.text)}).Render(400, byRune)))
		slices.Sort(got)
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

// TestNamesOfWriting: some names are told from code and columns only where people and agents write, and in commands of
// one line. In code they are where they stand in backticks.
func TestNamesOfWriting(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ name, prose, backticks, code, output string }{
		{"std::vector<int>::iterator", "std::vector<int>::iterator", "std::vector<int>::iterator", "", ""},
		{"crate::store::LeaseTable", "crate::store::LeaseTable", "crate::store::LeaseTable", "LeaseTable",
			"crate::store::LeaseTable"},
		{"Vec::<u8>::new", "Vec::<u8>::new", "Vec::<u8>::new", "", ""},
		{"kagewasm.Compactor.Prepare", "kagewasm.Compactor.Prepare", "kagewasm.Compactor.Prepare", "", ""},
		{"lease.Renew", "", "lease.Renew", "", ""},
		{"store.acquireLocked", "acquireLocked", "acquireLocked", "acquireLocked", "acquireLocked"},
		{"this.lease", "", "", "", ""},
		{"done.Then", "", "done.Then", "", ""},
		{"com.acme.pay.LedgerService", "com.acme.pay.LedgerService", "com.acme.pay.LedgerService", "LedgerService",
			"com.acme.pay.LedgerService"},
		{"com.acme.pay.LedgerService#close", "com.acme.pay.LedgerService#close", "com.acme.pay.LedgerService#close",
			"com.acme.pay.LedgerService#close", "com.acme.pay.LedgerService#close"},
		{"1,048,576", "1,048,576", "1,048,576", "", "1,048,576"},
		{"1,234,567.89", "1,234,567.89", "1,234,567.89", "", "1,234,567.89"},
		{"1.234.567,89", "1.234.567,89", "1.234.567,89", "1.234.567,89", "1.234.567,89"},
		{"100,200,300", "100,200,300", "100,200,300", "", ""},
		{"*.test.tsx", "*.test.tsx", "*.test.tsx", "", ""},
		{"src/**/*.ts", "src/**/*.ts", "src/**/*.ts", "", ""},
		{"src/*/x.{ts,tsx}", "src/*/x.{ts,tsx}", "src/*/x.{ts,tsx}", "", ""},
		{"*.go", "", "", "", ""},
		{"#57", "#57", "#57", "", ""},
	} {
		code := func(s string) []abi.Message { return called("Task", "prompt", "set "+s+" now,\nthen go", "ok", false) }
		for _, in := range []struct {
			why, want string
			msgs      []abi.Message
		}{
			{"prose", tc.prose, []abi.Message{user("I set " + tc.name + " now.")}},
			{"the end of a sentence", tc.prose, []abi.Message{said("I set " + tc.name + ".")}},
			{"parentheses", tc.prose, []abi.Message{said("I set it (to " + tc.name + ").")}},
			{"a command", tc.prose, called("Bash", "command", "set "+tc.name+" now", "ok", false)},
			{"backticks", tc.backticks, []abi.Message{said("I set `" + tc.name + "`.")}},
			{"code", tc.code, code(tc.name)},
			{"a fence", tc.code, []abi.Message{said("So:\n```\nset " + tc.name + " now\n```\nand on")}},
			{"behind a fence", tc.prose, []abi.Message{said("So:\n```\nset\n```\nset " + tc.name + " now")}},
			{"output", tc.output, called("Grep", "pattern", "x", "set "+tc.name+" now", false)},
		} {
			note := summary(build(in.msgs).Render(400, byRune))
			for round := range 3 {
				if got := strings.Join(listed(note), " "); got != in.want {
					t.Errorf("%s in %s: round %d: %q, want %q", tc.name, in.why, round, got, in.want)
				}
				note = summary(build([]abi.Message{note}).Render(400, byRune))
			}
		}
	}
}

// TestPathsOfWindows: such a path stands whole in the list of files, in a chain of notes too, as it was called by or as
// programs write it.
func TestPathsOfWindows(t *testing.T) {
	features.Proves(t, "N8")
	for text, want := range map[string]string{
		`see C:\Users\ann\app.ini.`:                         `C:\Users\ann\app.ini`,
		`"path": "C:\\Users\\ann\\app.ini"`:                 `C:\Users\ann\app.ini`,
		`see "C:\Program Files (x86)\kw\a.exe"`:             `C:\Program\ Files\ (x86)\kw\a.exe`,
		`see C:\Program Files\kw\a.exe here`:                `C:\Program\ Files\kw\a.exe`,
		`see \\fileserver\builds`:                           `\\fileserver\builds`,
		`"\\\\fileserver\\builds\\kw.zip"`:                  `\\fileserver\builds\kw.zip`,
		`split at "\\d+\\w" or "\\w+\s", and at "Q:\nA\tB"`: "",
	} {
		note := summary(build([]abi.Message{user(text)}).Render(400, byRune))
		for round := range 3 {
			got := note.Text()
			if alone := strings.Contains(got, "\n- "+want+"\n"); alone != (want != "") || !alone && len(listed(note)) > 0 {
				t.Errorf("%s: round %d: %s, want %s", text, round, got, want)
			}
			note = summary(build([]abi.Message{note}).Render(400, byRune))
		}
	}
	const file, root = `C:\Users\ann\app.ini`, "/srv/kw"
	msgs := append(called("Edit", "file_path", file, "ok", false),
		called("Edit", "file_path", root+"/a.go", "ok", false)...)
	msgs = append(msgs, user("a.go in /srv/kw, /srv/kw/b.go"))
	l := build(msgs)
	if modified := l.Files().Modified; !slices.Contains(modified, file) {
		t.Errorf("modified %q", modified)
	}
	if list := l.Lists(400, "", byRune); !strings.Contains(list.Modified, file) {
		t.Errorf("modified %s", list.Modified)
	}
}

// TestSecretsStayOut: the value of a secret is not listed, nor is a piece of it.
func TestSecretsStayOut(t *testing.T) {
	features.Proves(t, "N8")
	hex := strings.Repeat("f00ba4", 7)[:40]
	for text, want := range map[string]string{
		"DB_PASSWORD=correct_horse7":                         "DB_PASSWORD",
		"export GITHUB_TOKEN=" + hex:                         "GITHUB_TOKEN",
		"--api-token=" + hex:                                 "--api-token",
		"client_secret=a1b2-c3d4-e5f6":                       "client_secret",
		"postgres://app:hunter_22@db.example.com:5432/app_7": "db.example.com:5432/app_7",
		"redis://:hunter_22@cache.example.com":               "cache.example.com",
		"https://x.example.com/a_b?token=" + hex:             "https://x.example.com/a_b",
		`C:\Users\REDACTED\x and lease_ttl`:                  "lease_ttl",
		"lease.Store.REDACTED_1 of *.REDACTED.test.tsx":      "",
	} {
		for why, msgs := range map[string][]abi.Message{"prose": {said("I set " + text + " now.")},
			"output": called("Grep", "pattern", "x", text+"\n", false),
			"a call": called("Task", "prompt", "set "+text+" now", "ok", false)} {
			if got := listed(summary(build(msgs).Render(400, byRune))); strings.Join(got, " ") != want {
				t.Errorf("%s: %s: %q, want %s", why, text, got, want)
			}
		}
	}
}

// TestBlanksInQuotes: a path with blanks that stands alone in quotes is one name, in a chain of notes too.
func TestBlanksInQuotes(t *testing.T) {
	features.Proves(t, "N8")
	const name = `src/a\ b/c.go`
	for _, text := range []string{"I set `src/a b/c.go` now.", `Set "src/a b/c.go".`, "'src/a b/c.go'"} {
		note := summary(build([]abi.Message{said(text)}).Render(400, byRune))
		for range 3 {
			if !strings.Contains(note.Text(), name) || strings.Contains(note.Text(), " b/c.go "+"b/c.go") {
				t.Errorf("%s: %s", text, note.Text())
			}
			if got := listed(note); len(got) != 2 {
				t.Errorf("%s: %q", text, got)
			}
			note = summary(build([]abi.Message{note}).Render(400, byRune))
		}
	}
}
