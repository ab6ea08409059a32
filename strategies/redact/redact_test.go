package redact_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

func defaults(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// repeat stands for the random part of a secret, so that none of these looks
// like a real one to whoever scans this file.
func repeat(s string, n int) string { return strings.Repeat(s, n)[:n] }

var (
	alnum = repeat("Ab1", 64)
	pem   = "-----BEGIN RSA PRIVATE KEY-----\n" + repeat("MIIEow", 64) + "\n" + repeat("AQEA", 40) +
		"\n-----END RSA PRIVATE KEY-----"
	cutPEM = "-----BEGIN OPENSSH PRIVATE KEY-----\n" + repeat("b3Blbn", 64) + "\n" + repeat("c3No", 40)
	// discord is a token of a bot without its first letter.
	discord = alnum[:23] + "." + alnum[:6] + "." + alnum[:27]
	jwt     = "eyJ" + alnum[:20] + ".eyJ" + alnum[:30] + "." + alnum[:43]
)

// TestSecrets: what is a secret goes, and nothing around it.
func TestSecrets(t *testing.T) {
	features.Proves(t, "complaint 16")
	r := defaults(t)
	for _, tc := range []struct{ why, text, want string }{
		{"a private key", "key:\n" + pem + "\nends", "key:\n[redacted: private-key]\nends"},
		{"a private key cut off in the middle", cutPEM + "\n\nAnd then we went on.",
			"[redacted: private-key]\n\nAnd then we went on."},
		{"a private key in escaped JSON", `"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"`,
			`"k":"[redacted: private-key]"`},
		{"a web token", "got " + jwt + " back", "got [redacted: jwt] back"},
		{"an AWS key", "id AKIA" + repeat("Q7", 16) + ".", "id [redacted: aws-key]."},
		{"an AWS secret", "aws_secret_access_key = " + repeat("aB3/", 40), "aws_secret_access_key = [redacted: secret]"},
		{"a GitHub token", "ghp_" + alnum[:36], "[redacted: github-token]"},
		{"a fine-grained GitHub token", "github_pat_" + alnum[:22] + "_" + alnum[:59], "[redacted: github-token]"},
		{"a GitLab token", "glpat-" + alnum[:20], "[redacted: gitlab-token]"},
		{"a Slack token", "xoxb-" + repeat("123", 12) + "-" + alnum[:24], "[redacted: slack-token]"},
		{"a Slack hook", "https://hooks.slack.com/services/" + "T" + alnum[:8] + "/B" + alnum[:8] + "/" + alnum[:24],
			"[redacted: slack-token]"},
		{"a Stripe key", "sk_" + "live_" + alnum[:24], "[redacted: stripe-key]"},
		{"an Anthropic key", "x-api-key: sk-" + "ant-api03-" + alnum, "x-api-key: [redacted: anthropic-key]"},
		{"an OpenAI project key", "sk-" + "proj-" + alnum, "[redacted: openai-key]"},
		{"an older OpenAI key", "OPENAI_API_KEY=sk-" + alnum[:48], "OPENAI_API_KEY=[redacted: openai-key]"},
		{"a Google key", "?key=AIza" + alnum[:35], "?key=[redacted: google-key]"},
		{"a package registry's token", "npm_" + alnum[:36], "[redacted: token]"},
		{"a bearer token", `curl -H "Authorization: Bearer ` + alnum[:32] + `"`,
			`curl -H "Authorization: Bearer [redacted: bearer-token]"`},
		{"a basic login", "Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted: basic-auth]"},
		{"a password in a URL", "postgres://app:hunter2@db:5432/app", "postgres://app:[redacted: password]@db:5432/app"},
		{"one without a user", "redis://:hunter2@cache:6379", "redis://:[redacted: password]@cache:6379"},
		{"a password in a setting", "DB_PASSWORD=correcthorse\nDB_USER=app", "DB_PASSWORD=[redacted: secret]\nDB_USER=app"},
		{"in a connection string", "Server=db;User Id=sa;Password=pa55word;Encrypt=true",
			"Server=db;User Id=sa;Password=[redacted: secret];Encrypt=true"},
		{"with padding", "AccountKey=" + repeat("aB3+", 86) + "==;Suffix=x", "AccountKey=[redacted: secret];Suffix=x"},
		{"in a form", "user=me&password=abcdef&go=1", "user=me&password=[redacted: secret]&go=1"},
		{"in JSON", `{"client_secret": "abcdefgh", "id": 7}`, `{"client_secret": "[redacted: secret]", "id": 7}`},
		{"in escaped JSON", `{\"password\":\"abcdefgh\"}`, `{\"password\":\"[redacted: secret]\"}`},
		{"in YAML", "secret: s3cr3t-value\nname: x", "secret: [redacted: secret]\nname: x"},
		{"in code", `const apiKey = "abcd-efgh-1234"`, `const apiKey = "[redacted: secret]"`},
		{"a weak one right behind its flag", "mysql -uroot -psecret app", "mysql -uroot -p[redacted: secret] app"},
		{"on a command line", "login --password hunter22 --user me", "login --password [redacted: secret] --user me"},
		{"of a .netrc", "machine host login bob\n  password x9Qz7Lw2",
			"machine host login bob\n  password [redacted: password]"},
		{"a list of logins is none", "login by SSO\nlogin by password\n⏳ 2FA from May",
			"login by SSO\nlogin by password\n⏳ 2FA from May"},
		{"nor a line below", "no login without password\nAsk Kim", "no login without password\nAsk Kim"},
		{"two in a line", "password=abcdef secret=ghijkl", "password=[redacted: secret] secret=[redacted: secret]"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, n := r.Redact(tc.text)
			if got != tc.want {
				t.Errorf("%s:\n%s\nwant\n%s", tc.why, got, tc.want)
			}
			if want := strings.Count(tc.want, "[redacted: "); n != want {
				t.Errorf("%d redactions, want %d", n, want)
			}
			if again, n := r.Redact(got); again != got || n != 0 {
				t.Errorf("the second time gives\n%s", again)
			}
		})
	}
}

