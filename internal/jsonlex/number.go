package jsonlex

// Number is the length of the number that b begins with, 0 where there is
// none.
func Number(b []byte) int {
	n := 0
	if len(b) > 0 && b[0] == '-' {
		n++
	}
	whole := digits(b[n:])
	if whole == 0 || whole > 1 && b[n] == '0' {
		return 0
	}
	n += whole
	if n < len(b) && b[n] == '.' {
		fraction := digits(b[n+1:])
		if fraction == 0 {
			return 0
		}
		n += 1 + fraction
	}
	if n < len(b) && b[n]|0x20 == 'e' {
		n++
		if n < len(b) && (b[n] == '+' || b[n] == '-') {
			n++
		}
		exponent := digits(b[n:])
		if exponent == 0 {
			return 0
		}
		n += exponent
	}
	return n
}

// digits is how many digits b begins with.
func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n
}
