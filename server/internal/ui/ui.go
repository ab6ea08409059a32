package ui

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/server/internal/api"
)

//go:embed pages
var pageFiles embed.FS

//go:embed static
var staticFiles embed.FS

// pages is the handler of all pages.
type pages struct {
	s         *service.Service
	log       *slog.Logger
	templates map[string]*template.Template
	now       func() time.Time
}

// The pages by what they are about.
type (
	sessionPages    struct{ *pages }
	compactionPages struct{ *pages }
	operatorPages   struct{ *pages }
)

// New makes the handler of the pages of a service. A nil log says nothing.
func New(svc *service.Service, log *slog.Logger) http.Handler {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	p := &pages{s: svc, log: log, templates: make(map[string]*template.Template), now: time.Now}
	p.parse()
	sessions, compactions, operator := sessionPages{p}, compactionPages{p}, operatorPages{p}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /static/{file}", static)
	mux.HandleFunc("/", p.page(func(*http.Request) (*view, error) {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "page", Message: "there is nothing at this address",
			Hint: "the list of sessions has a link to everything there is", Err: service.ErrUnknown}
	}))
	for pattern, show := range map[string]func(*http.Request) (*view, error){
		"GET /{$}":                       sessions.sessions,
		"GET /s/{key}":                   sessions.session,
		"GET /s/{key}/overview":          sessions.sessionOverview,
		"GET /s/{key}/messages":          sessions.messages,
		"GET /s/{key}/m/{id}":            sessions.message,
		"GET /s/{key}/c/{cid}":           compactions.compaction,
		"GET /s/{key}/c/{cid}/lost":      compactions.lost,
		"GET /s/{key}/c/{cid}/note":      compactions.note,
		"POST /s/{key}/c/{cid}/judge":    compactions.judge,
		"GET /s/{key}/compact":           compactions.compactForm,
		"POST /s/{key}/compact":          compactions.compact,
		"POST /s/{key}/preview":          compactions.preview,
		"GET /s/{key}/compare":           compactions.compareForm,
		"POST /s/{key}/compare":          compactions.compare,
		"GET /s/{key}/checkpoint":        compactions.checkpoint,
		"POST /s/{key}/checkpoint/{cid}": compactions.decide,
		"POST /s/{key}/undo":             sessions.undo,
		"POST /s/{key}/redo":             sessions.redo,
		"POST /s/{key}/rollback":         sessions.rollback,
		"GET /plugins":                   operator.plugins,
		"GET /plugins/{name}":            operator.plugin,
		"POST /plugins/{name}":           operator.setKnobs,
		"POST /plugins/{name}/reset":     operator.resetKnob,
		"POST /plugins/{name}/breaker":   operator.resetBreaker,
		"GET /settings":                  operator.settings,
		"POST /settings":                 operator.setSetting,
		"POST /settings/reset":           operator.resetSetting,
		"GET /audit":                     operator.audit,
		"GET /import":                    operator.importForm,
		"POST /import":                   operator.importFile,
	} {
		mux.HandleFunc(pattern, p.page(show))
	}
	return mux
}

// view is what becomes of a request: a template with what it shows, or another address
// to go to.
type view struct {
	template string // the file in pages, and the block of it where only a part is sent
	block    string
	title    string
	data     any
	status   int
	goTo     string
}

// frame is what every template is executed with.
type frame struct {
	Title string
	Path  string
	Done  string // what the action before came to
	Live  string // the session that is watched
	Data  any
}

