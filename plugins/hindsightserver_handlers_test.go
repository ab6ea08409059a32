package plugins_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// serverBank is a bank of the server.
type serverBank struct {
	mission string
	order   []string // ids of documents, oldest first
	text    map[string]*serverItem
}

// serverItem is a memory item of the API.
type serverItem struct {
	Content    string            `json:"content"`
	Timestamp  string            `json:"timestamp"`
	Context    string            `json:"context"`
	Metadata   map[string]string `json:"metadata"`
	DocumentID string            `json:"document_id"`
	Tags       []string          `json:"tags"`
	UpdateMode string            `json:"update_mode"`
}

// serverWork is work on what was retained.
type serverWork struct {
	items  int
	looked int
}

// hindsightHandlers answer operations, by their ids.
var hindsightHandlers = map[string]func(*hindsightServer, *http.Request) (int, any){
	"health_endpoint_health_get": func(*hindsightServer, *http.Request) (int, any) {
		return 200, map[string]any{"status": "healthy"}
	},
	"get_version":           (*hindsightServer).version,
	"create_or_update_bank": (*hindsightServer).putBank,
	"retain_memories":       (*hindsightServer).retain,
	"recall_memories":       (*hindsightServer).recall,
	"get_operation_status":  (*hindsightServer).operation,
}

func (s *hindsightServer) bank(id string) *serverBank {
	if s.banks[id] == nil {
		s.banks[id] = &serverBank{text: make(map[string]*serverItem)}
	}
	return s.banks[id]
}

// Documents are the texts of a bank's documents, oldest first.
func (s *hindsightServer) Documents(id string) (texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bank(id)
	for _, id := range b.order {
		texts = append(texts, b.text[id].Content)
	}
	return texts
}

// Mission is what a bank was told to be for.
func (s *hindsightServer) Mission(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bank(id).mission
}

func (s *hindsightServer) version(*http.Request) (int, any) {
	features := make(map[string]bool)
	for _, f := range []string{"observations", "mcp", "worker", "bank_config_api", "bank_llm_health", "file_upload_api",
		"document_export_api", "document_import_api", "audit_log", "llm_trace", "store_document_text"} {
		features[f] = f == "worker"
	}
	return 200, map[string]any{"api_version": "0.9.1", "features": features}
}

// readBody decodes a body, or says what is wrong with it as the API does.
func readBody(r *http.Request, into any) (int, any) {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return 422, map[string]any{"detail": []any{map[string]any{"loc": []any{"body"}, "msg": err.Error(),
			"type": "json_invalid"}}}
	}
	return 0, nil
}

func (s *hindsightServer) putBank(r *http.Request) (int, any) {
	var req struct {
		Reflect string `json:"reflect_mission"`
		Retain  string `json:"retain_mission"`
	}
	if status, doc := readBody(r, &req); status != 0 {
		return status, doc
	}
	id := r.PathValue("bank_id")
	b := s.bank(id)
	b.mission = strings.TrimSpace(req.Reflect + "\n" + req.Retain)
	return 200, map[string]any{
		"bank_id": id, "name": id, "mission": b.mission, "disposition": map[string]int{"skepticism": 3, "literalism": 3,
			"empathy": 3},
	}
}

func (s *hindsightServer) retain(r *http.Request) (int, any) {
	var req struct {
		Items       []serverItem `json:"items"`
		Async       bool         `json:"async"`
		OperationID string       `json:"operation_id"`
	}
	if status, doc := readBody(r, &req); status != 0 {
		return status, doc
	}
	answer := map[string]any{"success": true, "bank_id": r.PathValue("bank_id"), "items_count": len(req.Items),
		"async": req.Async}
	if req.Async {
		id := cmp.Or(req.OperationID, fmt.Sprintf("00000000-0000-4000-8000-%012d", len(s.operations)))
		answer["operation_id"] = id
		if s.operations[id] != nil {
			return 200, answer // the work is being done
		}
		s.operations[id] = &serverWork{items: len(req.Items)}
	}
	if s.FailWork == "" {
		s.bank(r.PathValue("bank_id")).put(req.Items)
	}
	return 200, answer
}

func (b *serverBank) put(items []serverItem) {
	for _, it := range items {
		id := cmp.Or(it.DocumentID, fmt.Sprint("document-", len(b.order)))
		old := b.text[id]
		if old == nil {
			b.order = append(b.order, id)
		} else if it.UpdateMode == "append" {
			it.Content = old.Content + it.Content
		}
		it.DocumentID = id
		b.text[id] = &it
	}
}

// operation says what became of work: it takes until somebody looks a second
// time.
func (s *hindsightServer) operation(r *http.Request) (int, any) {
	id := r.PathValue("operation_id")
	op := s.operations[id]
	doc := map[string]any{"operation_id": id, "status": "not_found"}
	if op == nil {
		return 200, doc
	}
	switch op.looked++; {
	case op.looked == 1:
		doc["status"] = "processing"
	case s.FailWork != "":
		doc["status"], doc["error_message"] = "failed", s.FailWork
	default:
		doc["status"] = "completed"
	}
	return 200, doc
}

// recall ranks the lines of all documents: each is a fact.
func (s *hindsightServer) recall(r *http.Request) (int, any) {
	var req struct {
		Query     string   `json:"query"`
		Types     []string `json:"types"`
		MaxTokens int      `json:"max_tokens"`
		Tags      []string `json:"tags"`
	}
	if status, doc := readBody(r, &req); status != 0 {
		return status, doc
	}
	var ix rank.Index
	var facts []map[string]any
	b := s.bank(r.PathValue("bank_id"))
	for _, id := range b.order {
		doc := b.text[id]
		tagged := len(req.Tags) == 0 || len(doc.Tags) == 0 || slices.ContainsFunc(doc.Tags, func(t string) bool {
			return slices.Contains(req.Tags, t)
		})
		if !tagged || len(req.Types) > 0 && !slices.Contains(req.Types, "world") {
			continue
		}
		for line := range strings.Lines(doc.Content) {
			ix.Add(rank.Text{Body: line, Group: id})
			facts = append(facts, map[string]any{
				"id": fmt.Sprint("fact-", len(facts)), "text": strings.TrimSpace(line), "type": "world", "document_id": id,
				"mentioned_at": doc.Timestamp, "metadata": doc.Metadata, "tags": doc.Tags, "context": doc.Context,
			})
		}
	}
	results := []map[string]any{}
	left := 4 * cmp.Or(req.MaxTokens, 4096)
	for _, h := range ix.Search(req.Query, rank.Options{}) {
		fact := facts[h.Text]
		if left -= len(fact["text"].(string)); left < 0 {
			break
		}
		fact["scores"] = map[string]any{"final": h.Score}
		results = append(results, fact)
	}
	return 200, map[string]any{"results": results}
}
