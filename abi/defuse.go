package abi

import (
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/unaligned"
)

// Defuse makes text safe to show to a model: nothing in it is a control word of a chat
// template, and nothing in it is hidden from a person who reads the same text.
//
// Control words of all known models are broken up by a space behind their first
// character: <|im_start|>, </s>, [INST], <start_of_turn>, <tool_call> and others. What
// only ends a marker, |>, is an operator in several languages and stays, and so do
// elements that people write for themselves: <video>, <function>, </mask>. Letters that
// are written as invisible tags become visible, with ' for " and / for \. Control
// characters other than tab and newline go, and so do characters that turn the
// direction of writing; of invisible characters in a row two stay, as scripts and emoji
// use them. Invalid UTF-8 is replaced. Defusing twice changes nothing more.
func Defuse(text string) string {
	if harmless(text) {
		return text
	}
	return breakUp(uncover(strings.ToValidUTF8(text, "\uFFFD")))
}

// harmless reports whether a text stays as it is, as most do: one look at each character
// in the place of three.
func harmless(text string) bool {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case harmlessByte[c]:
			i = harmlessEnd(unsafe.Slice(unsafe.StringData(text), len(text)), i+1)
		case c < utf8.RuneSelf:
			if isControl(rune(c)) || isControlWord(c, text[i+1:]) {
				return false
			}
			i++
		case c >= firstHan && c <= lastHan:
			if i+2 >= len(text) || utf8.RuneStart(text[i+1]) || utf8.RuneStart(text[i+2]) {
				return false
			}
			i += 3 // most of Chinese
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if size == 1 || isControl(r) || invisible(r) {
				return false
			}
			i += size
		}
	}
	return true
}

// harmlessEnd goes on over bytes that are harmless, eight at a time, and returns where it stopped: at one that may not
// be, or at one of the last eight.
func harmlessEnd(text []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		x := unaligned.Load(text, i)
		angle, open, closed := x^'<'*ones, x^'['*ones, x^']'*ones
		brackets := (angle-ones)&^angle | (open-ones)&^open | (closed-ones)&^closed
		if stops := (brackets | (x-' '*ones)&^x | (x + ones) | x) & highs; stops != 0 { // the first one is right
			return i + bits.TrailingZeros64(stops)/8
		}
	}
	return i
}

// harmlessByte are the printable characters of ASCII but brackets, which no control word
// begins with.
var harmlessByte = func() (is [256]bool) {
	for c := range byte(0x7f) {
		is[c] = !isControl(rune(c)) && strings.IndexByte("<[]", c) < 0
	}
	return is
}()

// uncover takes out of text what a reader does not see.
func uncover(text string) string {
	if open(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	done, hidden := 0, 0 // what is written of text, and how many are hidden in a row
	for i, r := range text {
		as, kept := r, true
		switch {
		case isControl(r), turns(r):
			kept = false
		case r > tags && r < tags+0x7f && r >= tags+' ': // a letter in disguise
			as, hidden = uncovered(r-tags), 0
		case !invisible(r):
			hidden = 0
		case hidden == maxHidden:
			kept = false
		default:
			hidden++
		}
		if kept && as == r {
			continue
		}
		b.WriteString(text[done:i])
		if kept {
			b.WriteRune(as)
		}
		done = i + utf8.RuneLen(r)
	}
	b.WriteString(text[done:])
	return b.String()
}

// uncovered is a letter that was written as an invisible tag. A quotation mark and a
// backslash come as others of their kind: JSON in which one stood stays JSON.
func uncovered(r rune) rune {
	switch r {
	case '"':
		return '\''
	case '\\':
		return '/'
	}
	return r
}

// maxHidden is how many invisible characters in a row stay: a heart on fire has two.
const maxHidden = 2

// tags is where the invisible copies of ASCII begin.
const tags = 0xE0000

func isControl(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0
}

// What the characters from U+4000 to U+9FFF begin with, in which there is nothing to hide.
const firstHan, lastHan = 0xe4, 0xe9

// open reports whether there is nothing to uncover in text.
func open(text string) bool {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= firstHan && r <= lastHan {
			i += 3 // most of Chinese
			continue
		}
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if isControl(r) || invisible(r) {
			return false
		}
		i += size
	}
	return true
}

// turns reports whether r changes the order in which what follows is shown.
func turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x206f }

// invisible reports whether r takes no room: what Unicode calls ignorable by default.
func invisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0x180b && r <= 0x180f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfff8, r >= tags && r <= tags+0xfff:
		return true
	}
	switch r {
	case 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xfeff, 0xffa0:
		return true
	}
	return false
}

// breakUp puts a space behind the first character of every control word.
func breakUp(text string) string {
	var b strings.Builder
	done := 0
	for i := range len(text) {
		if c := text[i]; (c == '<' || c == '[' || c == ']') && isControlWord(c, text[i+1:]) {
			b.WriteString(text[done:i+1] + " ")
			done = i + 1
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// isControlWord reports whether a control word begins with a bracket and goes on with
// rest.
func isControlWord(bracket byte, rest string) bool {
	switch bracket {
	case ']':
		return strings.HasPrefix(rest, "~b]") || strings.HasPrefix(rest, "~!b[") // MiniMax
	case '[':
		if strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "e~[") { // EXAONE, MiniMax
			return true
		}
		name, after := wordOf(rest)
		return strings.HasPrefix(after, "]") && squareWord(name)
	}
	// <| of ChatML, Llama, Qwen, Phi, GLM, Kimi, Command R, gpt-oss and others; the full
	// width form is DeepSeek's.
	if strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "\uFF5C") {
		return true
	}
	name, after := wordOf(rest)
	if strings.HasPrefix(after, ">") && angleWord(strings.TrimRight(name, "0123456789")) {
		return !strings.HasPrefix(rest, "/") || hasEnd(name)
	}
	if name == "function" || name == "parameter" { // are of XML and of people where they name nothing
		return strings.HasPrefix(after, "=") || strings.HasPrefix(strings.TrimLeft(after, " \t\n"), "name=")
	}
	return after != "" && strings.IndexByte(">= \t\n", after[0]) >= 0 && callWord(name)
}

// maxWord is how long the name of a control word is at most.
const maxWord = 40

// wordOf is the name that text begins with, without a slash or what stands before a
// colon, and what stands behind it.
func wordOf(text string) (name, after string) {
	text = strings.TrimPrefix(text, "/")
	from := 0
	for i := 0; i < len(text) && i <= maxWord; i++ {
		switch c := text[i]; {
		case c == ':':
			from = i + 1
		case c != '_' && c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
			return text[from:i], text[i:]
		}
	}
	return "", ""
}

// angleWord reports whether <name> is a control word; digits at its end are left out.
func angleWord(name string) bool {
	switch name {
	case "s", "unk", "pad", "bos", "eos", "mask", "cls", "sep", // Llama, Mistral, Gemma, Seed and others
		"SYS",                                    // Llama 2, within a second bracket
		"start_of_turn", "end_of_turn", "unused", // Gemma
		"start_of_image", "end_of_image", "image_soft_token",
		"BOS_TOKEN", "EOS_TOKEN", "PAD_TOKEN", "UNK_TOKEN", // Command R
		"sop", "eop", "eoh", "eoa", "eot", "eom", // GLM, InternLM
		"reserved_", "extra_id_", "SPECIAL_", "TOKENS_UNUSED_", // Baichuan, T5, Nemotron
		"fim_prefix", "fim_suffix", "fim_middle", "fim_pad", "file_sep", "repo_name", "reponame", "PRE", "SUF", "MID", "EOT",
		"think", "image", "img_context", "IMG_CONTEXT", "end_of_utterance":
		return true
	}
	return false
}

// hasEnd reports whether </name> is a control word as <name> is. Others of that form
// are of SVG and the like.
func hasEnd(name string) bool {
	return name == "s" || name == "think" || name == "image" || name == "SYS"
}

// callWord reports whether <name>, also with attributes, begins or ends what a model
// writes to call a tool, or what it is answered.
func callWord(name string) bool {
	switch name {
	case "tool_call", "tool_calls", "tool_response", "tool_responses", "tool_result", "tool_results", "tools", "tool_use",
		"function_call", "function_calls", "function_result", "function_results", "invoke":
		return true
	}
	return false
}

// squareWord reports whether [name] is a control word.
func squareWord(name string) bool {
	switch name {
	case "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT",
		"ARGS", "CALL_ID", "IMG",
		"IMG_BREAK", "IMG_END", "AUDIO", "BEGIN_AUDIO", "THINK", "MODEL_SETTINGS", "PREFIX", "MIDDLE", "SUFFIX", // Mistral
		"gMASK", "sMASK", "MASK", "PAD", "UNK", "BOS", "EOS": // GLM, Kimi
		return true
	}
	return false
}
