package plug

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// serve lets the user's service manager keep a command answering at an address: systemd holds the port and starts it
// with the first request, launchd starts it with the session. Where there is neither, the user does.
func (p *Plan) serve(name, what, address string, command []string, s Setup) {
	p.Next = "keep this running: " + strings.Join(command, " ")
	switch goruntime.GOOS {
	case "linux":
		folder := filepath.Join(cmp.Or(s.Getenv("XDG_CONFIG_HOME"), filepath.Join(s.Home, ".config")), "systemd", "user")
		quoted, environment := lists.Map(append(command, "--idle", "30m"), unitWord), ""
		if dir := s.Getenv(stateHome); dir != "" {
			environment = "Environment=" + unitValue(stateHome+"="+dir) + "\n"
		}
		p.Files = append(p.Files,
			File{Path: filepath.Join(folder, name+".socket"), Data: []byte("[Unit]\nDescription=" + what +
				"\n\n[Socket]\nListenStream=" +
				address + "\n\n[Install]\nWantedBy=sockets.target\n")},
			File{Path: filepath.Join(folder, name+".service"), Data: []byte("[Unit]\nDescription=" + what +
				"\n\n[Service]\n" + environment + "ExecStart=" + strings.Join(quoted, " ") + "\n")})
		p.Start = [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", "--now", name +
			".socket"}, {"systemctl", "--user", "try-restart", name + ".service"}}
		p.Stop = [][]string{{"systemctl", "--user", "disable", "--now", name + ".socket", name + ".service"}}
	case "darwin":
		path := filepath.Join(s.Home, "Library", "LaunchAgents", name+".plist")
		p.Files = append(p.Files, File{Path: path, Data: plist(name, command, s.Getenv(stateHome))})
		p.Start = [][]string{{"launchctl", "load", "-w", path}}
		p.Stop = [][]string{{"launchctl", "unload", path}}
	}
}

// stateHome is what a service is told of the user's environment: what they set in a shell service managers do not know,
// and the state would be another one.
const stateHome = "XDG_STATE_HOME"

// unitWord writes a word of a command for systemd.
func unitWord(word string) string { return strings.ReplaceAll(unitValue(word), "$", "$$") }

// unitValue writes a value for systemd that stands in no command.
func unitValue(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(text) + `"`
}

func plist(name string, command []string, state string) []byte {
	var b bytes.Buffer
	text := func(s string) {
		b.WriteString("<string>")
		_ = xml.EscapeText(&b, []byte(s)) // to memory
		b.WriteString("</string>\n")
	}
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" ` +
		`"http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n<plist version=\"1.0\"><dict>\n<key>Label</key>")
	text(name)
	b.WriteString("<key>ProgramArguments</key><array>\n")
	for _, word := range command {
		text(word)
	}
	b.WriteString("</array>\n")
	if state != "" {
		b.WriteString("<key>EnvironmentVariables</key><dict><key>" + stateHome + "</key>")
		text(state)
		b.WriteString("</dict>\n")
	}
	b.WriteString("<key>RunAtLoad</key><true/>\n<key>KeepAlive</key><true/>\n</dict></plist>\n")
	return b.Bytes()
}

// Manages reports whether a service manager of the user can be asked to keep something running.
func Manages() bool {
	switch goruntime.GOOS {
	case "linux":
		return exec.Command("systemctl", "--user", "show-environment").Run() == nil
	case "darwin":
		_, err := exec.LookPath("launchctl")
		return err == nil
	}
	return false
}

// Run runs commands one after the other. It is false where one of them fails or is not there.
func Run(commands [][]string) bool {
	for _, c := range commands {
		if exec.Command(c[0], c[1:]...).Run() != nil {
			return false
		}
	}
	return len(commands) > 0
}
