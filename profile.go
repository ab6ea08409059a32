package kagewasm

import (
	"slices"
	"strings"
)

// Default thresholds, as fractions of the context window (FEATURES K2).
const (
	DefaultUpper = 0.85
	DefaultLower = 0.60
)

// Profile is a pair of thresholds that suits a family of models (FEATURES I3).
type Profile struct {
	Name         string
	Upper, Lower float64
	// Families are what the names of its models hold; empty for a profile that
	// is chosen by name alone.
	Families []string
}

// ProfileAuto is the name that takes the profile of the model's family, and
// the default where none has it.
const ProfileAuto = "auto"

// Profiles are all profiles, the default first. Conservative is ion's for
// standard transformers, which use the middle of a long context badly.
func Profiles() []Profile {
	return []Profile{
		{Name: "default", Upper: DefaultUpper, Lower: DefaultLower},
		{Name: "conservative", Upper: 0.55, Lower: 0.45},
		{Name: "deepseek", Upper: 0.70, Lower: 0.60, Families: []string{"deepseek"}},
		{Name: "grok", Upper: 0.70, Lower: 0.60, Families: []string{"grok"}},
		{Name: "gemini", Upper: 0.50, Lower: 0.40, Families: []string{"gemini"}},
	}
}

// profileOf finds a profile by name; auto by the name of the model.
func profileOf(name, model string) (Profile, bool) {
	all := Profiles()
	model = strings.ToLower(model)
	i := slices.IndexFunc(all, func(p Profile) bool {
		if name != ProfileAuto {
			return p.Name == name
		}
		return slices.ContainsFunc(p.Families, func(f string) bool { return strings.Contains(model, f) })
	})
	switch {
	case i >= 0:
		return all[i], true
	case name == "", name == ProfileAuto:
		return all[0], true
	}
	return Profile{}, false
}
