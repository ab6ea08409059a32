package sum

// Plain is what guests have in the place of the standard library.
var Plain = plainOf
