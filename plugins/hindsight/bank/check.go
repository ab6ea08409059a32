package bank

import "errors"

// Check says what is wrong with a bank: with its root, and with each value that the
// root names, which has to be there and to be what was written. The error joins
// *abi.Errors of CodeState; any other is what the KV says.
func Check(kv KV, prefix string) error {
	b, err := Open(kv, prefix)
	if err != nil {
		return err
	}
	v := b.values()
	var wrong []error
	look := func(name string) {
		_, err := v.sound(name)
		wrong = append(wrong, err)
	}
	for i := range b.root.segments {
		s := &b.root.segments[i]
		look(s.known)
		t, err := v.table(s)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		look(s.table)
		for _, shard := range t.shards {
			look(shard.name)
		}
		for _, block := range t.blocks {
			look(block.name)
		}
	}
	return errors.Join(wrong...)
}
