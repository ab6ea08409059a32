// Package bank is the embedded memory of the plugin hindsight: it keeps what
// was said in a KV, and finds what has to do with a question without a model.
// [Open] a bank, [Bank.Retain] memories in the order they were said, and
// [Bank.Recall]; each call of a guest begins with nothing in memory and reads
// of the bank what the query needs.
//
// # Ranking
//
// Memories are ranked by strategies/rank with what it has for conversations:
// what belongs together is a session, and the author is whoever says it. The
// ranking is that of all memories together, however many calls retained them.
//
// The date of a memory is searched with its text, and so are the days that the
// text names, however it writes them: what was said on 2023-05-08 about
// "yesterday" has to do with a question about May 7th. In a question yesterday
// and three days ago go by [Query].Time.
//
// A long text is found by its passages. Where each ends is stored with its terms,
// so that no text is looked through again for what tells of a query.
//
// Of a text the first 128 KiB are kept and searched, see [MaxTextBytes], and of
// any other field 512 bytes. A text need not be valid UTF-8; it is made so.
//
// # What is kept
//
// A bank is some values under one prefix. The root holds the newest memories, up
// to 16 KiB of them, and names the segments, each an index of some memories in a
// row:
//
//	root  generation, checksum, segments, values that are not needed any more, newest memories
//	root.copy  the same once more
//	t...  a table: sessions, authors, types and tags, the passages
//	l...  posting lists of some terms, in the order of the terms, 4 KiB at a time
//	w...  texts with their ids and times, 16 KiB at a time
//	k...  hashes by which known memories are told
//
// A recall reads the root, all tables, the lists that hold terms of the query,
// and the texts of the hits. Four segments of about one size become one of the
// next, so there are few, and a memory is indexed again only three times, up to
// segments of about a megabyte; texts are never written again once they have
// left the root. Retaining a few memories writes the root, and now and then some
// values beside it. Numbers are written in base 32 with letters that JSON does not
// escape.
//
// # What holds
//
// All values but the root are named by a hash of what they hold, and are written
// before the root that names them. A call that breaks off leaves the bank as it
// was; what it wrote for nothing is deleted by a later one. The root is replaced
// by a swap: where somebody else has replaced it since it was read, the retain
// begins again from theirs, so nobody's memories are lost. Values that a root does
// not name any more are kept for another eight changes, for those who read
// meanwhile; a recall that takes longer than that begins again as well. Of all that
// one thing is left: a value that is written again, eight changes after it was
// named last, in the very moment in which another call deletes it, is missing.
//
// Nothing is forgotten. In a KV that is full a retain fails with CodeQuota, now
// and later, until somebody deletes a bank; what is there is recalled as before.
//
// A value that was damaged or is somebody else's is an *abi.Error of CodeState
// that names its key, and so is a root that is missing where values of a bank
// are: no new bank is begun in the place of another. [Salvage] makes one of
// what is left, where a person asks for it. Values are not signed: who can write to
// the KV can change memories.
package bank
