package ui

import "strings"

// Installed is what `kagewasm install --json` and `kagewasm uninstall --json` print.
type Installed struct {
	Agent   string     `json:"agent"`
	Title   string     `json:"title"`
	Program string     `json:"program"`
	Version string     `json:"version"` // of the program; empty where it is not installed
	Steps   []FileStep `json:"files"`
	Rivals  []string   `json:"rivals"`
	// Plugins take part; Gone are those that did, and are not there any more.
	Plugins []string `json:"plugins,omitempty"`
	Gone    []string `json:"gone,omitempty"`
	// Adds says that the agent goes on summarizing, and that kagewasm adds a note to that.
	Adds   bool   `json:"adds_note,omitempty"`
	Next   string `json:"next"`
	DryRun bool   `json:"dry_run"`
	// Refused is why an installation would be refused that is only shown.
	Refused string `json:"refused,omitempty"`
	// Unrecorded says that something was taken out of which there was no record, Left which files stay in folders of ours.
	Unrecorded bool     `json:"unrecorded,omitempty"`
	Left       []string `json:"left,omitempty"`
	// State is the folder that an uninstallation leaves, and Server that a server of it runs.
	State  string `json:"state,omitempty"`
	Server bool   `json:"server,omitempty"`
}

// FileStep is what becomes of one file.
type FileStep struct {
	Path string `json:"path"`
	// Does is new, changed, removed or unchanged.
	Does string `json:"does"`
	Diff string `json:"diff"`
	// Aside is where a file is kept that was changed, and goes.
	Aside string `json:"aside"`
	// Kept says that settings stay because the user has changed them.
	Kept bool `json:"kept"`
}

// Install tells what an installation did, or would do.
func Install(p Printer, v *Installed) {
	p.steps(v)
	for _, rival := range v.Rivals {
		p.Linef("%s it takes the place of %s", p.paint(yellow, "note:"), rival)
	}
	for _, plugin := range v.Gone {
		p.Linef("%s the plugin %s is left out: it is not there any more", p.paint(yellow, "note:"), plugin)
	}
	if len(v.Plugins) > 0 {
		p.Linef("plugins that take part, at the next installation too: %s (--no-plugins leaves them out)",
			strings.Join(v.Plugins, ", "))
	}
	switch {
	case v.Refused != "":
		p.Linef("nothing was changed: this would be refused")
		return
	case v.DryRun:
		p.Linef("nothing was changed: this is what kagewasm install %s would do", v.Agent)
		return
	case v.Version == "":
		p.Linef("%s is not installed here (there is no program %s): kagewasm is there when it comes", v.Title, v.Program)
	case v.Adds:
		p.Linef("%s %s goes on summarizing, and kagewasm adds a note to that now", v.Title, v.Version)
	default:
		p.Linef("%s %s compacts through kagewasm now", v.Title, v.Version)
	}
	if v.Next != "" {
		p.Linef("%s", v.Next)
	}
	p.Linef("kagewasm doctor %s tries it out, kagewasm uninstall %s takes it out", v.Agent, v.Agent)
}

// Uninstall tells what was taken out.
func Uninstall(p Printer, v *Installed) {
	p.steps(v)
	switch {
	case len(v.Steps) == 0:
		p.Linef("nothing of kagewasm is installed in %s", v.Title)
	case v.DryRun:
		p.Linef("nothing was changed: this is what kagewasm uninstall %s would do", v.Agent)
	default:
		if v.Unrecorded {
			p.Linef("kagewasm is taken out of %s; no record tells what was there before", v.Title)
		} else {
			p.Linef("%s is as it was without kagewasm", v.Title)
		}
		for _, path := range v.Left {
			p.Linef("%s stays: it is somebody else's, or of another version", path)
		}
		if v.Server {
			p.Linef("a server runs until nobody has asked it for a while: kagewasm serve --stop ends it")
		}
		p.Linef("sessions and what plugins keep stay in %s: kagewasm sessions delete deletes some, and without the folder "+
			"nothing is left", v.State)
	}
}

// steps lists files, with the differences where nothing is done yet or a file is somebody else's too.
func (p Printer) steps(v *Installed) {
	if v.DryRun && len(v.Steps) > 0 {
		p.Linef("nothing is changed now, what follows would be done:")
	}
	for _, s := range v.Steps {
		p.Linef("%s %s", p.paint(dim, pad(s.Does, 9)), s.Path)
		if s.Kept {
			p.Linef("          it is kept: it is not as kagewasm wrote it")
		}
		if s.Aside != "" {
			p.Linef("          it was changed, and is kept as %s", s.Aside)
		}
		if s.Diff == "" || s.Does != "changed" && !(v.DryRun && s.Does == "new") {
			continue
		}
		for line := range strings.Lines(s.Diff) {
			p.diffLine(strings.TrimSuffix(line, "\n"))
		}
	}
}

// diffLine prints a line of a diff in its colour.
func (p Printer) diffLine(line string) {
	style := dim
	switch {
	case strings.HasPrefix(line, "+"):
		style = green
	case strings.HasPrefix(line, "-"):
		style = red
	}
	p.Linef("  %s", p.paint(style, line))
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }
