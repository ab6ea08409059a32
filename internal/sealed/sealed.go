// Package sealed writes values that name others, such as the root of a bank of
// memories: a line with a generation and a checksum, and then the value. A value
// that was cut, emptied or mixed with another is told by it, so that it is never
// taken for a new beginning. [Write] and [Read] are its two sides; [Copy] names the
// key of a copy, by which a value is repaired.
package sealed

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/sum"
)

const (
	magic    = "sealed1 "
	sumBytes = 16 // of SHA-256: it is there for damage, and keeps nobody out
)

// Write is the value of a generation, with its checksum.
func Write(generation int, value string) string {
	return fmt.Sprintf("%s%d %s\n%s", magic, generation, checksum(generation, value), value)
}

func checksum(generation int, value string) string {
	whole := sum.Of(strconv.Itoa(generation), "\n", value)
	return hex.EncodeToString(whole[:sumBytes])
}

// Is reports whether a text begins as one that Write wrote.
func Is(text string) bool { return strings.HasPrefix(text, magic) }

// Read returns the value and the generation of what Write wrote, and otherwise
// what is wrong with it.
func Read(text string) (value string, generation int, err error) {
	head, value, whole := strings.Cut(text, "\n")
	number, hash, two := strings.Cut(strings.TrimPrefix(head, magic), " ")
	generation, numeric := strconv.Atoi(number)
	switch {
	case text == "":
		return "", 0, errors.New("empty")
	case !Is(text), !whole, !two, numeric != nil:
		return "", 0, errors.New("its first line is damaged")
	case hash != checksum(generation, value):
		return "", 0, errors.New("its checksum is another")
	}
	return value, generation, nil
}

// copySuffix ends the keys of copies.
const copySuffix = ".copy"

// Copy is the key of the copy of a sealed value, Original that of the value a copy
// is of.
func Copy(key string) string { return key + copySuffix }

// Original is the key of the value that a copy is of, and whether the key is a
// copy's.
func Original(key string) (original string, ok bool) { return strings.CutSuffix(key, copySuffix) }
