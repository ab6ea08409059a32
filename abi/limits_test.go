package abi_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
)

func TestLimits(t *testing.T) {
	def := abi.DefaultLimits()
	for name, c := range map[string]struct {
		why       string
		got, want abi.Limits
	}{
		"or, zero": {"the zero value is the default", abi.Limits{}.Or(def), def},
		"or, set": {"what is set stays",
			abi.Limits{MemoryMB: 128, Fuel: 5}.Or(abi.Limits{MemoryMB: 64, LogBytes: 1, Fuel: 9}),
			abi.Limits{MemoryMB: 128, LogBytes: 1, Fuel: 5}},
		"or, fuel": {"fuel is a limit like others", abi.Limits{}.Or(abi.Limits{Fuel: 9}), abi.Limits{Fuel: 9}},
		"lower": {"lower wins, higher does not", abi.Limits{TimeoutMS: 10, MemoryMB: 64}.Lower(
			abi.Limits{TimeoutMS: 5, MemoryMB: 128}), abi.Limits{TimeoutMS: 5, MemoryMB: 64}},
		"lower, zero": {"zero wishes nothing", def.Lower(abi.Limits{}), def},
		"lower, negative": {"a negative wish is none",
			def.Lower(abi.Limits{TimeoutMS: -1, MemoryMB: -1, Fuel: -1}), def},
		"lower, fuel from none": {"no budget is more than any",
			def.Lower(abi.Limits{Fuel: 7}).Lower(abi.Limits{Fuel: 9}), withFuel(def, 7)},
		"lower, unresolved": {"a limit that is not resolved stays so", abi.Limits{}.Lower(abi.Limits{MemoryMB: 1}),
			abi.Limits{}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("%+v, want %+v: %s", c.got, c.want, c.why)
			}
		})
	}
}

func withFuel(l abi.Limits, fuel int64) abi.Limits {
	l.Fuel = fuel
	return l
}

// TestLimitsEveryField: Or and Lower treat every field there is, so that one
// added later is not forgotten.
func TestLimitsEveryField(t *testing.T) {
	typ := reflect.TypeFor[abi.Limits]()
	for i := range typ.NumField() {
		var two, one abi.Limits
		reflect.ValueOf(&two).Elem().Field(i).SetInt(2)
		reflect.ValueOf(&one).Elem().Field(i).SetInt(1)
		if got := (abi.Limits{}).Or(two); got != two {
			t.Errorf("Or forgets %s", typ.Field(i).Name)
		}
		if got := two.Lower(one); got != one {
			t.Errorf("Lower forgets %s", typ.Field(i).Name)
		}
		reflect.ValueOf(&one).Elem().Field(i).SetInt(-1)
		m := abi.Manifest{Name: "x", ABI: abi.Version, Limits: one}
		if m.Validate() == nil {
			t.Errorf("Validate accepts a negative %s", typ.Field(i).Name)
		}
	}
}

// TestLimitsNeverRaise: whatever a plugin wishes for, no limit goes up.
func TestLimitsNeverRaise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string, low int) abi.Limits {
			n := rapid.IntRange(low, 1000)
			var l abi.Limits
			for i := range reflect.TypeFor[abi.Limits]().NumField() {
				reflect.ValueOf(&l).Elem().Field(i).SetInt(int64(n.Draw(t, label)))
			}
			return l
		}
		host, wish := draw("host", 1), draw("wish", -10)
		got := reflect.ValueOf(host.Lower(wish))
		for i := range got.NumField() {
			v := got.Field(i).Int()
			if v > reflect.ValueOf(host).Field(i).Int() || v <= 0 {
				t.Fatalf("field %d of %+v lowered by %+v is %d", i, host, wish, v)
			}
		}
	})
}
