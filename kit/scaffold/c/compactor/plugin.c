// my-plugin is a compactor that needs no model: its summary is the first line of
// what was asked and answered in the messages that go. The host makes the cut.
#include "kagewasm.h"

#define HEADING "What was asked and answered, oldest first:"
#define ASKED "- asked: "
#define ANSWERED "- answered: "

// A careful guess: most text has more bytes in a token.
enum { bytes_per_token = 3 };

// The lines of the summary, each with the newline before it.
typedef struct {
	kw_buf text;
	size_t *starts, count, cap;
} lines;

static void add_line(lines *l, const char *label, kw_text text) {
	const char *newline = memchr(text.at, '\n', text.len);
	if (l->count == l->cap) {
		l->cap = 2 * l->cap + 64;
		l->starts = realloc(l->starts, l->cap * sizeof *l->starts);
	}
	l->starts[l->count++] = l->text.len;
	kw_raw(&l->text, label);
	kw_add(&l->text, text.at, newline ? (size_t)(newline - text.at) : text.len);
}

static bool begins(kw_text text, const char *with) {
	return text.len >= strlen(with) && !memcmp(text.at, with, strlen(with));
}

// The lines of an earlier summary, which would be lost otherwise.
static void carry_over(lines *l, kw_text summary) {
	const char *p = summary.at, *end = summary.at + summary.len;
	while (p < end) {
		kw_text rest = {p, (size_t)(end - p)};
		const char *newline = memchr(p, '\n', rest.len);
		if (begins(rest, ASKED) || begins(rest, ANSWERED))
			add_line(l, "\n", rest);
		p = newline ? newline + 1 : end;
	}
}

// One line for each request and each answer, up to where the newest messages fit
// the target and stay.
static void go_through(lines *l, kw_json messages, int stays, bool answers) {
	int rest = 0;
	for (kw_json m = kw_first(messages); m.at; m = kw_next(m))
		rest += kw_int(kw_get(m, "tokens"), 0);
	for (kw_json m = kw_first(messages); m.at && rest > stays; m = kw_next(m)) {
		rest -= kw_int(kw_get(m, "tokens"), 0);
		bool answer = kw_is(kw_get(m, "role"), "assistant") && !kw_get(m, "tool_calls").at;
		if (kw_bool(kw_get(m, "pinned"), false) || (!kw_is_person(m) && !(answer && answers)))
			continue; // what is pinned stays
		kw_text text = kw_message_text(m);
		if (text.len && *text.at != '\n')
			add_line(l, answer ? "\n" ANSWERED : "\n" ASKED, text);
	}
}

// As many lines as the budget has room for, the newest, in the order they were
// said.
KW_HOOK(pre_compact) {
	kw_json input = kw_input(), budget = kw_get(input, "budget");
	int target = kw_int(kw_get(budget, "target_tokens"), 0), tokens = kw_int(kw_get(budget, "summary_tokens"), 0);
	lines l = {0};
	carry_over(&l, kw_string(kw_get(input, "previous_summary")));
	go_through(&l, kw_get(input, "messages"), target - tokens, kw_bool(kw_get(kw_get(input, "config"), "answers"), true));

	int room = tokens * bytes_per_token - (int)sizeof HEADING + 1;
	size_t from = l.count, start = l.text.len;
	while (from > 0 && room > (int)(start - l.starts[from - 1]) - 1) {
		room -= (int)(start - l.starts[--from]);
		start = l.starts[from];
	}
	if (from == l.count)
		return 0; // nothing to say: the host's own strategy follows

	kw_buf summary = {0}, out = {0};
	kw_raw(&summary, HEADING);
	kw_add(&summary, l.text.at + start, l.text.len - start);
	kw_raw(&out, "{\"summary\":");
	kw_quoted(&out, (kw_text){summary.at, summary.len});
	kw_raw(&out, "}");
	return kw_answer(&out);
}