// page answers with what show comes to.
func (p *pages) page(show func(*http.Request) (*view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := show(r)
		if err != nil {
			v = p.problem(r, err)
		}
		if v.goTo != "" {
			http.Redirect(w, r, v.goTo, http.StatusSeeOther)
			return
		}
		var b bytes.Buffer
		f := frame{Title: v.title, Path: r.URL.Path, Done: done[r.URL.Query().Get("done")], Live: r.PathValue("key"),
			Data: v.data}
		if err := p.templates[v.template].ExecuteTemplate(&b, cmp.Or(v.block, "page.html"), f); err != nil {
			p.log.Error("a page could not be rendered", "page", v.template, "error", err)
			http.Error(w, "internal error: the server's log says more", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if v.status != 0 {
			w.WriteHeader(v.status)
		}
		_, _ = w.Write(b.Bytes())
	}
}

// problem is the page of an error.
func (p *pages) problem(r *http.Request, err error) *view {
	problem := api.ProblemOf(err)
	if errors.Is(err, service.ErrVersion) {
		problem.Detail = "the session has changed since this page was made, and nothing was done"
		problem.Hint = "go back to the session to read it again"
	}
	if problem.Status == http.StatusInternalServerError {
		p.log.Error("a page went wrong", "path", r.URL.EscapedPath(), "error", err)
	}
	data := problemData{Problem: problem}
	if key := r.PathValue("key"); key != "" {
		if _, err := p.s.Session(r.Context(), key); err == nil {
			data.Session = key
		}
	}
	return &view{template: "problem.html", block: part(r, "body"), title: problem.Title, status: problem.Status,
		data: data}
}

// problemData is the page of an error.
type problemData struct {
	*api.Problem
	Session string // the one to go back to; empty where there is none
}

// part is the block of a template that a script asks for; a reader gets the page.
func part(r *http.Request, block string) string {
	if r.Header.Get("HX-Request") == "" {
		return ""
	}
	return block
}

// done are the words for what an action came to, by the name in the address.
var done = map[string]string{
	"compacted": "The session is compacted.", "noop": "Nothing went: the session is as it was.",
	"waits": "The compaction waits for your decision.", "approved": "Approved: the compaction is applied as it was shown.",
	"rejected": "Rejected: the session is as it was.", "undone": "The last compaction is undone.",
	"redone": "What was undone holds again.", "rolledback": "The session is back where that message had just arrived.",
	"judged": "Your judgement is kept.", "knobs": "The values hold from the next compaction on.",
	"reset": "The knob is back to what the configuration or the plugin says.", "imported": "The file is imported.",
	"setting": "The value holds from the next look at a session on.",
	"unset":   "The setting is back to what the configuration says.",
	"breaker": "The plugin is called again from the next compaction on.",
	"failed":  "The compaction did not change the session; the report says why.",
}

// parse reads all templates.
func (p *pages) parse() {
	shared := template.Must(template.New("").Funcs(p.funcs()).ParseFS(pageFiles, "pages/page.html", "pages/parts.html"))
	files, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		panic(err) // the pattern is bad
	}
	for _, file := range files {
		name := path.Base(file)
		if name == "page.html" || name == "parts.html" {
			continue
		}
		p.templates[name] = template.Must(template.Must(shared.Clone()).ParseFS(pageFiles, file))
	}
}

// static serves what does not change while the program runs. The address has the
// version of what it names, so browsers may keep it.
func static(w http.ResponseWriter, r *http.Request) {
	data, err := staticFiles.ReadFile("static/" + r.PathValue("file"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	http.ServeContent(w, r, r.PathValue("file"), time.Time{}, bytes.NewReader(data))
}

// to is an address below that of a session.
func to(key string, parts ...string) string {
	at := "/s/" + url.PathEscape(key)
	for _, part := range parts {
		at += "/" + url.PathEscape(part)
	}
	return at
}

// after is the address to go to behind an action.
func after(at, done string) *view { return &view{goTo: at + "?done=" + done} }

// versionOf is the version of a session that a form was made for, nil where it says none.
func versionOf(r *http.Request) (*int, error) {
	text := r.PostFormValue("version")
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, bad("version", fmt.Errorf("%q is no number", text))
	}
	return &n, nil
}

// bad is the error of a form that does not hold what it should.
func bad(field string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: field, Message: err.Error(), Err: err}
}
