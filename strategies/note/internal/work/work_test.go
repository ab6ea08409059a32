package work_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// step is a call and its result.
type step struct {
	tool   string
	args   map[string]any
	result string
	failed bool
}

// writes is a call that writes a file.
func writes(name string) step {
	return step{"Write", map[string]any{"file_path": name, "content": "x"}, "File created successfully at: " + name, false}
}

func bash(command, result string, failed bool) step {
	return step{"Bash", map[string]any{"command": command}, result, failed}
}

func edit(path, result string, failed bool) step {
	return step{"Edit", map[string]any{"file_path": path, "old_string": "a", "new_string": "b"}, result, failed}
}

// reply answers a comment.
func reply(id string) step { return says(id, "Fixed in "+id) }

// says is a reply of those words, long more of them than are told.
func says(id, words string) step {
	return bash(replies(id, words), `{"url":"https://api.x/1","id":7}`, false)
}

func replies(id, words string) string {
	return "gh api repos/x/pulls/comments/" + id + "/replies -f body=\"" + words + "\""
}

const long = "it reads the whole list once, before the loop, and closes what it has opened when the loop has ended"

// linted is an edit of nine lines that a checker refused.
func linted(from string) step {
	return step{"edit", map[string]any{"path": "a.go", "start_line": from, "end_line": "295", "text": "x"},
		"Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999 SyntaxError: unmatched ']'\n", false}
}

// did are the lines on steps, of a harness that marks what failed.
func did(t *testing.T, steps ...step) []string {
	t.Helper()
	w := work.New(outcome.Harness{Marks: true, GoOn: func() bool { return true }})
	for i, s := range steps {
		doc, err := json.Marshal(s.args)
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint(i)
		w.Call(&abi.ToolCall{ID: id, Name: s.tool, Arguments: string(doc)})
		w.Result(&abi.Message{Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(s.result), IsError: s.failed})
	}
	return w.Lines(func(path string) string { return path })
}

const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a " +
	"file edit, the " +
	"new_string was NOT written to the file)."

// TestBehindExit: what a tool gave back is told without the line in front that says how it ended.
func TestBehindExit(t *testing.T) {
	features.Proves(t, "A6", "N13")
	one := func(tool, result string) []string {
		args := map[string]any{"amount": 498}
		if tool == "Bash" {
			args = map[string]any{"command": "make post"}
		}
		return did(t, step{tool, args, result, false})
	}
	for _, tool := range []string{"book", "Bash"} {
		for _, result := range []string{`{"id":"HATHAT"}`, "It is done"} {
			bare := one(tool, result)
			for _, ended := range []string{"Exit code 0\n", "Exit Code: 0\n", "Process exited with code 0\n"} {
				if got := one(tool, ended+result); !slices.Equal(got, bare) {
					t.Errorf("%s: %q, want %q", tool, got, bare)
				}
			}
		}
	}
}

