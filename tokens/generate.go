package tokens

// The sources are the published packages, as npm pack leaves them:
//
//	npm pack @pydantic/genai-prices@0.1.8 @earendil-works/pi-ai@1.5.2
//
// Pass their paths, and the day each was published. Node reads the first one's
// data, which is a JavaScript literal.
//go:generate -command gencatalog go run ./internal/gencatalog -prices-date 2026-09-23 -limits-date 2026-11-10
//go:generate gencatalog -prices pydantic-genai-prices-0.1.8.tgz -limits earendil-works-pi-ai-1.5.2.tgz -o catalog.json.gz

// The vocabularies are those of tiktoken-go's offline loader.
//go:generate go run ./internal/genranks -o internal/bpe
