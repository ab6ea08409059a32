package memory

// count counts texts, each with what joins it to the next: joined, texts can be
// more tokens than apart.
func (p *pass) count(texts ...string) []int {
	costs := p.Costs(texts...)
	for i := range costs {
		costs[i]++
	}
	return costs
}
