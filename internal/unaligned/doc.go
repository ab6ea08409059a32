// Package unaligned reads and writes eight bytes at any place, the first in the lowest byte.
// [Load] and [Store] are one instruction each in a guest as well.
package unaligned
