package rank

// Options of a search. The zero value is plain BM25.
type Options struct {
	// Limit is how many hits to return at most. Default all.
	Limit int
	// Near is how much a word in the text before or after counts, where a word in the text itself
	// counts 1. Two texts away it counts Near*Near. It counts less in a text of a few words, in a long
	// one, and from a long one. Surroundings end where the group does. From 0 to 1; default 0.
	Near float64
	// Group adds to each text's score this many times the mean of the best
	// three of its group, and less to a text of less than a few words. Default 0.
	Group float64
	// Author adds this share to the score of texts whose author's name, or a word of it, is in the
	// query. The name itself then counts for nothing, since it stands in what others say to that
	// person. Default 0.
	Author float64
	// Recency adds this share to the score of the newest text, and less in
	// proportion to those before it. Default 0.
	Recency float64
	// Whole is the share of a text's score that it gets as a whole, by its own
	// words alone, where texts are very long. It is a quarter of that where they
	// are 60 terms long on average, and nearly nothing where they are a line
	// each. From 0 to 1; default 0.
	Whole float64
	// Passages makes each part of a long text a hit of its own. A text's best
	// one has the score of the text, the others less.
	Passages bool
}

// Conversation returns the options for texts that are the messages of
// conversations, in order.
func Conversation() Options { return Options{Near: 0.6, Group: 0.5, Author: 0.4, Whole: 1} }
