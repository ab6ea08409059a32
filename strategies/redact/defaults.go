package redact

import "strings"

// Defaults returns the patterns of a redactor that is told nothing else.
func Defaults() []Pattern {
	all := append(keys(), headers()...)
	all = append(all, links()...)
	all = append(all, files()...)
	return append(append(all, spoken()...),
		Pattern{Kind: "secret", Words: assignedWords(), Min: 4, find: assigned},
		Pattern{Kind: "secret", Words: []string{"--", " -", "\t-"}, Min: 4, find: flagged},
		Pattern{Kind: "secret", Words: programs(), Begins: true, Min: 3, find: commanded})
}

const (
	begin   = "-----BEGIN "
	keyKind = `[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`
	keyHead = begin + keyKind
	keyEnd  = `-----END ` + keyKind
)

// keyed is the pattern of secrets that begin with one of the words.
func keyed(kind, expr string, words ...string) Pattern {
	return Pattern{Kind: kind, Begins: true, Words: words, Expr: expr}
}

// atLeast returns the pattern of secrets that are so long at least, and of letters, digits, "_" and "-" alone.
func (p Pattern) atLeast(length int) Pattern {
	p.run = length
	return p
}

// keys are secrets that can be told by their own form.
func keys() []Pattern {
	return []Pattern{
		{Kind: "private-key", Words: []string{begin}, Expr: keyHead + `(?:[^-]|-[^-])*` + keyEnd},
		// One that was cut off: its lines are longer than words are.
		{Kind: "private-key", Words: []string{begin}, Expr: keyHead + `(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*`},
		keyed("private-key", `AGE-SECRET-KEY-1[A-Z0-9]{40,}`, "AGE-SECRET-KEY-1"),
		keyed("jwt", `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "eyJ"),
		keyed("aws-key", `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`, "AKIA", "ASIA", "ABIA", "ACCA").atLeast(20),
		keyed("github-token", `gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}`,
			"gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_").atLeast(33),
		keyed("gitlab-token", `gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,}`, "gl").atLeast(25),
		keyed("slack-token", `xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}|`+
			`https://hooks\.slack\.com/services/[A-Za-z0-9_/]{20,}`,
			"xox", "xapp-", "https://hooks.slack.com/"),
		keyed("stripe-key", `[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}`,
			"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
		keyed("anthropic-key", `sk-ant-[A-Za-z0-9_-]{20,}`, "sk-ant-"),
		// Without a second word only letters and digits: sk-estimator-doc-link is a style sheet's.
		keyed("openai-key", `sk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`, "sk-").atLeast(28),
		keyed("google-key", `AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}`,
			"AIza", "ya29.", "GOCSPX-"),
		keyed("token", `npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|`+
			`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}`,
			"npm_", "pypi-", "hf_", "dckr_pat_", "SG."),
		keyed("token", `do[opr]_v1_[a-f0-9]{64}|hv[sbr]\.[A-Za-z0-9_-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|`+
			`glc_[A-Za-z0-9+/=_-]{32,}|lin_api_[A-Za-z0-9]{32,}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|`+
			`PMAK-[a-f0-9]{24}-[a-f0-9]{34}|dapi[a-f0-9]{32}\b|xai-[A-Za-z0-9]{60,}|gsk_[A-Za-z0-9]{40,}|`+
			`r8_[A-Za-z0-9]{32,}`,
			"dop_v1_", "doo_v1_", "dor_v1_", "hvs.", "hvb.", "hvr.", "shpat_", "shpca_", "shppa_", "shpss_", "glc_",
			"lin_api_", "sq0", "PMAK-", "dapi", "xai-", "gsk_", "r8_"),
		keyed("token", `(?:SK|key-)[a-f0-9]{32}\b`, "SK", "key-").atLeast(34),                    // Twilio, Mailgun
		{Kind: "token", Words: []string{":AA"}, Expr: `:(AA[A-Za-z0-9_-]{33,})`, accept: ofABot}, // Telegram
		keyed("token", `(?i:discord(?:app)?\.com/api/webhooks/)[0-9]+/([A-Za-z0-9_-]{40,})`,
			"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
		{Kind: "token", Begins: true, Words: []string{"M", "N", "O"}, capital: true, run: 23, may: dotted, // Discord
			Expr: `[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`},
	}
}

// ofABot reports whether the number of a bot stands before its token.
func ofABot(text string, groups []span) bool {
	digits := 0
	for i := groups[0].from - 1; i >= 0 && '0' <= text[i] && text[i] <= '9' && digits < 16; i-- {
		digits++
	}
	return digits >= 8
}