// TestShortest: keys of the least length go, and what is a letter shorter is none.
func TestShortest(t *testing.T) {
	r := defaults(t)
	hex := repeat("0a1b", 32)
	for _, key := range []string{"AKIA" + repeat("Q7", 16), "ghp_" + alnum[:36], "github_pat_" + alnum[:22],
		"gldt-" + alnum[:20], "sk-" + "proj-" + alnum[:20], "sk-" + alnum[:32], "SK" + hex, "key-" + hex} {
		t.Run(key[:5], func(t *testing.T) {
			if got, n := r.Redact("is " + key + "."); n != 1 || strings.Contains(got, key[5:]) {
				t.Errorf("%q stays: %q", key, got)
			}
			if got, n := r.Redact("is " + key[:len(key)-1] + "."); n != 0 {
				t.Errorf("what is shorter becomes %q", got)
			}
		})
	}
}

func TestNew(t *testing.T) {
	for _, tc := range []struct {
		why  string
		list []redact.Pattern
	}{
		{"an expression that does not compile", []redact.Pattern{{Kind: "x", Expr: "("}}},
		{"one that is not linear", []redact.Pattern{{Kind: "x", Expr: `(a)\1`}}},
		{"one that matches nothing at all", []redact.Pattern{{Kind: "x", Expr: "a*"}}},
		{"an empty word", []redact.Pattern{{Kind: "x", Expr: "a", Words: []string{""}}}},
		{"no kind", []redact.Pattern{{Expr: "a"}}},
		{"a kind that closes the mark", []redact.Pattern{{Kind: "x] y", Expr: "a"}}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if _, err := redact.New(tc.list); err == nil {
				t.Errorf("%s is taken", tc.why)
			}
		})
	}
	none, err := redact.New([]redact.Pattern{})
	if err != nil {
		t.Fatal(err)
	}
	if got, n := none.Redact(pem); got != pem || n != 0 {
		t.Error("an empty list redacts")
	}
	own, err := redact.New(append(redact.Defaults(),
		redact.Pattern{Kind: "ticket", Expr: `CORP-(\d+)`, Words: []string{"corp-"}}))
	if err != nil {
		t.Fatal(err)
	}
	if got, n := own.Redact("see CORP-123 and CORP-x"); got != "see CORP-[redacted: ticket] and CORP-x" || n != 1 {
		t.Errorf("a pattern of one's own: %q", got)
	}
}

// pieces are put together at random, secrets and what is none.
var pieces = []string{"password=", "secret: ", "[redacted: secret]", "[redacted: ", "]", "abc1defgh", " ", "\n", "\"",
	";", "&", "sk-", alnum[:40],
	"postgres://u:", "@host", "Bearer ", "--token ", "AKIA", repeat("Q7", 16), "eyJ", ".",
	"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
	"ghp_", "日本語", "mysql -p", "curl -u a:", " | chpasswd", "echo ", " as the password", "the password is ", "?key=",
	"Cookie: a=", "login ", " password ", "\x00", "\xff", "=", "`", "'", "\\"}

