package ui

// Diagnosis is what `kagewasm doctor --json` prints.
type Diagnosis struct {
	Agents []Patient `json:"agents"`
	// Server is what is wrong with the server of the state folder; nil for nothing.
	Server *Finding `json:"server,omitempty"`
	// Background says that a server runs in the background, which the plugs ask, and doctor.
	Background bool `json:"background,omitempty"`
}

// Patient is an agent, and what was found.
type Patient struct {
	Agent    string    `json:"agent"`
	Title    string    `json:"title"`
	Findings []Finding `json:"findings"`
}

// Finding is one thing that was looked at. Fix is the one command that fixes it.
type Finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Why  string `json:"why"`
	Fix  string `json:"fix,omitempty"`
}

// Sick is how many things there are to fix.
func (d *Diagnosis) Sick() (n int) {
	if d.Server != nil {
		n++
	}
	for _, a := range d.Agents {
		for _, f := range a.Findings {
			if !f.OK {
				n++
			}
		}
	}
	return n
}

// Doctor tells what was found.
func Doctor(p Printer, d *Diagnosis) {
	if len(d.Agents) == 0 {
		p.Linef("kagewasm is installed in no agent: kagewasm install AGENT")
	}
	for _, a := range d.Agents {
		p.Linef("%s", p.paint(bold, a.Title))
		for _, f := range a.Findings {
			p.finding(f)
		}
	}
	if d.Server != nil {
		p.finding(*d.Server)
	}
	if d.Background {
		p.Linef("a server runs in the background until nobody has asked it for half an hour: kagewasm serve --stop ends it")
	}
}

func (p Printer) finding(f Finding) {
	if f.OK {
		p.field(f.What, "%s", f.Why)
		return
	}
	p.field(f.What, "%s %s", p.paint(red, "broken:"), f.Why)
	p.field("", "fix it with: %s", p.paint(bold, f.Fix))
}
