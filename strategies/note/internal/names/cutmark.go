package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
)

// What is left out of a text is marked in it with how much that was, by this host and by harnesses: the number is no
// name, and a harness cuts within words.

// truncations end the marks of harnesses: "... [92611 characters truncated] ...".
var truncations = []string{" characters truncated]", " chars truncated]", " lines truncated]", " bytes truncated]",
	" tokens truncated]"}

// cutMark returns how long the number and what stands before it are in the mark of a cut that a text begins with, 0
// where it begins with none. splits: the word behind it is the rest of one.
func cutMark(s string) (length int, splits bool) {
	head := "["
	if strings.HasPrefix(s, excerpt.Pruned) {
		head = excerpt.Pruned
	}
	end := len(head) + clip.Digits(s[len(head):])
	if end == len(head) {
		return 0, false
	}
	if head == excerpt.Pruned {
		return end, false
	}
	for _, mark := range truncations {
		if strings.HasPrefix(s[end:], mark) {
			return end + len(mark), true
		}
	}
	return 0, false
}

// behindWord returns the end of the next word in a text behind i, with nothing but dots and white space between.
func behindWord(s string, i int) int {
	rest := strings.TrimLeft(s[i:], ". \t\r\n")
	return len(s) - len(strings.TrimLeft(rest, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-./"))
}

// blocks returns how long the number is in the line "total 512" that a listing of a folder begins with, 0 where a text
// begins with none.
func blocks(s string) int {
	line, _, ends := strings.Cut(s, "\n")
	number, ok := strings.CutPrefix(line, "total ")
	if !ok || !ends || number == "" || clip.Digits(number) < len(number) {
		return 0
	}
	return len(number) + 1
}
