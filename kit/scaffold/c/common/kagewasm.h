// kagewasm.h is what a plugin in C needs of its host: the input, a reader and a
// writer for JSON, the answer, host calls. Include it in one C file.
//
//	KW_HOOK(pre_compact) {
//		kw_json input = kw_input();
//		...
//		return kw_answer(&out);
//	}
//
// An instance serves one call and is thrown away: nothing is freed, and nothing
// in memory is there in the next call. There are no files, no clock and no
// environment; what is printed goes to the log.
#ifndef KAGEWASM_H
#define KAGEWASM_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KW_IMPORT(name) __attribute__((import_module("kagewasm:host/env"), import_name(#name)))

// KW_HOOK begins a hook. It returns 0, or 1 for a failure: see kw_fail.
#define KW_HOOK(name) __attribute__((export_name(#name))) int name(void)

// The host's own functions. Lengths and offsets are in bytes.
KW_IMPORT(input_length) int kw_input_length(void);
KW_IMPORT(input_read) int kw_input_read(char *to, int offset, int len);
KW_IMPORT(output_write) int kw_output_write(const char *from, int len); // -1: over the limit
KW_IMPORT(error_write) void kw_error_write(const char *from, int len);
KW_IMPORT(host_call) int kw_host_call(const char *op, int op_len, const char *request, int request_len);
KW_IMPORT(response_read) int kw_response_read(char *to, int offset, int len);

// kw_text is a text in UTF-8. It may hold zeros; behind one that was read there is
// a zero too.
typedef struct {
	const char *at;
	size_t len;
} kw_text;

// KW_TEXT is a text of the program.
#define KW_TEXT(literal) ((kw_text){literal, sizeof(literal) - 1})

// kw_fail ends a hook with an error that says why: return kw_fail("...").
static inline int kw_fail(const char *why) {
	kw_error_write(why, (int)strlen(why));
	return 1;
}

static inline char *kw_alloc(size_t n) {
	char *p = malloc(n + 1);
	if (!p) {
		kw_fail("out of memory");
		abort();
	}
	return p;
}

// Reading JSON ---------------------------------------------------------------

// kw_json is a value in a document; at is NULL where there is none. Documents
// are the host's: they are read as far as somebody asks, and not checked.
typedef struct {
	const char *at, *end;
} kw_json;

static inline const char *kw_space(const char *p) {
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r' || *p == ',' || *p == ':')
		p++;
	return p;
}

// kw_skip returns where the value at p ends.
static inline const char *kw_skip(const char *p) {
	int depth = 0;
	do {
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++)
				if (*p == '\\' && p[1])
					p++;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			depth--;
		} else if (depth == 0) {
			while (*p && !strchr(" \n\t\r,:]}", *p))
				p++;
			return p;
		}
		if (*p)
			p++;
	} while (*p && depth > 0);
	return p;
}

static inline kw_json kw_value(const char *p) {
	p = kw_space(p);
	if (!*p || *p == '}' || *p == ']')
		return (kw_json){NULL, NULL};
	return (kw_json){p, kw_skip(p)};
}

// kw_first and kw_next go through a list:
//
//	for (kw_json v = kw_first(list); v.at; v = kw_next(v))
static inline kw_json kw_first(kw_json list) {
	return list.at && *list.at == '[' ? kw_value(list.at + 1) : (kw_json){NULL, NULL};
}

static inline kw_json kw_next(kw_json v) { return kw_value(v.end); }

// kw_get is the value under a key of an object.
static inline kw_json kw_get(kw_json object, const char *key) {
	size_t n = strlen(key);
	if (!object.at || *object.at != '{')
		return (kw_json){NULL, NULL};
	for (kw_json k = kw_value(object.at + 1); k.at;) {
		kw_json v = kw_value(k.end);
		if (!v.at || ((size_t)(k.end - k.at) == n + 2 && !memcmp(k.at + 1, key, n)))
			return v;
		k = kw_value(v.end);
	}
	return (kw_json){NULL, NULL};
}

static inline unsigned kw_hex4(const char *p) {
	unsigned v = 0;
	for (int i = 0; i < 4; i++)
		v = v * 16 + (unsigned)(p[i] <= '9' ? p[i] - '0' : (p[i] | 32) - 'a' + 10);
	return v;
}

static inline char *kw_utf8(char *to, unsigned c) {
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
		} else {
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 63));
		}
		*to++ = (char)(0x80 | (c >> 6 & 63));
	}
	*to++ = (char)(0x80 | (c & 63));
	return to;
}

// kw_string is the text of a string, empty where the value is none.
static inline kw_text kw_string(kw_json v) {
	if (!v.at || *v.at != '"')
		return (kw_text){"", 0};
	char *buf = kw_alloc((size_t)(v.end - v.at)), *to = buf;
	for (const char *p = v.at + 1; p < v.end - 1; p++) {
		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		static const char from[] = "bfnrt", what[] = "\b\f\n\r\t";
		const char *known = strchr(from, *++p);
		if (*p == 'u') {
			unsigned c = kw_hex4(p + 1);
			p += 4;
			if (c >= 0xd800 && c < 0xdc00 && p[1] == '\\' && p[2] == 'u' && kw_hex4(p + 3) >> 10 == 0xdc00 >> 10) {
				c = 0x10000 + ((c & 0x3ff) << 10) + (kw_hex4(p + 3) & 0x3ff);
				p += 6;
			} else if (c >= 0xd800 && c < 0xe000) {
				c = 0xfffd; // half of a pair
			}
			to = kw_utf8(to, c);
		} else {
			*to++ = known ? what[known - from] : *p;
		}
	}
	*to = 0;
	return (kw_text){buf, (size_t)(to - buf)};
}

