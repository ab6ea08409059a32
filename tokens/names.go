package tokens

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pkoukk/tiktoken-go"

	"github.com/kagewasm/kagewasm/internal/lazy"
)

// aliases are other names of the catalog's providers.
var aliases = map[string]string{
	"copilot": "github-copilot", "github_copilot": "github-copilot", "github": "github-copilot",
	"azure_openai": "azure", "azure-openai": "azure", "azure_ai": "azure", "azure-ai": "azure",
	"azure-openai-responses": "azure", "bedrock": "aws", "amazon-bedrock": "aws", "amazon_bedrock": "aws",
	"aws-bedrock": "aws", "bedrock_converse": "aws", "amazon": "aws", "vertex": "google", "vertexai": "google",
	"vertex_ai": "google", "vertex-ai": "google", "google-vertex": "google", "google_vertexai": "google",
	"google-vertex-anthropic": "google", "gemini": "google", "google-gla": "google", "google_genai": "google",
	"google-genai": "google", "googleai": "google", "google-ai-studio": "google", "openai-codex": "openai",
	"codex": "openai", "openai-chat": "openai", "openai-responses": "openai", "openai_chat": "openai",
	"claude": "anthropic", "claude-code": "anthropic", "xai": "x-ai", "grok": "x-ai", "mistralai": "mistral",
	"moonshot": "moonshotai", "kimi": "moonshotai", "z-ai": "zai", "z.ai": "zai", "zai-org": "zai",
	"zhipu": "zhipuai", "together_ai": "together", "togetherai": "together", "together-ai": "together",
	"fireworks_ai": "fireworks", "fireworks-ai": "fireworks", "deepseek-ai": "deepseek",
	"cloudflare-workers-ai": "cloudflare", "workers-ai": "cloudflare", "cohere_chat": "cohere",
}

func canonical(provider string) string {
	if p, ok := aliases[provider]; ok {
		return p
	}
	return provider
}

// served are the providers whose models a provider serves, beyond what the
// catalog says of it.
var served = map[string][]string{
	"github-copilot": {"openai", "anthropic", "google", "x-ai"},
	"aws":            {"anthropic", "openai", "mistral", "deepseek", "cohere"},
}

// local are servers that a model's files are loaded into: the window is what
// they were started with, and nobody's catalog knows.
var local = []string{"ollama", "ollama_chat", "lmstudio", "lm-studio", "lm_studio", "llamacpp", "llama.cpp",
	"llama-cpp", "vllm", "hosted_vllm", "local", "localai"}

var (
	// region is where Bedrock runs a model, and vendor whose it is:
	// "us.anthropic.claude-...", "anthropic.claude-...".
	region = lazy.Regexp(`^(?:us|us-gov|eu|apac|ap|jp|au|ca|sa|global|regional)\.`)
	vendor = lazy.Regexp(`^(?:anthropic|openai|mistral|deepseek|cohere|meta|amazon|google|moonshotai?|qwen|` +
		`minimax|nvidia|zai)\.`)
	// decoration is what providers put behind a name: a date, a variant, a
	// version of the deployment.
	decoration = lazy.Regexp(`(?:@.*|:[a-z0-9_.-]*|-v\d+(?::\d+)?|` +
		`-(?:20\d{6}|20\d{2}-\d{2}-\d{2}|\d{2}-\d{2}|\d{4})|-latest|-preview|-exp|\[[^\]]*\])$`)
)

// spellings lists what a model may stand in a catalog as, the name itself
// first and then with one decoration after the other taken off.
func spellings(id string) []string {
	out := []string{id}
	for {
		loc := decoration().FindStringIndex(id)
		if loc == nil || loc[0] == 0 {
			break
		}
		id = id[:loc[0]]
		out = append(out, id, id+"-latest")
	}
	for _, s := range slices.Clone(out) {
		if bare := vendor().ReplaceAllString(region().ReplaceAllString(s, ""), ""); bare != s {
			out = append(out, region().ReplaceAllString(s, ""), bare)
		}
	}
	return out
}

// encodingOf returns the encoding of a model by its name, and whether it is
// the model's own.
func encodingOf(id string) (e Encoding, exact bool) {
	id = lastPart(id)
	id = vendor().ReplaceAllString(region().ReplaceAllString(id, ""), "")
	id = strings.TrimPrefix(strings.TrimPrefix(id, "ft:"), "chat")
	id, _, _ = strings.Cut(id, ":") // a variant: "gpt-4o:extended"
	switch e := published(id); {
	case e == O200k || o200kFamily.MatchString(id):
		return O200k, true
	case e == CL100k || cl100kFamily.MatchString(id):
		return CL100k, true
	}
	return O200k, false
}

// published is the encoding that tiktoken-go has in its table for a model, or none.
func published(id string) Encoding {
	if e, ok := tiktoken.MODEL_TO_ENCODING[id]; ok {
		return Encoding(e)
	}
	for prefix, e := range tiktoken.MODEL_PREFIX_TO_ENCODING {
		if strings.HasPrefix(id, prefix) {
			return Encoding(e)
		}
	}
	return ""
}

// The families that tiktoken-go's table does not have: newer ones, and other spellings.
var (
	o200kFamily  = regexp.MustCompile(`^(?:gpt-5|gpt-oss|o[134](?:-|$)|codex-mini)`)
	cl100kFamily = regexp.MustCompile(`^gpt-3\.?5`)
)
