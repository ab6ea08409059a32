package bank

// change is what becomes of a bank.
type change struct {
	*values
	root *root
	gone []string // values that it names no more
}

// settle makes segments of the tail where it is long, and few of many.
func (c *change) settle() error {
	weight := 0
	for i := range c.root.tail {
		weight += c.root.tail[i].weight() + len(c.root.tail[i].Session)
	}
	if weight < baseWeight {
		return nil
	}
	for list := c.root.tail; len(list) > 0; {
		s := build(c.values, c.root.texts(), list)
		c.root.segments = append(c.root.segments, s)
		if err := c.mergeLast(); err != nil {
			return err
		}
		if list = list[s.texts:]; len(list) > 0 {
			if err := c.flush(); err != nil { // for room
				return err
			}
		}
	}
	c.root.tail = nil
	return nil
}

// mergeLast merges the last segment with those before it while they are
// smaller, or as many of its level as make one of the next.
func (c *change) mergeLast() error {
	for {
		list := c.root.segments
		level := list[len(list)-1].level()
		from := len(list) - 1
		for from > 0 && list[from-1].level() < level {
			from--
		}
		if from == len(list)-1 {
			for from > 0 && list[from-1].level() == level {
				from--
			}
			if len(list)-from < fanOut || level == maxLevel {
				return nil
			}
		}
		one, err := merge(c.values, c.root.texts()-count(list[from:]), list[from:])
		if err != nil {
			return err
		}
		for i := range list[from:] {
			if err := c.drop(&list[from+i]); err != nil {
				return err
			}
		}
		c.root.segments = append(list[:from], one)
	}
}

func count(list []segment) (texts int) {
	for _, s := range list {
		texts += s.texts
	}
	return texts
}

// drop notes what only a segment names: all but its texts.
func (c *change) drop(s *segment) error {
	t, err := c.table(s)
	if err != nil {
		return err
	}
	c.forget(s.table)
	c.forget(s.known)
	for _, shard := range t.shards {
		c.forget(shard.name)
	}
	return nil
}

// forget notes that a value is not named any more.
func (c *change) forget(name string) {
	if _, unstored := c.pending[name]; unstored {
		delete(c.pending, name)
		return
	}
	c.gone = append(c.gone, name)
}
