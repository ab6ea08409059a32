// my-plugin keeps what a person laid down as a rule: such messages stay word
// for word, and their text is remembered for later sessions.
#include "kagewasm.h"

// What makes a message a rule.
static const char *const words[] = {"always", "never", "must", "do not", "remember"};

// How many tokens a rule may have: a pasted file is none.
enum { longest_rule = 200 };

static bool says(kw_text text, const char *word) {
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= text.len; i++) {
		size_t k = 0;
		while (k < n && (text.at[i + k] >= 'A' && text.at[i + k] <= 'Z' ? text.at[i + k] | 32 : text.at[i + k]) == word[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

// is_rule reports whether a person typed it and it says how things have to be.
static bool is_rule(kw_json message) {
	if (!kw_is_person(message) || kw_int(kw_get(message, "tokens"), 0) > longest_rule)
		return false;
	kw_text text = kw_message_text(message);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (says(text, words[i]))
			return true;
	return false;
}

// The newest rules, oldest first.
KW_HOOK(pre_compact) {
	kw_json input = kw_input(), messages = kw_get(input, "messages");
	int rules = 0, most = kw_int(kw_get(kw_get(input, "config"), "most"), 20);
	for (kw_json m = kw_first(messages); m.at; m = kw_next(m))
		rules += is_rule(m);

	kw_buf keep = {0}, retain = {0};
	for (kw_json m = kw_first(messages); m.at; m = kw_next(m)) {
		if (!is_rule(m) || rules-- > most)
			continue;
		kw_raw(&keep, keep.len ? "," : "");
		kw_quoted(&keep, kw_string(kw_get(m, "id")));
		kw_raw(&retain, retain.len ? "," : "");
		kw_quoted(&retain, kw_message_text(m));
	}

	kw_buf out = {0};
	kw_raw(&out, "{\"always_keep\":[");
	kw_add(&out, keep.at, keep.len);
	kw_raw(&out, "],\"retain\":[");
	kw_add(&out, retain.at, retain.len);
	kw_raw(&out, "]}");
	return kw_answer(&out);
}
