// Command gencatalog writes the model catalog that package tokens embeds, from
// two published packages: @pydantic/genai-prices for prices, windows and the
// rules that say which names mean which model; @earendil-works/pi-ai for the
// longest answer, for windows that the first does not have, and for models of
// the same providers that are newer than the first.
//
// It runs by hand, through go generate, never in a build.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gencatalog: ")
	var (
		prices     = flag.String("prices", "", "the genai-prices package, `FILE`.tgz")
		pricesDate = flag.String("prices-date", "", "when it was published, `YYYY-MM-DD`")
		limits     = flag.String("limits", "", "the pi-ai package, `FILE`.tgz")
		limitsDate = flag.String("limits-date", "", "when it was published, `YYYY-MM-DD`")
		out        = flag.String("o", "catalog.json.gz", "where to write")
	)
	flag.Parse()
	if err := run(*prices, *pricesDate, *limits, *limitsDate, *out); err != nil {
		log.Fatal(err)
	}
}

func run(prices, pricesDate, limits, limitsDate, out string) error {
	p, err := openPackage(prices, pricesDate)
	if err != nil {
		return err
	}
	l, err := openPackage(limits, limitsDate)
	if err != nil {
		return err
	}
	asOf := max(pricesDate, limitsDate)
	doc := catalog.Document{AsOf: asOf, Sources: []catalog.Source{p.source, l.source}}
	if doc.Providers, err = readPrices(p, asOf); err != nil {
		return err
	}
	if err := doc.Compile(); err != nil {
		return err
	}
	if err := addLimits(doc.Providers, l); err != nil {
		return err
	}
	return write(&doc, out)
}

func write(doc *catalog.Document, path string) error {
	gz, err := catalog.Write(doc)
	if err != nil {
		return err
	}
	models := 0
	for _, p := range doc.Providers {
		models += len(p.Models)
	}
	fmt.Printf("%s: %d providers, %d models, %d bytes\n", path, len(doc.Providers), models, len(gz))
	return os.WriteFile(path, gz, 0o644)
}
