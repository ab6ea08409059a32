// Package rank finds texts by their words, without a model: make an [Index], [Index.Add] texts in the
// order they were said, and [Index.Search]. [Index.Passage] finds the place in a long text. Texts can
// be added at any time: a search sees those there are. The same texts and the same query give the same
// hits in the same order.
//
// It is BM25 over an index that lives in memory, with what conversations add to it. Recall searches
// superseded messages with it, and memory plugins can use it; it imports the standard library alone and
// builds for guests.
//
// # Terms
//
// Words are runs of letters, marks and digits of any script, in lower case; scripts written without
// spaces (Chinese, Japanese, Thai and their neighbours) are cut into pairs of characters. An identifier
// such as pkg/foo_bar.go or parseHTTPBody is a term as a whole, and so are its parts. English words are
// stemmed by a shorter Porter, irregular forms count as their word (bought as buy), and those that say
// nothing of a text's matter are left out. Latin letters lose their accents, composed or not: café,
// cafe\u0301 and cafe are one word.
//
// # Score
//
// A text's score for a query is the sum over the query's terms of
//
//	ln(1 + (N-n+0.5)/(n+0.5)) * f*(k1+1) / (f + k1*(1-b+b*length/average))
//
// with N texts, n of them holding the term, f times in this one: Okapi BM25 as in Robertson and
// Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the +1 under the
// logarithm that keeps frequent terms from counting against a text; k1 is 0.9 and b 0.4.
//
// What is said in a conversation is seldom understood alone: an answer names the thing, the question
// before it the matter. So the words of the texts around it can count as a text's own, at a discount;
// this is BM25F, from the same paper, with the surroundings as fields. The longer a text is, the less
// it takes of them: a line needs what was asked before it, a paragraph says itself what it is about.
// See [Options]. A nod ("ok, thanks") and a page stand between others without parting them: people go
// on after either with what they were at. A nod takes little of what is said around it, and is left out
// of the average, since many nods would otherwise make everything else a long text.
//
// # Long texts
//
// A text of more than about 40 terms is scored by its parts, cut where sentences end, and by the best
// of them: a page of an answer that tells of the matter in one paragraph is as good as that paragraph,
// and no better for holding many other words. The words of its other parts count in each, at a
// discount. Where most texts are long, plain BM25 over whole texts has a share in the score as well.
// How many texts hold a term, which texts are around it, and what a group adds, go by texts.
//
// A [Hit] says where the best part stands in the text: that is the passage to show. With
// [Options].Passages the other parts are hits of their own.
//
// # Parts and lists
//
// A search needs of an index the length of each part and the lists of the query's terms. [Index.Parts]
// and [Index.Lists] are for programs that store an index; [Index.AddPart] and [Index.AddList] put
// together as much of one as a query needs, which answers it as the whole would.
package rank
