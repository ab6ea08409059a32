package ui

import (
	"bytes"
	"fmt"
	std "html/template"
	"io"
	"strings"
	"testing"
	"time"

	template "github.com/DataDog/datadog-agent/pkg/template/html"
)

// TestEscapesLikeTheStandardLibrary: the templates are a copy of the standard library's that
// calls no methods. They put the same escapers at the same places of every page.
func TestEscapesLikeTheStandardLibrary(t *testing.T) {
	p := &pages{templates: make(map[string]*template.Template), now: time.Now}
	p.parse()
	for name, ours := range p.templates {
		theirs := std.Must(std.New("").Funcs(p.funcs()).ParseFS(pageFiles, "pages/page.html", "pages/parts.html",
			"pages/"+name))
		_ = ours.ExecuteTemplate(io.Discard, "page.html", nil) // escaped first, then in want of data
		_ = theirs.ExecuteTemplate(io.Discard, "page.html", nil)
		if !strings.Contains(theirs.Lookup("page.html").Tree.Root.String(), "_html_template_") {
			t.Fatalf("%s is not escaped", name)
		}
		if a, b := len(ours.Templates()), len(theirs.Templates()); a != b {
			t.Errorf("%s: %d templates, the standard library has %d", name, a, b)
		}
		for _, want := range theirs.Templates() {
			got := ours.Lookup(want.Name())
			if got == nil || want.Tree != nil && got.Tree.Root.String() != want.Tree.Root.String() {
				t.Errorf("%s: %s is escaped in another way", name, want.Name())
			}
		}
	}
}

// TestEscapersLikeTheStandardLibrary: what the escapers make of a text is the same, at each
// place of a page where one can stand.
func TestEscapersLikeTheStandardLibrary(t *testing.T) {
	const page = `<title>{{.}}</title><p class="a {{.}}" title="{{.}}" data-x="{{.}}">{{.}}</p><textarea>{{.}}</textarea>
<a href="{{.}}">x</a><a href="/s/{{.}}?from={{.}}#{{.}}">x</a><form action="{{.}}"><input value="{{.}}"></form>
<li hx-get="{{.}}?a={{urlquery .}}"><svg><path d="M{{.}} 0"/></svg>`
	ours, theirs := template.Must(template.New("").Parse(page)), std.Must(std.New("").Parse(page))
	texts := []string{"javascript:alert(1)", "JaVaScRiPt\t:x", "data:text/html,<b>", "//evil.example", "&lt;b&gt;",
		"</title><b>", "%zz%41", "\u2028\u2029\ufeff", "a\xffb", `"><svg onload=alert(1)>`, "</textarea><script>", "'-alert(1)-'"}
	for b := range 256 {
		texts = append(texts, string([]byte{'a', byte(b), '='}))
	}
	for _, text := range texts {
		var a, b bytes.Buffer
		if err := fmt.Sprint(ours.Execute(&a, text), theirs.Execute(&b, text)); err != "<nil> <nil>" {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%q:\n%s\nthe standard library:\n%s", text, &a, &b)
		}
	}
}
