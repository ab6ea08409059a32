package models

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/kagewasm/kagewasm/abi"
)

// Key is a provider's key. However it is printed, logged or marshaled, it does
// not show: string(key) is the key.
type Key string

const redacted = "[redacted]"

// Format prints what stands for the key, with any verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, k.mask()) }

// LogValue logs what stands for the key.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.mask()) }

// MarshalText writes what stands for the key.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.mask()), nil }

func (k Key) mask() string {
	if k == "" {
		return ""
	}
	return redacted
}

// KeyRef names the environment variable that holds a key: what stands in a
// configuration in place of the key.
type KeyRef string

// Resolve looks the key up, with os.LookupEnv for example. No name is no key;
// a name without a value is an error.
func (r KeyRef) Resolve(lookup func(name string) (string, bool)) (Key, error) {
	if r == "" {
		return "", nil
	}
	if value, _ := lookup(string(r)); value != "" {
		return Key(value), nil
	}
	return "", &abi.Error{
		Code: abi.CodeUsage, Op: "key", Message: fmt.Sprintf("environment variable %.100q: not set", string(r)),
		Hint: "set it to the provider's key, or name another one",
	}
}
