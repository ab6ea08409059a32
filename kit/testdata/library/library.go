// Package library is no main package.
package library