// kw_int and kw_bool are a whole number and a boolean, or otherwise where the
// value is something else.
static inline int kw_int(kw_json v, int otherwise) {
	return v.at && (*v.at == '-' || (*v.at >= '0' && *v.at <= '9')) ? atoi(v.at) : otherwise;
}

static inline bool kw_bool(kw_json v, bool otherwise) {
	return v.at && (*v.at == 't' || *v.at == 'f') ? *v.at == 't' : otherwise;
}

// kw_is reports whether a value is the string s, written without escapes.
static inline bool kw_is(kw_json v, const char *s) {
	size_t n = strlen(s);
	return v.at && (size_t)(v.end - v.at) == n + 2 && !memcmp(v.at + 1, s, n);
}

// Writing JSON ---------------------------------------------------------------

// kw_buf is a document that is being written. Begin with kw_buf out = {0}.
typedef struct {
	char *at;
	size_t len, cap;
} kw_buf;

static inline void kw_add(kw_buf *b, const char *from, size_t n) {
	if (!n)
		return;
	if (b->len + n > b->cap) {
		char *at = kw_alloc(b->cap = 2 * (b->len + n));
		memcpy(at, b->at, b->len);
		b->at = at;
	}
	memcpy(b->at + b->len, from, n);
	b->len += n;
}

// kw_raw adds text as it is, kw_quoted as a JSON string, kw_number a number.
static inline void kw_raw(kw_buf *b, const char *s) { kw_add(b, s, strlen(s)); }

static inline void kw_number(kw_buf *b, int n) {
	if (n < 0)
		kw_add(b, "-", 1);
	if (n >= 10 || n <= -10)
		kw_number(b, abs(n / 10));
	char digit = (char)('0' + abs(n % 10));
	kw_add(b, &digit, 1);
}

static inline void kw_quoted(kw_buf *b, kw_text s) {
	kw_add(b, "\"", 1);
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.at[i];
		if (c == '\n') {
			kw_add(b, "\\n", 2);
		} else if (c < 0x20) {
			char escape[] = {'\\', 'u', '0', '0', "01"[c >> 4], "0123456789abcdef"[c & 15]};
			kw_add(b, escape, sizeof escape);
		} else {
			if (c == '"' || c == '\\')
				kw_add(b, "\\", 1);
			kw_add(b, s.at + i, 1);
		}
	}
	kw_add(b, "\"", 1);
}

// The call -------------------------------------------------------------------

static inline char *kw_terminated(char *buf, int n) {
	buf[n > 0 ? n : 0] = 0;
	return buf;
}

// kw_input is the document of the hook.
static inline kw_json kw_input(void) {
	int n = kw_input_length();
	char *buf = kw_alloc((size_t)n);
	return kw_value(kw_terminated(buf, kw_input_read(buf, 0, n)));
}

// kw_answer hands the answer over and returns what the hook returns.
static inline int kw_answer(kw_buf *out) {
	return kw_output_write(out->at, (int)out->len) ? kw_fail("the answer is longer than the host allows") : 0;
}

// kw_call makes a host call, "kv.get" for example, with a request in JSON. The
// response is {"result": ...} or {"error": {"code": ..., "message": ...}}.
static inline kw_json kw_call(const char *op, const kw_buf *request) {
	int n = kw_host_call(op, (int)strlen(op), request->at, (int)request->len);
	char *buf = kw_alloc((size_t)n);
	return kw_value(kw_terminated(buf, kw_response_read(buf, 0, n)));
}

// kw_search finds what has to do with a query among the messages that compactions
// superseded, at most limit results (0 is 5), and returns the first, best one: go on with
// kw_next. It needs the capability messages.search. Each has "pieces" with "message",
// "role", "compaction" and "text". Nothing is there where nothing is found, or the host
// refuses.
static inline kw_json kw_search(kw_text query, int limit) {
	kw_buf b = {0};
	kw_raw(&b, "{\"query\":");
	kw_quoted(&b, query);
	kw_raw(&b, ",\"limit\":");
	kw_number(&b, limit);
	kw_raw(&b, "}");
	return kw_first(kw_get(kw_get(kw_call("messages.search", &b), "result"), "found"));
}

// Messages -------------------------------------------------------------------

// kw_message_text is what a message says: its content, or the texts of its
// parts, a line each.
static inline kw_text kw_message_text(kw_json message) {
	kw_json content = kw_get(message, "content");
	kw_buf b = {0};
	for (kw_json part = kw_first(content); part.at; part = kw_next(part)) {
		kw_text text = kw_string(kw_get(part, "text"));
		if (text.len && b.len)
			kw_add(&b, "\n", 1);
		kw_add(&b, text.at, text.len);
	}
	return b.len ? (kw_text){b.at, b.len} : kw_string(content);
}

// kw_is_person reports whether a person typed the message: others of role user
// are the harness's, and have a kind.
static inline bool kw_is_person(kw_json message) {
	return kw_is(kw_get(message, "role"), "user") && !kw_get(message, "kind").at;
}

#endif