// TestLines: what changed something is told where the result says that it did, by what
// identifies it; what only looked is counted; a check is told as its result has it.
func TestLines(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const ok, fail = "ok  \tkw/store\t0.3s", "Exit code 1\n--- FAIL: TestLease (0.41s)"
	for _, tc := range []struct {
		why   string
		steps []step
		want  string
	}{
		// Files.
		{"files, and how often", []step{edit("a.go", "ok", false), edit("a.go", "ok", false), edit("b.go", "ok", false)},
			"Changed: a.go (edited ×2), b.go (edited)"},
		{"a file that is written and deleted",
			[]step{{"write_file", map[string]any{"file_path": "a.go", "content": "x"}, "Wrote it", false},
				{"delete_file", map[string]any{"path": "a.go"}, "Done", false}}, "Changed: a.go (written, deleted)"},
		{"one tool for all that is done to files",
			[]step{{"str_replace_editor", map[string]any{"command": "create", "path": "a.go"}, "File created", false},
				{"str_replace_editor", map[string]any{"command": "view", "path": "b.go"}, "x", false}},
			"Changed: a.go (written)\nBesides: 1 read or search"},
		{"a patch", []step{{"apply_patch",
			map[string]any{"input": "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: " +
				"b.go\n+z\n*** End Patch"}, "Done", false}},
			"Changed: a.go (edited), b.go (written)"},
		{"an edit that found nothing is no change",
			[]step{edit("a.go", "<tool_use_error>String to replace not found in file.</tool_use_error>", true)},
			"Failed: Edit a.go: String to replace not found in file."},
		{"an edit that was rejected is no change", []step{edit("a.go", rejected, true)},
			"Failed: Edit a.go: the person rejected it"},
		{"nor where only the text says so",
			[]step{edit("a.go", rejected, false), edit("b.go", "No replacement was performed", false),
				edit("c.go", "File has not been read yet.", false)},
			"Failed: Edit a.go: the person rejected it\nFailed: Edit b.go: No replacement was performed\nFailed: " +
				"Edit c.go: File has not been read yet."},
		{"a refusal that the next edit of the file settles",
			[]step{edit("a.go", "Error: not found", false), edit("a.go", "ok", false)}, "Changed: a.go (edited)"},
		{"the same edit refused again, with the lines it was to change", []step{linted("287"), linted("287"), linted("286")},
			"Failed: edit a.go 287-295 (2 times): Your proposed edit has introduced new syntax error(s). ERRORS: - " +
				"E999 SyntaxError: unmatched ']'\n" +
				"Failed: edit a.go 286-295: Your proposed edit has introduced new syntax error(s). ERRORS: - E999 " +
				"SyntaxError: unmatched ']'"},
		{"the id that the call gave is not told again, nor those of others inside",
			[]step{{"update_document", map[string]any{"id": "438a"}, `{"id":"438a","creator":{"id":"45a0"}}`, false}},
			"Called: update_document (id 438a)"},
		// Files, by commands.
		{"a file that is removed", []step{edit("/srv/a.go", "ok", false), bash("cd /srv && rm a.go", "", false)},
			"Changed: /srv/a.go (edited, deleted)"},
		{"a file that was removed and is written again",
			[]step{bash("rm a.go", "", false), bash("cat > a.go <<'EOF'\nx\nEOF", "", false)}, "Changed: a.go (written)"},
		{"a folder that is removed", []step{edit("x/a.go", "ok", false), bash("rm -rf x", "", false)},
			"Changed: x/a.go (edited, deleted), x (deleted)"},
		{"a folder that is emptied", []step{edit("x/a.go", "ok", false), bash("rm -rf x && mkdir -p x", "", false)},
			"Changed: x/a.go (edited, deleted), x (deleted and made again)\nAlso ran: `mkdir -p x`"},
		{"a file that is moved", []step{edit("a.md", "ok", false), bash("mkdir -p docs && git mv a.md docs/", "", false)},
			"Changed: a.md (edited, moved to docs/a.md)\nAlso ran: `mkdir -p docs`"},
		{"files that a pattern removes", []step{edit("docs/a.html", "ok", false), edit("docs/b.md", "ok", false),
			edit("docs/c/d.html", "ok", false), bash("cd docs && rm *.html", "", false)},
			"Changed: docs/a.html (edited, deleted), docs/b.md (edited), docs/c/d.html (edited)\nAlso ran: `rm *.html`"},
		{"files that a pattern with its folder removes, by their whole paths",
			[]step{edit("/srv/kw/docs/a.html", "ok", false), edit("/srv/kw/a.html", "ok", false),
				bash("rm docs/*.html", "", false)},
			"Changed: /srv/kw/docs/a.html (edited, deleted), /srv/kw/a.html (edited)\nAlso ran: `rm docs/*.html`"},
		{"files that it may have removed", []step{edit("/srv/kw/a.html", "ok", false), edit("/srv/kw/b.md", "ok", false),
			bash("rm *.html", "", false)},
			"Changed: /srv/kw/a.html (edited, perhaps deleted), /srv/kw/b.md (edited)\nAlso ran: `rm *.html`"},
		{"a file that is moved out of its folder", []step{bash("cd src && mv utils/a.ts .", "", false)},
			"Changed: src/utils/a.ts (moved to src/a.ts)"},
		{"a file that is moved out of all folders", []step{bash("git mv src/a.ts .", "", false)},
			"Changed: src/a.ts (moved to ./a.ts)"},
		{"a removal of which it is not known whether it was done", []step{bash("rm a.go; ls", "b.go", false)},
			"Also ran: `rm a.go`"},
		{"a removal that failed", []step{bash("rm a.go", "Exit code 1\nrm: a.go: Permission denied", true)},
			"Failed: `rm a.go`: rm: a.go: Permission denied"},
		// Calls that change something else.
		{"a booking with its number", []step{
			{"book_reservation", map[string]any{"user_id": "mia_li_3668", "cabin": "economy"},
				`{"reservation_id": "HATHAT", "user_id": "mia_li_3668", "total": 1337.5, "status": "confirmed",` +
					` "flights": []}`, false}},
			"Called: book_reservation (cabin economy, user_id mia_li_3668) → reservation_id HATHAT, total 1337.5, " +
				"status confirmed"},
		{"sums in lists, with the names of these: the first of a history is not what was paid", []step{
			{"update_reservation", map[string]any{"cabin": "business"},
				`{"reservation_id": "HATHAT", "flights": [{"price": 350}, {"price": 499}], "payment_history": [{"amount": 498}, ` +
					`{"amount": 1200}]}`, false}},
			"Called: update_reservation (cabin business) → reservation_id HATHAT, flights price 350 / 499, " +
				"payment_history amount 498 / 1200"},
		{"no sums that the call gave itself", []step{
			{"book", map[string]any{"amount": 498}, `{"id": "HATHAT", "payment_history": [{"amount": 498}]}`, false}},
			"Called: book (amount 498) → id HATHAT"},
		{"a result that is not what was asked for", []step{
			{"update_reservation", map[string]any{"cabin": "business", "reservation_id": "YAX4DR"},
				`{"reservation_id": "YAX4DR", "cabin": "economy", "status": "ok"}`, false}},
			"Called: update_reservation (cabin business, reservation_id YAX4DR) → status ok, cabin economy (business was " +
				"asked for)"},
		{"what leads elsewhere than the document says", []step{
			{"change_flights", map[string]any{"reservation_id": "YAX4DR"},
				`{"reservation_id": "YAX4DR", "destination": "PHL", "flights": [{"destination": "DFW"}, {"destination": "EWR"}]}`,
				false}},
			"Called: change_flights (reservation_id YAX4DR) → destination PHL, flights destination DFW / EWR"},
		{"an answer in words", []step{{"transfer_to_human_agents", map[string]any{"reason": "refund"},
			"Transfer successful", false}},
			"Called: transfer_to_human_agents (reason refund) → Transfer successful"},
		{"the first line of a longer answer", []step{{"transfer_to_human_agents", map[string]any{"reason": "refund"},
			"Transfer successful\n\nWait for the agent.", false}},
			"Called: transfer_to_human_agents (reason refund) → Transfer successful …"},
		{"one that failed", []step{{"book_reservation", map[string]any{"user_id": "m"},
			"Error: payment amount does not add up", false}},
			"Failed: book_reservation (user_id m): Error: payment amount does not add up"},
		{"one that is repeated with another payment", []step{
			{"book", map[string]any{"user": "m", "pay": []any{map[string]any{"id": "cert_75", "amount": 250},
				map[string]any{"id": "cert_48", "amount": 55}}},
				`{"reservation_id": "HATHAT"}`, false},
			{"book", map[string]any{"user": "m", "pay": []any{map[string]any{"id": "cert_75", "amount": 250},
				map[string]any{"id": "card_44", "amount": 55}}},
				"Error: payment method cert_75 not found", false},
			{"book", map[string]any{"user": "m", "pay": []any{map[string]any{"id": "card_44", "amount": 305}}},
				`{"reservation_id": "HATHAU"}`, false},
			{"book", map[string]any{"user": "m", "pay": []any{map[string]any{"id": "card_44", "amount": 305}}},
				`{"reservation_id": "HATHAV"}`, false}},
			"Called: book (amount 250, id cert_75, amount 55, id cert_48, user m) → reservation_id HATHAT\n" +
				"Called: book again (amount 305, id card_44) → reservation_id HATHAU\n" +
				"Called: book again as before (amount 305, id card_44) → reservation_id HATHAV\n" +
				"Failed: book again (amount 250, id cert_75, amount 55, id card_44): Error: payment method cert_75 not found"},
		{"one that is repeated with another long text", []step{
			{"update_document", map[string]any{"id": "d-17", "title": "Plan", "content": long + long}, `{"status": "ok"}`, false},
			{"update_document", map[string]any{"id": "d-17", "title": "Plan", "content": long}, `{"status": "fine"}`, false},
			{"update_document", map[string]any{"id": "d-17", "title": "Plan", "content": long}, `{"status": "good"}`, false}},
			"Called: update_document (id d-17, title Plan, ...) → status ok\n" +
				"Called: update_document again (id d-17, ...) → status fine\n" +
				"Called: update_document again as before (id d-17) → status good"},
		{"what identifies it before the rest, and a mark", []step{{"book", map[string]any{"a": strings.Repeat("a", 60),
			"b": strings.Repeat("b", 60), "c": strings.Repeat("c", 60), "d": strings.Repeat("d", 60),
			"e": strings.Repeat("e", 60), "f": strings.Repeat("f", 60), "flight_number": "HAT136", "last_name": "Li",
			"total_amount": 305}, `{"id": "HATHAT"}`, false}},
			"Called: book (a " + strings.Repeat("a", 60) + ", b " + strings.Repeat("b", 60) + ", c " +
				strings.Repeat("c", 60) + ", d " + strings.Repeat("d", 60) + ", e " + strings.Repeat("e", 60) +
				", flight_number HAT136, last_name Li, total_amount 305, ...) → id HATHAT"},
		{"one that failed and then did it",
			[]step{{"book_reservation", map[string]any{"user_id": "m"}, "Error: no seats", false},
				{"book_reservation", map[string]any{"user_id": "m"}, `{"id": "HATHAT"}`, false}},
			"Called: book_reservation (user_id m) → id HATHAT"},
		{"one that failed in a field", []step{{"cancel", map[string]any{"id": "HATHAT"}, `{"error": "too late"}`, false}},
			`Failed: cancel (id HATHAT): {"error": "too late"}`},
		{"one that was rejected", []step{{"create_comment", map[string]any{"issue": "ENT-98"}, rejected, true}},
			"Failed: create_comment (issue ENT-98): the person rejected it"},
		{"of a server", []step{{"mcp__linear__get_issue", map[string]any{"id": "ENT-98"}, "{}", false}},
			"Besides: 1 read or search"},
		// Commands.
		{"a commit by its hash", []step{bash("git add -A && git commit -m 'mend it'",
			"[main 3f2a1bc] mend it\n 1 file changed", false)},
			"Committed: 3f2a1bc mend it"},
		{"a commit that is pushed", []step{
			bash("git commit -am x && git push", "[main 3f2a1bc] mend it\nTo github.com:x/y", false)},
			"Committed: 3f2a1bc mend it, then pushed"},
		{"a commit whose push failed", []step{
			bash("git commit -am x && git push", "Exit code 1\n[main 3f2a1bc] mend it\nerror: failed to push", true)},
			"Failed: `git commit -am x && git push`: error: failed to push"},
		{"a request with its address", []step{bash("gh pr create --fill", "Creating\nhttps://github.com/x/y/pull/7\n",
			false)},
			"Ran: `gh pr create --fill` → https://github.com/x/y/pull/7"},
		{"a command that was rejected", []step{bash("git push --force", rejected, true)},
			"Failed: `git push --force`: the person rejected it"},
		{"a call that was rejected with words",
			[]step{bash("git push", rejected+"\nTo tell you how to proceed, the user said:\nPush to\nstaging.", true)},
			"Failed: `git push`: the person rejected it\nThe person did not allow a call, and said: Push to staging."},
		{"a commit elsewhere, by options of git's own", []step{bash("git --no-pager -C /srv/kw -c user.name=x commit -m x",
			"[main 3f2a1bc] x", false), bash("git -C /srv/kw log -3", "x", false)},
			"Committed: 3f2a1bc x\nBesides: 1 read or search"},
		{"what is staged", []step{bash("git add a.go", "", false)}, "Ran: `git add a.go`"},
		{"what was staged is in the commit",
			[]step{bash("git add a.go", "", false), bash("git commit -m x", "[main 3f2a1bc] x", false)}, "Committed: 3f2a1bc x"},
		{"two commits at once", []step{bash("git commit -m x && git commit -am y && git push",
			"[main 3f2a1bc] x\n[main 3f2a1bd] y", false)},
			"Committed: 3f2a1bc x\nCommitted: 3f2a1bd y, then pushed"},
		{"a commit among other commands", []step{bash("git checkout -b fix && git add -A && git commit -m x",
			"[fix 3f2a1bc] x", false)},
			"Committed: 3f2a1bc x\nRan: `git checkout -b fix`"},
		{"a branch, a stash and a reset, by what they are", []step{bash("cd /srv/kw && git checkout -b fix", "", false),
			bash("git stash 2>&1", "", false),
			bash("git reset --hard HEAD~1 && make serve", "", false)},
			"Ran: `git checkout -b fix`\nRan: `git stash 2>&1`\nRan: `git reset --hard HEAD~1`"},
		{"a commit in a repository to try something in is none of the project",
			[]step{bash("cd /tmp && git init x && cd x && git add f && git commit -m init", "[main 3f2a1bc] init", false)},
			"Ran: `git init x && cd x && git add f && git commit -m init` in /tmp/x"},
		{"what else a result says is marked", []step{{"book", map[string]any{"user_id": "m"},
			`{"id": "HATHAT", "user": "m", "seats": [{"row": "12"}], "meal": ""}`, false}},
			"Called: book (user_id m) → id HATHAT, ..."},
		{"each part of a long one is told with the folder",
			[]step{bash("cd /tmp && git init lamp-shop && cd lamp-shop && echo a > f && git add f && "+
				"git commit -m 'the first lamp of the shop' && echo b > f && git restore f", "", false)},
			"Ran: `git init lamp-shop && … && git add f && git commit -m 'the first lamp of the shop'` in /tmp/lamp-shop\n" +
				"Ran: `git restore f` in /tmp/lamp-shop"},
		{"so is one among temporary files", []step{bash("cd /tmp && curl -X POST -d @lamp.json http://lamps/", "", false)},
			"Ran: `curl -X POST -d @lamp.json http://lamps/` in /tmp"},
		{"nor one that is made for that elsewhere",
			[]step{bash("git init x && cd x && git commit -m init", "[main 3f2a1bc] init", false)},
			"Ran: `git init x && cd x && git commit -m init`"},
		{"nor one there later", []step{bash("mkdir -p /tmp/x && cd /tmp/x && git init", "", false),
			bash("cd /tmp/x && echo a > f && git commit -am y", "[main 3f2a1bc] y", false)},
			"Ran: `git init` in /tmp/x\nRan: `git commit -am y` in /tmp/x\nAlso ran: `mkdir -p /tmp/x`"},
		{"the folder is told that the same command made",
			[]step{bash("mkdir t && cd t && git init && echo a > f && git add . && git commit -m \"initial\"",
				"[main (root-commit) 3f2a1bc] initial", false)},
			"Changed: t/f (written)\nRan: `git init && … && git add . && git commit -m \"initial\"` in t\nAlso ran: `mkdir t`"},
		{"but a branch is no folder", []step{bash("git init -b main", "", false),
			bash("cd main && git commit -m y", "[main 3f2a1bc] y", false)},
			"Ran: `git init -b main`\nCommitted: 3f2a1bc y"},
		{"and of a later commit there", []step{bash("mkdir t && cd t && git init", "", false),
			bash("cd t && git commit -am y", "[main 3f2a1bc] y", false)},
			"Ran: `git init` in t\nCommitted: 3f2a1bc y in t\nAlso ran: `mkdir t`"},
		{"a folder that only the shell can name",
			[]step{bash("cd $(mktemp -d) && git init -q && git commit -m x", "[main 3f2a1bc] x", false)},
			"Ran: `git init -q && git commit -m x` in $(mktemp -d)"},
		{"a project may lie among temporary files",
			[]step{bash("cd /tmp/kw && git commit -am x", "[main 3f2a1bc] x", false)}, "Committed: 3f2a1bc x"},
		{"commands that are alike, by what they differ",
			[]step{reply("2734"), reply("2738"), reply("2751"), bash("gh pr merge 7", "", false)},
			"Ran: `gh api repos/x/pulls/comments/2751/replies -f body=\"Fixed in 2751\"`, before it with 2734, " +
				"2738\nRan: `gh pr merge 7`"},
		{"commands that say something else", []step{says("2734", "Fixed in 30ebf22"), says("2738", "Won't fix"),
			says("2751", "Won't fix"), says("2760", "Fixed in 36ff9a9")},
			"Ran: `gh api repos/x/pulls/comments/2734/replies -f body=\"Fixed in 30ebf22\"`\n" +
				"Ran: `gh api repos/x/pulls/comments/2751/replies -f body=\"Won't fix\"`, before it with 2738\n" +
				"Ran: `gh api repos/x/pulls/comments/2760/replies -f body=\"Fixed in 36ff9a9\"`"},
		{"two in one call, each of them long", []step{bash(replies("2734", "Fixed in 30ebf22 - "+long)+"\n"+
			replies("2738", "Fixed in 30ebf22 - "+long), "", false)},
			"Ran: `gh api repos/x/pulls/comments/2738/replies -f body=\"Fixed in 30ebf22 - it reads the whole…`, " +
				"before it with 2734"},
		{"commands of which more differs",
			[]step{bash("docker compose -f x/a.yml up", "", false), bash("docker compose -f x/b.yml down", "", false)},
			"Ran: `docker compose -f x/a.yml up`\nRan: `docker compose -f x/b.yml down`"},
		{"commands as they are joined, and a mark where some are left out",
			[]step{bash("git add a.go; git stash || git stash -u", "", false),
				bash("git add b.go && echo x > /tmp/y.txt && git tag v1 && git push --tags 2>/dev/null | cat", "", false)},
			"Ran: `git add a.go; git stash || git stash -u`\n" +
				"Ran: `git add b.go && … && git tag v1 && git push --tags 2>/dev/null | …`\nAlso ran: `echo x > /tmp/y.txt`"},
		{"a long path stays whole", []step{bash("chmod +x /Users/somebody/Work/somewhere/else/cli/scripts/"+
			"test-attribution-e2e-second-session.sh b c", "", false)},
			"Also ran: `chmod +x /Users/somebody/Work/somewhere/else/cli/scripts/test-attribution-e2e-second-session.sh…`"},
		{"commands on lines of their own", []step{bash("git add a.go\n# and\ngit push", "", false)},
			"Ran: `git add a.go … git push`"},
		{"what a condition stands before", []step{bash("if [ -d x ]; then git push; fi", "", false)}, "Ran: `… git push`"},
		{"a script that failed", []step{bash("set -e\ncd /srv/kw\ngit pull\nmake serve 2>&1 | tail -2",
			"Exit code 1\nerror: no remote", true)}, "Failed: `git pull … make serve 2>&1 | …`: error: no remote"},
		{"what prepares, in one line", []step{bash("npm install left-pad", "added 1", false),
			bash("mkdir -p a && chmod +x b", "", false), bash("npm install left-pad", "", false)},
			"Also ran: `mkdir -p a`, `chmod +x b`, `npm install left-pad`"},
		{"many of a kind", []step{bash("mkdir a; sed -i s/a/b/ $a; sed -i s/a/b/ $b; sed -i s/a/b/ $c; sed -i "+
			"s/a/b/ $d; ls", "", false)},
			"Also ran: `mkdir a`, `sed -i s/a/b/ $d` and 3 more of its kind before"},
		{"a file that is moved beside", []step{bash("mv /srv/kw/src/a.ts /srv/kw/src/core/a.ts", "", false)},
			"Changed: /srv/kw/src/a.ts (moved to core/a.ts)"},
		{"an installation that failed", []step{bash("npm install left-pad", "Exit code 1\nnpm ERR! 404", true)},
			"Failed: `npm install left-pad`: npm ERR! 404"},
		{"what only looks is counted", []step{bash("git status && git diff | head", "x", false),
			bash("docker ps", "x", false), bash("npm run dev", "x", false)},
			"Looked at: `git status && git diff | …` → x\nBesides: 1 read or search, 1 other command"},
		{"text that is fed in is no command",
			[]step{bash("cat > x.txt <<EOF\ngit push\ngo test ./...\nEOF", "", false)}, "Changed: x.txt (written)"},
		// Checks.
		{"one that passed", []step{bash("go test ./store", ok, false)}, "Checks: `go test ./store` passed"},
		{"one that failed", []step{bash("go test ./store", fail, true)}, "Checks: `go test ./store` failed"},
		{"one that failed and then passed",
			[]step{bash("go test ./store", fail, true), bash("go test ./store", fail, true), bash("go test ./store", ok, false)},
			"Checks: `go test ./store` failed 2 times, then passed"},
		{"one that passed and then failed",
			[]step{bash("go test ./store", ok, false), bash("go test ./store", fail, true)},
			"Checks: `go test ./store` passed, then failed"},
		{"one after which files were changed", []step{bash("go test ./store", ok, false), bash("make lint", fail, true),
			{"Write", map[string]any{"file_path": "a.go", "content": "x"}, "File created successfully", false}},
			"Changed: a.go (written)\nChecks: `go test ./store` passed (files were changed after it); `make lint` failed"},
		{"one that ran again since", []step{bash("go test ./store", ok, false),
			{"Write", map[string]any{"file_path": "a.go", "content": "x"}, "File created successfully", false},
			bash("go test ./store", ok, false), bash("rm try.sh", "", false)},
			"Changed: a.go (written), try.sh (deleted)\nChecks: `go test ./store` passed"},
		{"more files than are told in full", []step{
			writes("a"), writes("b"), writes("c"), writes("d"), writes("e"), writes("f"), writes("g"), writes("h"), writes("i"),
			writes("j")}, "Changed: a, b, c, d (written), e (written), f (written), g (written), h (written), i (written), " +
			"j (written)"},
		{"a file that was there before", []step{
			{"Write", map[string]any{"file_path": "a.go", "content": "x"}, "The file a.go has been updated.", false},
			{"Write", map[string]any{"file_path": "b.go", "content": "x"}, "File created successfully at: b.go", false},
			{"Write", map[string]any{"file_path": "b.go", "content": "y"}, "The file b.go has been updated.", false}},
			"Changed: a.go (written anew), b.go (written)"},
		{"those of a forge", []step{bash("gh pr checks 112 2>&1 | head -20", "lint\tfail\t16s\thttps://x.example/1\t\n"+
			"build (mac)\tpending\t0\thttps://x.example/2\t\ntest\tpass\t1m4s\thttps://x.example/3\t\n"+
			"vet\tpass\t9s\thttps://x.example/4\t\ndeploy\tskipping\t0\t\t\n", false)},
			"On the forge: lint failed, build (mac) had not ended, 2 checks passed\nBesides: 1 read or search"},
		{"those of a forge, as they were listed last", []step{
			bash("gh pr checks", "lint\tfail\t16s\thttps://x.example/1\t\n", true), bash("gh pr checks 112", "no checks", true),
			bash("sleep 60 && gh pr checks 112", "lint\tpass\t16s\thttps://x.example/1\t\n", false)},
			"On the forge: 1 check passed\nBesides: 3 reads and searches"},
		{"more checks than are told, those that failed first", []step{bash("go test ./a", fail, true),
			bash("go test ./b", ok, false), bash("go test ./c", ok, false), bash("go test ./d", ok, false),
			bash("go test ./e", ok, false), bash("go test ./f", ok, false)},
			"Checks: 2 other ones passed; `go test ./a` failed; `go test ./d` passed; `go test ./e` passed; " +
				"`go test ./f` passed"},
		{"more checks than are told, of which one failed before it passed", []step{bash("go test ./a", fail, true),
			bash("go test ./a", ok, false), bash("go test ./b", ok, false), bash("go test ./c", ok, false),
			bash("go test ./d", ok, false), bash("go test ./e", ok, false), bash("go test ./f", ok, false)},
			"Checks: 2 other ones passed, 1 of them after failing; `go test ./c` passed; `go test ./d` passed; " +
				"`go test ./e` passed; `go test ./f` passed"},
		{"a check and what follows it", []step{bash("go test ./store && git push", ok, false)},
			"Ran: `git push`\nChecks: `go test ./store` passed"},
		{"the same however its output is cut",
			[]step{bash("cd /srv/kw && go test ./store 2>&1 | tail -5", "FAIL\tkw/store\nFAIL", false),
				bash("go test ./store", ok, false)},
			"Checks: `go test ./store` failed once, then passed"},
		{"a race that is reported behind what passed before", []step{bash(
			"go vet ./... && go test -race ./store 2>&1 | head -20",
			ok+"\n==================\nWARNING: DATA RACE\nWrite at 0x00c0000b4010 by goroutine 8:", false)},
			"Checks: `go vet ./... && go test -race ./store 2>&1 | …` failed"},
		{"one that passed with another", []step{bash("go test ./...", fail, true),
			bash("make lint && go test ./...", ok, false)},
			"Checks: `go test ./...` failed once, then passed in another one; `make lint && go test ./...` passed"},
		{"several that passed one by one", []step{bash("make lint && go test ./...", fail, true),
			bash("make lint", "", false), bash("go test ./...", ok, false)},
			"Checks: `make lint && go test ./...` failed once, then passed in another one; `make lint` passed; " +
				"`go test ./...` passed"},
		{"one of several is not all", []step{bash("make lint && go test ./...", fail, true),
			bash("go test ./...", ok, false)},
			"Checks: `make lint && go test ./...` failed; `go test ./...` passed"},
		{"the beginning of an output does not say that all passed",
			[]step{bash("go test ./... | head -2", ok+"\n"+ok, false)},
			"Checks: `go test ./... | …` ran, how it ended is not known"},
		{"where all of it is shown it does", []step{bash("go test ./... | head -20", ok+"\n"+ok, false)},
			"Checks: `go test ./... | …` passed"},
		{"nor what was searched for", []step{bash("go test ./... 2>&1 | grep ok", ok, false)},
			"Checks: `go test ./... 2>&1 | …` ran, how it ended is not known"},
		{"what runs behind a check failed, and not the check", []step{bash("make build && ./bin/parcel -db x",
			"Exit code 1\ngo build\n{\"level\":\"ERROR\",\"err\":\"address already in use\"}", true)},
			"Failed: `make build && ./bin/parcel -db x`: {\"level\":\"ERROR\",\"err\":\"address already in use\"}"},
		{"the check did, as its output says", []step{bash("go test ./store && ./bin/parcel", fail, true)},
			"Checks: `go test ./store` failed"},
		{"files that are not formatted", []step{bash("gofmt -l . ; go test ./store", "store/leases.go\n"+ok, false)},
			"Checks: `gofmt -l .; go test ./store` failed"},
		{"all are", []step{bash("gofmt -l . ; go test ./store", ok, false)},
			"Checks: `gofmt -l .; go test ./store` passed"},
		{"another is another", []step{bash("go test ./store", fail, true), bash("go test ./store -run TestX", ok, false)},
			"Checks: `go test ./store` failed; `go test ./store -run TestX` passed"},
		{"behind a pipe without evidence", []step{bash("go test ./... | head -5", "compiling", false)},
			"Checks: `go test ./... | …` ran, how it ended is not known"},
		{"behind a pipe with evidence", []step{bash("go test ./... | tail -5", ok, false)},
			"Checks: `go test ./... | …` passed"},
		{"one that was rejected did not run", []step{bash("go test ./...", rejected, true)},
			"Failed: `go test ./...`: the person rejected it"},
		{"one that was not run as another call failed",
			[]step{bash("go test ./...", "<tool_use_error>Sibling tool call errored</tool_use_error>", true)},
			"Not run, as a call beside it failed: `go test ./...`"},
		{"one that ran later", []step{bash("go test ./...", "<tool_use_error>Sibling tool call errored</tool_use_error>",
			true), bash("go test ./...", ok, false)}, "Checks: `go test ./...` passed"},
		{"it is not known again", []step{bash("go test ./...", fail, true),
			bash("go test ./... | head -5", "compiling", false)},
			"Checks: `go test ./... | …` failed once, then ran again, how that ended is not known"},
		{"what failed otherwise before", []step{bash("git push", "error: no such remote", true),
			bash("git push", "error: denied", true)},
			"Failed: `git push` (2 times, not always so, at last): error: denied"},
		{"what failed so each time", []step{bash("git push", "error: denied", true), bash("git push", "error: denied", true)},
			"Failed: `git push` (2 times): error: denied"},
		{"a folder that is there again", []step{bash("rm -rf /srv/x", "", false),
			{"Write", map[string]any{"file_path": "/srv/x/a.go", "content": "x"}, "created", false}},
			"Changed: /srv/x/a.go (written)"},
		{"those of which nothing is known, in short",
			[]step{bash("go test ./a | head -5", "x", false), bash("go vet ./... | head -5", "x", false),
				bash("go test ./b", fail, true)},
			"Checks: `go test ./b` failed; 2 more ran, how they ended is not known, the last `go vet ./... | …`"},
		// What is counted.
		{"reads, searches and commands that look", []step{{"Read", map[string]any{"file_path": "a.go"}, "x", false},
			{"Grep", map[string]any{"pattern": "x"}, "x", false}, bash("ls", "x", false), bash("git log -3", "x", false),
			bash("cd /srv && grep -rn x . | head -5; echo; cat a.go", "x", false), bash("find . -exec ./mend {} +", "x", false),
			bash("date", "x", false)},
			"Looked at: `git log -3` → x\nBesides: 4 reads and searches, 2 other commands"},
		{"what others changed, where the agent changed nothing", []step{bash("git diff main..HEAD",
			"diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", false),
			bash("gh pr view 4", "Mend it", false)},
			"Looked at: `git diff main..HEAD` → x.go +1 -1, `gh pr view 4` → Mend it"},
		{"what it changed itself", []step{{"Write", map[string]any{"file_path": "a.go", "content": "x"}, "created", false},
			bash("git diff", "x", false)}, "Changed: a.go (written)\nBesides: 1 read or search"},
		{"another agent that can be asked to go on", []step{{"Task",
			map[string]any{"description": "Find it", "prompt": "Find."},
			"It is in a.go.\nagentId: a6810fb (for resuming to continue this agent's work if needed)", false}},
			"Handed to other agents: Find it (agent a6810fb)\nReported by the agent for Find it: It is in a.go."},
		{"reads that failed", []step{{"Read", map[string]any{"file_path": "a.go"},
			"<tool_use_error>File does not exist.</tool_use_error>", true}},
			"Besides: 1 read or search"},
		// Persons and other agents.
		{"an answer of the person", []step{{"AskUserQuestion", map[string]any{"questions": "Which?"},
			"User has answered: \"Which?\"=\"SQLite\"", false}},
			`The person answered: User has answered: "Which?"="SQLite"`},
		{"a plan that the person approved", []step{{"ExitPlanMode", map[string]any{"plan": "Mend it."},
			"User has approved your plan. You can now start coding.\n\n## Approved Plan:\nMend it.", false}},
			"The person answered: User has approved your plan"},
		{"one that they edited first", []step{{"ExitPlanMode", map[string]any{"plan": "Mend it."},
			"User has approved your plan. You can now start coding.\n\nYour plan has been saved to: /srv/plans/a b.md\n" +
				"You can refer back to it.\n\n## Approved Plan (edited by user):\nMend half of it.", false}},
			"The person answered: User has approved your plan after editing it: what holds is the edited one, saved to " +
				"/srv/plans/a b.md"},
		{"a plan that only speaks of such a thing", []step{{"ExitPlanMode", map[string]any{"plan": "Mend it."},
			"User has approved your plan.\n\n## Approved Plan:\nTell whether it is (edited by user)", false}},
			"The person answered: User has approved your plan"},
		{"another agent", []step{{"Task", map[string]any{"description": "Find the lock",
			"prompt": strings.Repeat("x", 500)}, "Found.", false}},
			"Handed to other agents: Find the lock\nReported by the agent for Find the lock: Found."},
		{"a result of no call", []step{}, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := strings.Join(did(t, tc.steps...), "\n"); got != tc.want {
				t.Errorf("%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestOpenCalls: of a call without a result it is said that the log has none, and a result without a call did nothing.
func TestOpenCalls(t *testing.T) {
	w := work.New(outcome.Harness{GoOn: func() bool { return true }})
	w.Call(&abi.ToolCall{ID: "a", Name: "book", Arguments: `{"id":"x"}`})
	w.Result(&abi.Message{Role: abi.RoleTool, ToolCallID: "b", Content: abi.Text("Done")})
	w.Call(&abi.ToolCall{ID: "c", Name: "Bash", Arguments: `{"command":"mise run test:ci"}`})
	w.Call(&abi.ToolCall{ID: "d", Name: "Bash", Arguments: `{"command":"ls"}`})
	const want = "No result in the log: `mise run test:ci`, book (id x)"
	if lines := w.Lines(strings.ToUpper); strings.Join(lines, "\n") != want {
		t.Errorf("%q", lines)
	}
}

// TestBounded: what is told of much work stays short, its last part is told, and how
// much went before.
func TestBounded(t *testing.T) {
	features.Proves(t, "complaint 18")
	var steps []step
	for i := range 200 {
		steps = append(steps, edit(fmt.Sprintf("f%d.go", i), "ok", false),
			bash(fmt.Sprintf("go test ./p%d", i), "ok  \tx\t1s", false),
			step{"book", map[string]any{"seat": i}, fmt.Sprintf(`{"id": "B%d"}`, i), false},
			step{"pay", map[string]any{"bill": i}, fmt.Sprintf("Error: no money for B%d", i), false})
	}
	text := strings.Join(did(t, steps...), "\n")
	for _, part := range []string{"Changed: 192 before, then f192.go", "f199.go (edited)", "`go test ./p199` passed",
		"id B199", "Failed: pay again (bill 199): Error: no money for B199",
		"176 calls and commands that failed before these"} {
		t.Run(part, func(t *testing.T) {
			if !strings.Contains(text, part) {
				t.Errorf("%s", text)
			}
		})
	}
	if len(text) > 4000 {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
}
