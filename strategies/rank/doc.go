// Package rank finds texts by their words, without a model: BM25 over an index
// that lives in memory, with what conversations add to it. It is what recall
// searches superseded messages with, and what memory plugins can use; it
// imports the standard library alone and builds for guests.
//
// Make an [Index], [Index.Add] texts in the order they were said, and
// [Index.Search]; [Index.Passage] finds the place in a long text. Texts can be
// added at any time: a search sees those there are. The same texts and the same
// query give the same hits in the same order.
//
// # Terms
//
// Words are runs of letters, marks and digits of any script, in lower case;
// scripts written without spaces (Chinese, Japanese, Thai and their
// neighbours) are cut into pairs of characters. An identifier such as
// pkg/foo_bar.go or parseHTTPBody is a term as a whole, and so are its parts.
// English words are stemmed, see [Stem], and those that say nothing of a
// text's matter are left out. Letters are not decomposed: café and cafe are two
// words.
//
// # Score
//
// A text's score for a query is the sum over the query's terms of
//
//	ln(1 + (N-n+0.5)/(n+0.5)) * f*(k1+1) / (f + k1*(1-b+b*length/average))
//
// with N texts, n of them holding the term, f times in this one: Okapi BM25 as
// in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
// Beyond" (2009), with the +1 under the logarithm that keeps frequent terms
// from counting against a text. See [K1] and [B] for the constants.
//
// What is said in a conversation is seldom understood alone: an answer names
// the thing, the question before it the matter. So the words of the texts
// around it can count as a text's own, at a discount; this is BM25F, from the
// same paper, with the surroundings as fields. See [Options].
package rank
