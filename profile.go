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

// profileOf finds a profile by name; auto by the name of the model. Where there
// is none it is the default.
func profileOf(name, model string) (Profile, bool) {
	all := Profiles()
	model = strings.ToLower(model)
	i := slices.IndexFunc(all, func(p Profile) bool {
		if name != ProfileAuto {
			return p.Name == name
		}
		return slices.ContainsFunc(p.Families, func(f string) bool { return strings.Contains(model, f) })
	})
	if i >= 0 {
		return all[i], true
	}
	return all[0], name == "" || name == ProfileAuto
}

// thresholds are those that are set, and the profile's where one is not. The
// lower one keeps its distance where the upper one is low.
func (p Profile) thresholds(upper, lower float64) (float64, float64) {
	if upper == 0 {
		upper = p.Upper
	}
	if lower == 0 {
		lower = min(p.Lower, upper*p.Lower/p.Upper)
	}
	return upper, lower
}

// Thresholds are the upper and the lower fraction of the window that hold for a
// model where the window's share decides, whether they make sense or not.
func (p Policy) Thresholds(model string) (upper, lower float64) {
	profile, _ := profileOf(p.Profile, model)
	return profile.thresholds(p.Upper, p.Lower)
}