func TestIdempotent(t *testing.T) {
	features.Proves(t, "complaint 16")
	r := defaults(t)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "pieces"), "")
		once, _ := r.Redact(text)
		if again, n := r.Redact(once); again != once || n != 0 {
			t.Fatalf("%q\nonce  %q\ntwice %q", text, once, again)
		}
	})
}

// TestLinearTime: on texts made to be slow, time grows with their
// length and not with its square.
func TestLinearTime(t *testing.T) {
	features.Proves(t, "complaint 16")
	r := defaults(t)
	pieces := []string{"a", "password=", "-----BEGIN PRIVATE KEY-----", "://", "eyJ", "secret: ", "sk-", "\"",
		"password=abcd ", "secret:", "eyJ-",
		"eyJaaaaaaaaa.", "secret=a(", "--token ", "SG.", "gl", "api_key:\"", "bearer ", "authorization: ", "mysql ",
		"curl -u ", "echo '", " -p", "?token=",
		"password is \"", "password is “", "password:**", "the password for ", "as the password ", "login a password ",
		"密码是", "[redacted: ", "-"}
	for _, piece := range soak.Sample(pieces, 10, len(pieces)) {
		t.Run(fmt.Sprintf("%.40q", piece), func(t *testing.T) {
			cost.Linear(t, 1<<13, func(size int) func() {
				text := strings.Repeat(piece, size/len(piece))
				return func() { r.Redact(text) }
			})
		})
	}
}

// TestSessions: of real sessions hardly anything goes.
func TestSessions(t *testing.T) {
	features.Proves(t, "complaint 16")
	r := defaults(t)
	paths := shared.Sessions(t)
	for _, path := range soak.Sample(paths, 8, len(paths)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, n := r.Redact(string(text)); n > 1 {
			t.Errorf("%s: %d redactions in %d bytes", path, n, len(text))
		}
	}
}

// BenchmarkRedact looks real sessions through, message files as they are.
func BenchmarkRedact(b *testing.B) {
	r := defaults(b)
	var texts []string
	size := 0
	for _, path := range shared.Sessions(b) {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		texts, size = append(texts, string(text)), size+len(text)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, text := range texts {
			r.Redact(text)
		}
	}
}

// TestSpoken: people tell secrets without assigning them.
func TestSpoken(t *testing.T) {
	features.Proves(t, "complaint 16")
	r := redact.Known()
	for text, want := range map[string]string{
		"the password is hunter22.":        "the password is [redacted: secret].",
		"das Passwort: x; token ist a1b2c": "das Passwort: x; token ist [redacted: secret]",
		"use the key " + alnum[:20]:        "use the key [redacted: secret]",
		"export DB_PASSWORD=correcthorse":  "export DB_PASSWORD=[redacted: secret]", // as by default
		"the password is required there":   "the password is required there",
		"the key is 7":                     "the key is 7",
		"use the key for staging":          "use the key for staging",
		"a monkey is 1000 years old":       "a monkey is 1000 years old",
		"n" + discord:                      "n" + discord, // it begins with a capital
		"see N" + discord:                  "see [redacted: token]",
	} {
		t.Run(text, func(t *testing.T) {
			got, _ := r.Redact(text)
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if again, n := r.Redact(got); again != got || n != 0 {
				t.Errorf("the second time gives %q", again)
			}
		})
	}
}

func TestUnmarked(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"nothing [redacted] here":           "nothing [redacted] here",
		"a [redacted: secret] b":            "a  b",
		"[redacted: a][redacted: b] [c]":    " [c]",
		"the mark is cut off: [redacted: s": "the mark is cut off: ",
	} {
		t.Run(text, func(t *testing.T) {
			if got := redact.Unmarked(text); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func ExampleRedactor_Redact() {
	r, err := redact.New(nil)
	if err != nil {
		panic(err)
	}
	text, n := r.Redact("DATABASE_URL=postgres://app:hunter2@db/app at commit 9f3c2e1ab")
	fmt.Println(n, text)
	// Output: 1 DATABASE_URL=postgres://app:[redacted: password]@db/app at commit 9f3c2e1ab
}
