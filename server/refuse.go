package server

import (
	"net/http"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/kagewasm/kagewasm/server/internal/api"
)

// refuse answers a request that is not let in: a person in front of a browser gets a page
// that says how to get in, everybody else a problem.
func refuse(w http.ResponseWriter, r *http.Request, p *api.Problem) {
	if !wantsPage(r) {
		api.WriteProblem(w, p)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(p.Status)
	_ = refused.Execute(w, p) // to a browser that may be gone
}

// wantsPage reports whether a browser asks for a page to show.
func wantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !strings.HasPrefix(r.URL.Path, "/api/") &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// refused has no styles: those are behind the same door.
var refused = template.Must(template.New("refused").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>kagewasm</title>
<h1>kagewasm</h1>
<p>This page is not shown: {{.Detail}}.</p>
{{if eq .Status 401}}<p>Open the link that <code>kagewasm serve</code> prints when it starts, once in each browser:</p>
<pre>open http://.../open?token=...</pre>
<p>The token is in the file that it names beside, which its owner alone can read.
<code>kagewasm serve --help</code> says where that is.</p>
<p>Programs send <code>Authorization: Bearer TOKEN</code>.</p>
{{else}}<p>To get in: {{.Hint}}.</p>
{{end}}</html>
`))