// headers are secrets in the headers of requests.
func headers() []Pattern {
	const (
		colon = `["']?\s*[:=]\s*\\?["']?`
		token = "([A-Za-z0-9._~+/=-]+)"
	)
	return []Pattern{
		{Kind: "bearer-token", Begins: true, Words: []string{"bearer"}, Min: 8, Expr: `(?i:bearer)\s+` + token,
			accept: func(text string, groups []span) bool {
				s := groups[1].of(text)
				return hasDigit(s) || len(s) >= 20
			}},
		{Kind: "basic-auth", Words: []string{"authorization"}, Min: 8,
			Expr: `(?i:authorization)` + colon + `(?i:basic)\s+` + token},
		{Kind: "token", Words: []string{"authorization"}, Min: 8,
			Expr: `(?i:authorization)` + colon + `(?i:(?:token|apikey|api-key|digest|negotiate|hmac)\s+)?` + token,
			accept: func(text string, groups []span) bool {
				return strongGroup(text, groups) && !strings.HasPrefix(groups[1].of(text), "AWS4-")
			}},
		{Kind: "token", Words: []string{"signature="}, Min: 40, Expr: `(?i:signature)=([a-f0-9]{40,})`},
		{Kind: "token", Words: []string{"x-", "private-token", "ocp-apim-subscription-key", "api-key"}, Begins: true, Min: 8,
			Expr:   `(?i:(?:x-[a-z-]*(?:token|key|secret)|private-token|ocp-apim-subscription-key|api-key))` + colon + token,
			accept: strongGroup},
		{Kind: "cookie", Words: []string{"cookie:"}, Expr: `(?i:cookie):\s*` +
			"([A-Za-z0-9_.-]+=[^\\s\"'`;\\[]+(?:;\\s*[A-Za-z0-9_.-]+=[^\\s\"'`;\\[]+)*)", Begins: true},
		{Kind: "cookie", Words: []string{"set-cookie:"}, Min: 4,
			Expr: `(?i:set-cookie):\s*[A-Za-z0-9_.-]+=` + "([^\\s\"'`;\\[]+)"},
	}
}

func strongGroup(text string, groups []span) bool { return hasDigit(groups[1].of(text)) }

// links are secrets in addresses.
func links() []Pattern {
	var words []string
	for _, name := range []string{"token", "access_token", "auth_token", "id_token", "refresh_token", "api_key", "apikey",
		"api-key", "key", "sig", "signature", "x-amz-signature", "x-amz-security-token", "client_secret", "auth"} {
		words = append(words, "?"+name+"=", "&"+name+"=")
	}
	return []Pattern{
		{Kind: "password", Words: []string{"://"}, may: logsIn,
			Expr: "://[^\\s:/@?#\"'`\\[\\]<>]*:([^\\s/@\"'`\\[\\](){}<>$*%][^\\s/\"'`\\[\\]<>]*)@"},
		{Kind: "token", Words: []string{"://"}, Min: 16, Expr: "://([A-Za-z0-9_-]+)@", may: logsIn, accept: strongGroup},
		{Kind: "token", Words: words, Min: 8, accept: strongGroup,
			Expr: `[?&][A-Za-z_-]+=` + "([^\\s&#\"'`<>{}$\\[\\]()\\\\]+)"},
	}
}

// files are secrets in the files where programs look for them.
func files() []Pattern {
	return []Pattern{
		{Kind: "password", Words: []string{"identified by", "identified with"}, Min: 3, // SQL
			Expr: `(?i:identified\s+(?:with\s+\S+\s+)?by)\s+\\*["']([^"'\\\n]+)`, accept: meantGroup},
		{Kind: "password", Words: []string{"jdbc:oracle:thin:"}, Expr: `(?i:jdbc:oracle:thin):[^\s/@"']+/([^\s@"']+)@`},
		{Kind: "password", Words: []string{"login "}, Begins: true, Min: 3, may: namesLogin, // .netrc
			Expr: "(?i:login)\\s+[^\\s\"'`\\\\]+(?:\\s|\\\\n)+(?i:password)[ \\t]+([^\\s\"'`\\\\]+)", accept: loginPassword},
		{Kind: "password", Words: []string{":5432:", ":5433:", ":6432:", "*:*:*:"}, Min: 3, // .pgpass
			Expr: "[0-9:*]+:(?:[^\\s:\"'`]+:){1,2}([^\\s:\"'`]+)", accept: meantGroup},
	}
}

// loginPassword judges what stands behind a login and its password. Who writes of a "login by password" tells none.
func loginPassword(text string, groups []span) bool {
	said := strings.Fields(text[groups[0].from:groups[1].from])
	return meantGroup(text, groups) &&
		(len(said) < 2 || !isOneOf("by with without via using and or per mit par con", said[1]))
}

func meantGroup(text string, groups []span) bool { return meant(groups[1].of(text)) }
