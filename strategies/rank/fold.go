package rank

import "unicode/utf8"

// folded are the Latin letters of U+00C0 to U+017F without what is on them, in
// order; those that are letters of their own stay.
const folded = "aaaaaaæceeeeiiiiðnooooo×ouuuuyþßaaaaaaæceeeeiiiiðnooooo÷ouuuuyþy" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiĳĳjjkkĸlllllll" +
	"lllnnnnnnnŋŋooooooœœrrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// foldedMore are those of U+1E00 to U+1EFF.
const foldedMore = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm" +
	"mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv" +
	"wwwwwwwwwwxxxxyyzzzzzzhtwyasẜẝßẟaaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee" +
	"eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyyỻỻỽỽỿỿ"

var foldTable, foldMoreTable = []rune(folded), []rune(foldedMore)

// fold returns a Latin letter in lower case without its accent, and any other rune as it is.
func fold(r rune) rune {
	switch {
	case r >= 0xC0 && int(r-0xC0) < len(foldTable):
		return foldTable[r-0xC0]
	case r >= 0x1E00 && int(r-0x1E00) < len(foldMoreTable):
		return foldMoreTable[r-0x1E00]
	}
	return r
}

// isAccent reports whether r is a mark on the letter before it, as accents are.
func isAccent(r rune) bool { return 0x300 <= r && r <= 0x36F }

// accented reports whether an accent that follows buf is on a Latin letter.
func accented(buf []byte) bool { return len(buf) > 0 && buf[len(buf)-1] < utf8.RuneSelf }
