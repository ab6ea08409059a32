// Package jsonlex holds the rules of JSON that its readers in abi share: where a
// text ends, what an escape stands for, how a number is written. It reads
// bytes and keeps nothing; eight at a time where it can, since a session is
// mostly text, and branches are what costs in WebAssembly.
package jsonlex
